package stub

// UnconvertibleError says why user data cannot be read, or has no equivalent in spec 3.1. It is made of names of fields,
// positions and reasons, and never of what user data holds. Only other user data heals it.
type UnconvertibleError struct {
	// At is the field, such as "storage.filesystems[1]"; empty if it is the whole.
	At string `json:"at"`
	// Why is the reason, after a colon.
	Why string `json:"why"`
}

func (e UnconvertibleError) Error() string {
	if e.At == "" {
		return "user data: " + e.Why
	}
	return "user data: " + e.At + ": " + e.Why
}

// Terminal tells the engine of machines that trying again does not help.
func (UnconvertibleError) Terminal() bool { return true }
