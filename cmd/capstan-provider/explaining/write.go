package explaining

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/message"
)

// How much is told to people, so that all of it fits a screen; the JSON has all.
const (
	shownMachines    = 8
	shownConditions  = 6
	shownTransitions = 4
	shownText        = 160
)

// Write prints it for people.
func (e Explanation) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s%s\n", e.Instance, cmp.Or(string(e.State), "no state yet"), view.Since(e.Since, now))
	if e.Meaning != "" {
		fmt.Fprintf(&b, "  %s\n", e.Meaning)
	}
	if e.Waits != "" {
		fmt.Fprintf(&b, "  It says: %s\n", e.Waits)
	}
	if e.StoppedAt != "" {
		fmt.Fprintf(&b, "  It has stopped at: %s\n", e.StoppedAt)
	}
	if d := e.Deadline; d != nil {
		fmt.Fprintf(&b, "  Unless it goes on: %s %s (%s)\n", d.To, view.Until(d.At.Sub(now)), machine.Moment(d.At.Time))
	}
	if f := e.Failure; f != nil {
		fmt.Fprintf(&b, "  Its work fails since %s (%s): %s\n", machine.Moment(f.Since), view.Lasted(now.Sub(f.Since)), f.Message)
	}
	view.Section(&b, "Marks, which outlive the status", e.Marks.lines())
	view.Section(&b, "Machines", e.machineLines())
	view.Section(&b, "Not as of a cluster at rest", conditionLines(e.Amiss, now))
	view.Section(&b, "How it came here", e.past())
	view.Section(&b, "Could not be read", e.Unread)
	if e.moves {
		view.Section(&b, "What can happen next", e.ways(now))
	}
	fmt.Fprintf(&b, "\nNext: %s\n", e.Next)
	_, err := io.WriteString(out, b.String())
	return err
}

func (m Marks) lines() []string {
	is := map[bool]string{true: "set", false: "not set"}
	return view.Columns(func(w io.Writer) {
		fmt.Fprintf(w, "inputs\t%s\nbootstrap\t%s\ninitialized\t%s\nbootstrap-finished\t%s\n", cmp.Or(m.Inputs, is[false]), cmp.Or(m.Bootstrap, is[false]), is[m.Initialized], is[m.BootstrapFinished])
		if m.Retry != "" {
			fmt.Fprintf(w, "retry\t%s, asked for by somebody\n", message.Shorten(m.Retry, shownText))
		}
	})
}

func (e Explanation) machineLines() []string {
	lines := view.Columns(func(w io.Writer) {
		for _, m := range e.Machines[:min(len(e.Machines), shownMachines)] {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s", m.Name, m.Role, cmp.Or(m.Phase, "no phase"), cmp.Or(m.Node, "no Node"))
			if len(m.Amiss) > 0 {
				worst := m.Amiss[0]
				fmt.Fprintf(w, "\t%s %s: %s", worst.Type, worst.Status, message.Shorten(cmp.Or(worst.Message, worst.Reason), shownText))
			}
			fmt.Fprintln(w)
		}
	})
	return more(lines, len(e.Machines)-shownMachines)
}

func conditionLines(conditions []metav1.Condition, now time.Time) []string {
	lines := view.Columns(func(w io.Writer) {
		for _, c := range conditions[:min(len(conditions), shownConditions)] {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Type, c.Status, view.Lasted(now.Sub(c.LastTransitionTime.Time)), message.Shorten(cmp.Or(c.Message, c.Reason), shownText))
		}
	})
	return more(lines, len(conditions)-shownConditions)
}

func (e Explanation) past() (lines []string) {
	for _, t := range e.Transitions[max(0, len(e.Transitions)-shownTransitions):] {
		line := fmt.Sprintf("%s  %s --%s--> %s", machine.Moment(t.At), t.From, t.Event, t.To)
		if t.Cause != "" {
			line += ": " + message.Shorten(t.Cause, shownText)
		}
		lines = append(lines, line)
	}
	return lines
}

// ways are the moves that can leave the state.
func (e Explanation) ways(now time.Time) (lines []string) {
	for _, w := range e.Moves {
		lines = append(lines, fmt.Sprintf("%s leads to %s: %s", w.Event, w.To, w.Meaning), "    when "+w.When)
		for _, q := range w.Questions {
			lines = append(lines, fmt.Sprintf("         %s: %s", q.Guard, q.Meaning))
		}
		if w.Effect != "" {
			lines = append(lines, "    then "+w.Effect)
		}
		if !w.At.IsZero() {
			lines = append(lines, fmt.Sprintf("    %s, unless something changes (%s)", view.Until(w.At.Sub(now)), machine.Moment(w.At)))
		}
	}
	return lines
}

// more says how many lines were left out.
func more(lines []string, left int) []string {
	if left > 0 {
		lines = append(lines, fmt.Sprintf("… %d more, see -o json", left))
	}
	return lines
}
