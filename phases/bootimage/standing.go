package bootimage

// Standing is what a target adds to the sums of all.
type Standing struct {
	// Counts says that people expect the target to have the wanted image; of one that does not count the rest is false.
	Counts bool
	// Done, Working, Skipped and Stuck: at most one is true.
	Done, Working, Skipped, Stuck bool
	// Why says with the remedy why it is skipped or stuck.
	Why string
}
