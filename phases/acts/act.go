package acts

import (
	"fmt"
	"strings"
	"time"
)

// Act is one act, as it is written.
type Act struct {
	Name string
	// By is the user who asks, At when, and Reason why.
	By string
	At time.Time
	// Until is when time ends it, the zero time for an act that something else ends.
	Until  time.Time
	Reason string
	// Items are what it is about, in their order.
	Items []Said
}

// Said is one item of an act.
type Said struct{ Key, Value string }

// Annotation is the key of an act's annotation, empty for a name that is none's.
func Annotation(name string) string {
	form, _ := FormOf(name)
	return form.Annotation
}

// Text is what the annotation says. The error says why there is no such act.
func (a Act) Text() (string, error) {
	lines := []string{"by: " + a.By, "at: " + a.At.UTC().Format(time.RFC3339)}
	if !a.Until.IsZero() {
		lines = append(lines, "until: "+a.Until.UTC().Format(time.RFC3339))
	}
	lines = append(lines, "reason: "+a.Reason)
	for _, item := range a.Items {
		lines = append(lines, item.Key+": "+item.Value)
	}
	text := strings.Join(lines, "\n")
	if _, err := Read(a.Name, text); err != nil {
		return "", err
	}
	return text, nil
}

// Void says why an act that is well formed does not count at a moment, empty while it does.
func (a Act) Void(now time.Time) string {
	switch {
	case a.Ended(now):
		return "it ended at " + moment(a.Until)
	case a.At.After(now.Add(MaxAhead)):
		return fmt.Sprintf("it says that it was asked for at %s, which is more than a minute ahead; look at the clocks", moment(a.At))
	}
	return ""
}

// Ended says that time has ended an act.
func (a Act) Ended(now time.Time) bool { return !a.Until.IsZero() && !now.Before(a.Until) }

// Turns is the next moment at which time makes an act count or end, the zero time for never.
func (a Act) Turns(now time.Time) time.Time {
	switch begins := a.At.Add(-MaxAhead); {
	case a.Ended(now):
		return time.Time{}
	case begins.After(now):
		return begins
	}
	return a.Until
}

// moment writes a time for people, as [machine.Moment] does.
func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }
