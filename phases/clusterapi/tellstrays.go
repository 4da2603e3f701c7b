package clusterapi

import (
	"slices"
	"time"
)

const (
	// strayWindow and strayBursts bound how often the strays that are told change: whoever may write in a namespace makes them
	// and deletes them, and each change is a write of the ClusterOperator.
	strayWindow = 10 * time.Minute
	strayBursts = 5
	// strayBurst is for how long changes count as one, as when a backup is restored.
	strayBurst = 10 * time.Second
)

// toldStrays are the strays as they are told. Lost, they are told anew at once.
type toldStrays struct {
	texts  []string
	more   int
	window time.Time // when the first burst was counted
	bursts int
	burst  time.Time // when the last one began
}

// tell returns what is to be told of the strays that are there. When that is something else, it returns after how long
// to look again.
func (s *toldStrays) tell(now time.Time, texts []string, more int) (told []string, moreTold int, wait time.Duration) {
	if slices.Equal(texts, s.texts) && more == s.more {
		return s.texts, s.more, 0
	}
	if !within(now, s.window, strayWindow) {
		s.window, s.bursts, s.burst = now, 0, time.Time{}
	}
	if !within(now, s.burst, strayBurst) {
		if s.bursts == strayBursts {
			return s.texts, s.more, s.window.Add(strayWindow).Sub(now)
		}
		s.bursts, s.burst = s.bursts+1, now
	}
	s.texts, s.more = texts, more
	return texts, more, 0
}

// within says that less than a time has passed since a moment. A clock that was set back ends it.
func within(now, since time.Time, d time.Duration) bool {
	passed := now.Sub(since)
	return passed >= 0 && passed < d
}
