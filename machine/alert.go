package machine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Severity is how soon somebody has to come, in OpenShift's words for alerts.
type Severity string

// The severities: at once, within the day, and when there is time.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// Alert calls a human to a row of a table. Its name is also that of its page in
// docs/runbooks.
type Alert struct {
	// Name is such as CapstanMaxRevisions; the zero Alert, without a name, calls nobody.
	Name     string
	Severity Severity
	// After is for how long the row has to stand before somebody is called.
	After time.Duration
	// Summary is what is wrong, in a few words without a full stop.
	Summary string
}

// Notice is something that stands beside all that the machine does, counted in
// what was seen with the facts. No guard asks for it; people are told.
type Notice[E any] struct {
	// Name is the word for it in metrics.
	Name  string
	Count func(E) int
	// Alert calls somebody while there is any, which may be that of a row; a notice may do without.
	Alert Alert
	// Doc is a sentence an administrator understands.
	Doc string
}

// Call is an alert with what it stands for, in the sentence of its row.
type Call struct {
	Alert
	Doc string
}

// Calls are all alerts of the table.
func (t Table[F, E]) Calls() []Call {
	var all []Call
	add := func(alert Alert, doc string) {
		if alert.Name != "" {
			all = append(all, Call{Alert: alert, Doc: doc})
		}
	}
	for _, row := range t.States {
		add(row.Alert, row.Doc)
		if !slices.ContainsFunc(all, func(c Call) bool { return c.Alert == row.Trouble.Alert }) { // states may share it
			add(row.Trouble.Alert, "The work of a state meets an error that has lasted, or that trying again at once cannot heal.")
		}
	}
	for _, move := range t.Moves {
		add(move.Alert, move.Doc)
	}
	for _, aside := range t.Asides {
		add(aside.Alert, aside.Doc)
	}
	for _, notice := range t.Notices {
		if at := slices.IndexFunc(all, func(c Call) bool { return c.Alert == notice.Alert }); at >= 0 { // it may share that of a row
			all[at].Doc += " " + notice.Doc
			continue
		}
		add(notice.Alert, notice.Doc)
	}
	return all
}

// Calling are the names of the alerts whose rows stand: the present state, an
// error in it, the move that led there, what is told besides, and what was
// noticed.
func (t Table[F, E]) Calling(s Snapshot[F, E]) []string {
	var names []string
	add := func(alert Alert) {
		if alert.Name != "" && !slices.Contains(names, alert.Name) {
			names = append(names, alert.Name)
		}
	}
	if row, known := t.State(s.Record.State); known {
		add(row.Alert)
		if s.Record.Failure != nil && row.Trouble.of(s.Record.Failure).Degraded {
			add(row.Trouble.Alert)
		}
	}
	if move := t.arrival(s.Record); move != nil {
		add(move.Alert)
	}
	for _, part := range t.Parts {
		if aside, told := t.Aside(part, s.Record, s.Facts); told {
			add(aside.Alert)
		}
	}
	for _, notice := range t.Notices {
		if notice.Count(s.Seen) > 0 {
			add(notice.Alert)
		}
	}
	return names
}

var alertName = regexp.MustCompile(`^Capstan([A-Z][A-Za-z]*)+$`)

// validateAlerts reports rows that need a human and call nobody, and alerts that are not whole.
func (t Table[F, E]) validateAlerts(problem func(string, ...any)) {
	for _, row := range t.States {
		if (row.Alarm || row.Reads.Degraded) && row.Alert.Name == "" {
			problem("state %s needs a human and has no alert", row.Name)
		}
		if row.Trouble.degrades() && !row.Reads.Degraded && row.Trouble.Alert.Name == "" {
			problem("an error in state %s may need a human and has no alert", row.Name)
		}
	}
	for _, move := range t.Moves {
		if len(move.Takes) > 0 && move.Alert.Name == "" {
			problem("move %s takes a condition back and has no alert", move.On)
		}
	}
	for _, aside := range t.Asides {
		if aside.Reads.Degraded && aside.Alert.Name == "" {
			problem("the aside %q needs a human and has no alert", aside.Doc)
		}
	}
	for _, notice := range t.Notices {
		if notice.Name == "" || notice.Count == nil || !isSentence(notice.Doc) {
			problem("the notice %q needs a name, a count and a doc sentence", notice.Name)
		}
	}
	var names []string
	for _, call := range t.Calls() {
		switch {
		case slices.Contains(names, call.Name):
			problem("two rows have the alert %s", call.Name)
		case !alertName.MatchString(call.Name), call.After <= 0, call.Summary == "", strings.HasSuffix(call.Summary, "."),
			!slices.Contains([]Severity{Critical, Warning, Info}, call.Severity):
			problem("the alert %q needs a name such as CapstanDegraded, a severity, a time after which it calls, and a summary without a full stop", call.Name)
		}
		names = append(names, call.Name)
	}
}

// degrades says that an error may read as Degraded.
func (t Trouble) degrades() bool {
	return t.Ephemeral.Degraded || t.Terminal.Degraded || t.Overdue.Degraded
}

// writeCalls lists who is called to what.
func (t Table[F, E]) writeCalls(b *strings.Builder) {
	calls := t.Calls()
	if len(calls) == 0 {
		return
	}
	b.WriteString("\n## Who is called\n\nEach alert has a page in [runbooks](../runbooks/README.md).\n\n| Alert | Severity | After | Stands for |\n|---|---|---|---|\n")
	for _, call := range calls {
		fmt.Fprintf(b, "| [%s](../runbooks/%s.md) | %s | %s | %s |\n", call.Name, call.Name, call.Severity, short(call.After), call.Doc)
	}
}
