package machine

import (
	"slices"
	"time"
)

// Standing is something that people are told of once it has lasted.
type Standing struct {
	Since time.Time `json:"since"`
	// Lasted stays until it is over, also when the process has been started anew since.
	Lasted bool `json:"lasted,omitempty"`
}

// stand notes in the record what has lasted of that which moves nothing: asides,
// and an error in a state that no failure edge leaves. It returns after how long
// the next of them will have; zero for none.
func (t Table[F, E]) stand(r *Record, facts F, at moment) time.Duration {
	var next time.Duration
	lasted := func(since time.Time, long time.Duration) bool {
		wait := at.deadline(since.Add(long)).Sub(at.now)
		if wait > 0 {
			next = sooner(next, wait)
		}
		return wait <= 0
	}
	var beside map[Event]Standing
	for _, aside := range t.Asides {
		standing, begun := r.Beside[aside.name()]
		truth := aside.If.Answer(facts).Truth
		if aside.For == 0 || truth == No || truth == Unknown && !begun {
			continue
		}
		if !begun {
			standing.Since = at.now
		}
		if truth == Yes && !standing.Lasted {
			standing.Lasted = lasted(standing.Since, aside.For)
		}
		if beside == nil {
			beside = map[Event]Standing{}
		}
		beside[aside.name()] = standing
	}
	r.Beside = beside
	row, _ := t.State(r.State)
	if patience := t.troubleIn(row).Patience; patience > 0 && r.Failure != nil && !r.Failure.Lasted {
		r.Failure.Lasted = lasted(r.Failure.Since, patience)
	}
	return next
}

// besides are the names of the asides that have to last.
func (t Table[F, E]) besides() []Event {
	var names []Event
	for _, aside := range t.Asides {
		if aside.For > 0 && !slices.Contains(names, aside.name()) {
			names = append(names, aside.name())
		}
	}
	return names
}
