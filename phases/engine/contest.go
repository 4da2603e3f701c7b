package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What makes a contest, and how it is answered.
const (
	contestRepairs = 5               // repairs within contestWindow make a contest
	contestWindow  = 5 * time.Minute // so long without a repair, and right at the end of it, ends one
	firstPause     = time.Minute     // between two writes in a contest; doubled with every further one
	longestPause   = 10 * time.Minute
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
