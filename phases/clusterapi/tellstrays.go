package clusterapi

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

const (
	// strayWindow and strayBursts bound how often the strays that are told change: whoever may write in a namespace makes them
	// and deletes them, and each change is a write of the ClusterOperator.
	strayWindow = 10 * time.Minute
	strayBursts = 5
	// strayBurst is for how long changes count as one, as when a backup is restored.
	strayBurst = 10 * time.Second
	// maxStrayKinds bounds the kinds of which strays are counted apart.
	maxStrayKinds = 8
)

// strays are those that are there, as they are told.
type strays struct {
	named     []string
	elsewhere []guards.StrayCount // in namespaces of others, by kind, the most frequent first
	more      int                 // all that are not named
}

func (s strays) equals(other strays) bool {
	return slices.Equal(s.named, other.named) && slices.Equal(s.elsewhere, other.elsewhere) && s.more == other.more
}

// straysOf are strays by name, and those in namespaces of others by kind; more is how many there are beside the found ones.
func straysOf(found []engine.Stray, elsewhere map[schema.GroupKind]int, more int) strays {
	told := strays{more: more}
	for _, stray := range found {
		told.named = append(told.named, fmt.Sprintf("%s (marked by revision %d)", stray.Key, stray.Number))
	}
	for kind, count := range elsewhere {
		told.elsewhere = append(told.elsewhere, guards.StrayCount{Kind: kind.String(), Count: count})
	}
	slices.SortFunc(told.elsewhere, func(a, b guards.StrayCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	told.elsewhere = first(told.elsewhere, maxStrayKinds)
	return told
}

// toldStrays are the strays as they are told. Lost, they are told anew at once.
type toldStrays struct {
	strays
	window time.Time // when the first burst was counted
	bursts int
	burst  time.Time // when the last one began
}

// tell returns what is to be told of the strays that are there. When that is something else, it returns after how long
// to look again.
func (s *toldStrays) tell(now time.Time, there strays) (told strays, wait time.Duration) {
	if there.equals(s.strays) {
		return s.strays, 0
	}
	if !within(now, s.window, strayWindow) {
		s.window, s.bursts, s.burst = now, 0, time.Time{}
	}
	if !within(now, s.burst, strayBurst) {
		if s.bursts == strayBursts {
			return s.strays, s.window.Add(strayWindow).Sub(now)
		}
		s.bursts, s.burst = s.bursts+1, now
	}
	s.strays = there
	return there, 0
}

// within says that less than a time has passed since a moment. A clock that was set back ends it.
func within(now, since time.Time, d time.Duration) bool {
	passed := now.Sub(since)
	return passed >= 0 && passed < d
}
