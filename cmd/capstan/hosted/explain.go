package hosted

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// Explanation is what `capstan private-capi explain` prints; its JSON is a promise.
type Explanation struct {
	Row
	// Meaning is that of the state; Failure that of why a move was undone, empty for none.
	Meaning string `json:"meaning,omitempty"`
	Failure string `json:"failure,omitempty"`
	// Meets is the error that the present work meets; nil for none.
	Meets *machine.Failure `json:"meets,omitempty"`
	// Transitions are the last moves from state to state, as far as they could be read; Untold says why they could not.
	Transitions []machine.Transition `json:"transitions"`
	Untold      string               `json:"untold,omitempty"`
	// Next is what people do about it.
	Next string `json:"next"`
}

// Explain tells why a HostedCluster is where it is.
func (s Seen) Explain(key machine.Key) (Explanation, error) {
	h, err := s.find(key)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Row: h.row(), Transitions: []machine.Transition{}, Untold: s.Programme.RecordsUntold, Next: s.next(h)}
	state, _ := table.State(e.State)
	e.Meaning = state.Doc
	if failed := h.Facts.Marks.Failed; failed != "" {
		e.Failure = adviceFor(failed).means
	}
	if h.Stored != nil && h.Stored.State == h.Said.State {
		e.Transitions, e.Meets = view.List(h.Stored.Transitions), h.Stored.Failure
	}
	return e, nil
}

// shownTransitions is how many of the last moves are told to people, so that all of it fits a screen; the JSON has all.
const shownTransitions = 10

// Write prints it.
func (e Explanation) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	e.Row.write(&b, now)
	if e.Meaning != "" {
		fmt.Fprintf(&b, "\n%s\n", e.Meaning)
	}
	if e.Failed != "" {
		fmt.Fprintf(&b, "Annotation %s says %s. %s\n", guards.FailedAnnotation, e.Failed, e.Failure)
	}
	if e.Meets != nil {
		fmt.Fprintf(&b, "Its work fails since %s (%s): %s\n", machine.Moment(e.Meets.Since), view.Lasted(now.Sub(e.Meets.Since)), e.Meets.Message)
	}
	shown := e.Transitions[max(0, len(e.Transitions)-shownTransitions):]
	var lines []string
	for _, t := range shown {
		lines = append(lines, fmt.Sprintf("%s  %s --%s--> %s", machine.Moment(t.At), t.From, t.Event, t.To))
		if t.Cause != "" {
			lines = append(lines, "    because "+t.Cause)
		}
	}
	if len(lines) == 0 && e.Untold != "" {
		lines = []string{e.Untold}
	}
	view.Section(&b, "How it came here", lines)
	fmt.Fprintf(&b, "\nNext: %s\n", e.Next)
	if e.State != "" {
		fmt.Fprintf(&b, "What each move asks for: capstan explain --machine %s --key %s\n", table.Name, e.HostedCluster)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
