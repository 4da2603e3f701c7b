package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// What makes a contest, and how it is answered.
const (
	// contestRepairs is how many repairs within contestWindow make a contest.
	contestRepairs = 5
	// contestWindow is how long a field must go without a repair for its contest to end, and within how long repairs make one.
	contestWindow = 5 * time.Minute
	// firstPause is the first wait between two writes of a contested field; it doubles with each further write.
	firstPause = time.Minute
	// longestPause is the longest wait between two writes of a contested field.
	longestPause = 10 * time.Minute
)

// Contest is about a field that we put right and somebody else changes again, over and over. While it lasts, the object
// is written at most once in a minute, later once in ten. It is over when nothing had to be put right for five minutes.
type Contest struct {
	Managers []string  // who wrote; empty when managedFields do not tell
	Field    string    // as managedFields spell it, such as ".spec.replicas"; the one that was put right last
	Times    int       // repairs since Since
	Since    time.Time // the first repair
	Next     time.Time // the object is not written before
}

// String says it in words, for people.
func (c Contest) String() string {
	who := "somebody who leaves no trace in managedFields"
	if len(c.Managers) > 0 {
		who = "field manager " + strings.Join(c.Managers, " and ")
	}
	return fmt.Sprintf("%s is contested by %s: put right %d times since %s, not again before %s",
		c.Field, who, c.Times, c.Since.UTC().Format("15:04:05Z"), c.Next.UTC().Format("15:04:05Z"))
}

// rivalry is what is remembered of the repairs of one object. It is a value: what happens makes a new one of it.
type rivalry struct {
	repairs []time.Time // the latest ones, at most contestRepairs
	pause   time.Duration
	contest *Contest // nil: none
}

// repaired books one more repair.
func (r rivalry) repaired(now time.Time, managers []string, field string) rivalry {
	r = r.at(now, false)
	r.repairs = append(slices.Clone(r.repairs), now)
	r.repairs = r.repairs[max(0, len(r.repairs)-contestRepairs):]
	var c Contest
	switch {
	case r.contest != nil:
		c, r.pause = *r.contest, min(2*r.pause, longestPause)
		c.Times++
	case len(r.repairs) == contestRepairs:
		c, r.pause = Contest{Since: r.repairs[0], Times: contestRepairs}, firstPause
	default:
		return r
	}
	for _, name := range managers {
		if !slices.Contains(c.Managers, name) {
			c.Managers = append(slices.Clone(c.Managers), name)
		}
	}
	c.Field, c.Next = field, now.Add(r.pause)
	r.contest = &c
	return r
}

// at forgets what is over by now; right says that there is nothing to repair.
func (r rivalry) at(now time.Time, right bool) rivalry {
	quiet := len(r.repairs) > 0 && now.Sub(r.repairs[len(r.repairs)-1]) >= contestWindow
	switch {
	case r.contest == nil:
		old := slices.IndexFunc(r.repairs, func(at time.Time) bool { return now.Sub(at) < contestWindow })
		if old < 0 {
			return rivalry{}
		}
		r.repairs = r.repairs[old:]
	case right && quiet:
		return rivalry{}
	}
	return r
}

// withholds says that the object is not to be written now.
func (r rivalry) withholds(now time.Time) bool { return r.contest != nil && now.Before(r.contest.Next) }

// due is when the next thing happens by mere time: a write, or the end of the contest; zero when nothing does.
func (r rivalry) due(now time.Time) time.Time {
	if r.contest == nil {
		return time.Time{}
	}
	var first time.Time
	for _, at := range [...]time.Time{r.contest.Next, r.repairs[len(r.repairs)-1].Add(contestWindow)} {
		if at.After(now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// rivalries are those of all objects, by identity. They are not stored: a restart begins with patience.
type rivalries struct {
	clock  clock.Clock
	mu     sync.Mutex
	of     map[Key]rivalry
	change chan struct{} // of the contests; holds one
}

func newRivalries(c clock.Clock) *rivalries {
	return &rivalries{clock: c, of: map[Key]rivalry{}, change: make(chan struct{}, 1)}
}

// repaired books a repair that a verdict asked for.
func (r *rivalries) repaired(key Key, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[key.identity()] = r.of[key.identity()].repaired(r.clock.Now(), v.managers, v.field)
	select {
	case r.change <- struct{}{}:
	default:
	}
}

// judge says whether the object is contested, nil if it is not, and takes a repair that would come too early out of
// the verdict.
func (r *rivalries) judge(key Key, v verdict) (verdict, *Contest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.of[key.identity()]
	if !found {
		return v, nil
	}
	now := r.clock.Now()
	if known = known.at(now, !v.writes()); len(known.repairs) == 0 {
		delete(r.of, key.identity())
	} else {
		r.of[key.identity()] = known
	}
	if v.repairs() && known.withholds(now) {
		v.action, v.why = Contested, known.contest.String()
	}
	return v, known.contest
}

// wake calls notify whenever a contest has something to do, until the context ends.
func (r *rivalries) wake(ctx context.Context, notify func()) {
	for {
		timer := r.clock.NewTimer(r.untilDue())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.change:
		case <-timer.C():
			notify()
		}
		timer.Stop()
	}
}

// untilDue is how long the first contest can wait; without any, for so long that it does not matter.
func (r *rivalries) untilDue() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, wait := r.clock.Now(), 24*time.Hour
	for _, known := range r.of {
		if due := known.due(now); !due.IsZero() {
			wait = min(wait, due.Sub(now))
		}
	}
	return wait
}
