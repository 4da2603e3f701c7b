package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ConflictRepairs within ConflictWindow make a conflict.
const ConflictRepairs = 5

const (
	// ConflictWindow is the time within which repairs make a conflict, and after which a conflict ends if nothing had to
	// be repaired.
	ConflictWindow = 5 * time.Minute
	// FirstPause is the time between the first two writes in a conflict; it doubles with every further write.
	FirstPause = time.Minute
	// longestPause is the longest time between two writes in a conflict.
	longestPause = 10 * time.Minute
)

// Conflict is about a field that we repair and somebody else changes again, over and over. While it lasts, the object is
// written at most once in a minute, later once in ten. It is over when nothing had to be repaired for five minutes.
type Conflict struct {
	// Admission says that the last write did not help: a webhook, an admission policy or the API server itself, as with
	// defaults, makes something else of what is written.
	Admission bool
	Managers  []string  // who wrote; empty when managedFields do not tell
	Field     string    // as managedFields spell it, such as ".spec.replicas"; the one that was put right last
	Times     int       // repairs since Since
	Since     time.Time // the first repair
	Next      time.Time // the object is not written before
}

// String says it in words, for people.
func (c Conflict) String() string {
	times := fmt.Sprintf("%d times since %s, not again before %s", c.Times, c.Since.UTC().Format("15:04:05Z"), c.Next.UTC().Format("15:04:05Z"))
	if c.Admission {
		return fmt.Sprintf("%s is changed by %s whenever it is written: tried %s", c.Field, c.By(), times)
	}
	return fmt.Sprintf("%s is contested by %s: put right %s", c.Field, c.By(), times)
}

// By says in words who changes the field.
func (c Conflict) By() string {
	switch {
	case c.Admission:
		return "the API server, a webhook or an admission policy"
	case len(c.Managers) > 0:
		return "field manager " + strings.Join(c.Managers, " and ")
	}
	return "somebody who leaves no trace in managedFields"
}

// RepairHistory is what is remembered of the repairs of one object. It is a value: what happens makes a new one of it.
type RepairHistory struct {
	Repairs  []time.Time // the latest ones, at most ConflictRepairs
	pause    time.Duration
	Conflict *Conflict // nil: none
}

// Repaired counts one more repair.
func (r RepairHistory) Repaired(now time.Time, managers []string, field string) RepairHistory {
	return r.repaired(now, managers, field, false)
}

// Undone counts a write that did not help, because something else is made of what is written. One is enough for a conflict: the
// next write would meet the same.
func (r RepairHistory) Undone(now time.Time, managers []string, field string) RepairHistory {
	return r.repaired(now, managers, field, true)
}

func (r RepairHistory) repaired(now time.Time, managers []string, field string, undone bool) RepairHistory {
	r = r.At(now, false)
	r.Repairs = append(slices.Clone(r.Repairs), now)
	r.Repairs = r.Repairs[max(0, len(r.Repairs)-ConflictRepairs):]
	var c Conflict
	switch {
	case r.Conflict != nil:
		c, r.pause = *r.Conflict, min(2*r.pause, longestPause)
		c.Times++
	case undone || len(r.Repairs) == ConflictRepairs:
		c, r.pause = Conflict{Since: r.Repairs[0], Times: len(r.Repairs)}, FirstPause
	default:
		return r
	}
	for _, name := range managers {
		if !slices.Contains(c.Managers, name) {
			c.Managers = append(slices.Clone(c.Managers), name)
		}
	}
	c.Field, c.Next, c.Admission = field, now.Add(r.pause), undone
	r.Conflict = &c
	return r
}

// At forgets what is over by now; right says that there is nothing to repair.
func (r RepairHistory) At(now time.Time, right bool) RepairHistory {
	quiet := len(r.Repairs) > 0 && now.Sub(r.Repairs[len(r.Repairs)-1]) >= ConflictWindow
	switch {
	case r.Conflict == nil:
		old := slices.IndexFunc(r.Repairs, func(at time.Time) bool { return now.Sub(at) < ConflictWindow })
		if old < 0 {
			return RepairHistory{}
		}
		r.Repairs = r.Repairs[old:]
	case right && quiet:
		return RepairHistory{}
	}
	return r
}

// Withholds says that the object is not to be written now.
func (r RepairHistory) Withholds(now time.Time) bool {
	return r.Conflict != nil && now.Before(r.Conflict.Next)
}

// Due is when the next thing happens by mere time: a write, or the end of the conflict; zero when nothing does.
func (r RepairHistory) Due(now time.Time) time.Time {
	if r.Conflict == nil {
		return time.Time{}
	}
	var first time.Time
	for _, at := range [...]time.Time{r.Conflict.Next, r.Repairs[len(r.Repairs)-1].Add(ConflictWindow)} {
		if at.After(now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
