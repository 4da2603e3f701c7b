package privatecapi_test

import "errors"

// killed is how a process ends in a write.
type killed struct{}

// faults is what goes wrong with writes.
type faults struct {
	// killIn is after how many writes the process ends, before or after the last of them takes effect; negative for never.
	killIn    int
	killAfter bool
	// refused says that writes are refused for now, and lost that the answer to the next one is.
	refused, lost bool
	// late has the next write to the HostedCluster arrive later, if that is still as it was; arriving are those on their way.
	late     bool
	arriving []func()
	// podsStay, unequal and unwell keep guards from saying Yes; blind is for how many looks the API server does not answer.
	podsStay, unequal, unwell bool
	blind                     int
}

// write sends one write that holds for a version, which it raises.
func (w *world) write(version *int, hosted bool, apply func()) error {
	f, seen := &w.faults, *version
	do := func() {
		apply()
		*version++
	}
	if f.killIn--; f.killIn == 0 {
		if f.killAfter {
			do()
		}
		panic(killed{})
	}
	switch {
	case f.refused:
		return errors.New("refused")
	case f.late && hosted:
		f.late = false
		f.arriving = append(f.arriving, func() {
			if *version == seen {
				do()
			}
		})
		return errLost
	case f.lost:
		f.lost = false
		do()
		return errLost
	}
	do()
	return nil
}
