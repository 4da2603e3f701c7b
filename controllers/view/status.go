package view

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/status"
)

// The exit codes of `capstan status --exit-code`.
const (
	CodeDone     = 0
	CodeOnItsWay = 2
	CodeLook     = 3
)

// Head is what every status begins with.
type Head struct {
	// State is empty while there is no record that can be read, and Problem says why. Since is zero where it is not known.
	State   machine.State `json:"state"`
	Problem string        `json:"problem,omitempty"`
	Since   time.Time     `json:"since,omitzero"`
	// Waits is the one line that conditions, log and Events show: why it is not done, or that it is.
	Waits    string            `json:"waits,omitempty"`
	Deadline *machine.Deadline `json:"deadline,omitempty"`
	Failure  *machine.Failure  `json:"failure,omitempty"`

	code int
}

// HeadOf is the head of a status. The machine is done in some states; in those
// that alarm somebody has to look.
func HeadOf(table Table, record machine.Record, problem, waits string, done ...machine.State) Head {
	h := Head{
		State: record.State, Problem: problem, Since: record.Since, Waits: cmp.Or(waits, record.Reason),
		Deadline: record.Deadline, Failure: record.Failure, code: CodeOnItsWay,
	}
	if row, _ := table.State(record.State); row.Alarm {
		h.code = CodeLook
	} else if slices.Contains(done, record.State) {
		h.code = CodeDone
	}
	return h
}

// Asking is the head of a machine that waits for somebody, whatever its state is.
func (h Head) Asking() Head {
	h.code = CodeLook
	return h
}

// Ending is the head of a machine whose exit code says more than its state.
func (h Head) Ending(code int) Head {
	h.code = code
	return h
}

// Line is a status in one line, for a log or a pipe: the same until something changes.
func (h Head) Line() string { return cmp.Or(h.Waits, string(h.State), h.Problem) }

// Code is the state as an exit code.
func (h Head) Code() int { return h.code }

// WriteHead prints a head, with the release that is installed, if one is.
func (h Head) WriteHead(b *strings.Builder, release string, now time.Time) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	defer w.Flush()
	if h.State == "" {
		fmt.Fprintf(w, "State:\tnot known\nProblem:\t%s\n", h.Problem)
		return
	}
	fmt.Fprintf(w, "State:\t%s%s\n", h.State, Since(h.Since, now))
	if h.Problem != "" {
		fmt.Fprintf(w, "Problem:\t%s\n", h.Problem)
	}
	if release != "" {
		fmt.Fprintf(w, "Installed:\trelease %s\n", release)
	}
	if h.Waits != "" {
		fmt.Fprintf(w, "Says:\t%s\n", h.Waits)
	}
	if f := h.Failure; f != nil {
		again := ""
		if f.Terminal {
			again = ", terminal: tried again every 10 minutes, and when an input changes"
		}
		fmt.Fprintf(w, "Failing:\tsince %s (%s)%s\n", machine.Moment(f.Since), Lasted(now.Sub(f.Since)), again)
		if !strings.Contains(h.Waits, f.Message) {
			fmt.Fprintf(w, "\t%s\n", f.Message)
		}
	}
	if d := h.Deadline; d != nil {
		fmt.Fprintf(w, "Deadline:\t%s %s (%s at %s)\n", d.To, Until(d.At.Sub(now)), d.On, machine.Moment(d.At))
	}
}

// Condition is one of the ClusterOperator's.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"`
}

// Conditions are those of a ClusterOperator, which may be nil: first those that
// are not named as details, then the details in their order.
func Conditions(operator *configv1.ClusterOperator, details ...string) []Condition {
	conditions := []Condition{}
	if operator == nil {
		return conditions
	}
	for _, c := range operator.Status.Conditions {
		conditions = append(conditions, Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.UTC(),
		})
	}
	slices.SortStableFunc(conditions, func(a, b Condition) int {
		return cmp.Or(cmp.Compare(slices.Index(details, a.Type), slices.Index(details, b.Type)), cmp.Compare(a.Type, b.Type))
	})
	return conditions
}

// ConditionLines leave out the messages of conditions that are as expected, and of those that say what was said above.
func ConditionLines(conditions []Condition, said string, now time.Time) []string {
	return Columns(func(w io.Writer) {
		for _, c := range conditions {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s", c.Type, c.Status, Lasted(now.Sub(c.Since)), c.Reason)
			if c.Reason != machine.AsExpected && c.Reason != machine.Progressing && !strings.Contains(c.Message, said) {
				fmt.Fprintf(w, "\t%s", strings.ReplaceAll(c.Message, "\n", "; "))
			}
			fmt.Fprintln(w)
		}
	})
}

// singleton is the status of a machine that has nothing of its own to tell.
type singleton struct {
	Head
	Conditions []Condition `json:"conditions"`
}

// Write prints it.
func (s singleton) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	s.WriteHead(&b, "", now)
	Section(&b, "Conditions", ConditionLines(s.Conditions, s.Waits, now))
	_, err := io.WriteString(out, b.String())
	return err
}

// Singleton is the view of a machine that publishes a [status.Detail] in the status of a
// ClusterOperator, and is done in some states.
func Singleton(table Table, operator string, done ...machine.State) View {
	return View{Table: table, Look: func(ctx context.Context, get Getter, _ machine.Key) (Seen, error) {
		there, err := Operator(ctx, get, operator)
		if err != nil {
			return Seen{}, err
		}
		var detail status.Detail
		record, problem := Published(table, operator, there, &detail)
		if problem != "" {
			detail = status.Detail{}
		}
		return Seen{
			Record: record, Problem: problem, Waits: detail.Waits, Moves: detail.Moves,
			Status: singleton{Head: HeadOf(table, record, problem, detail.Waits, done...), Conditions: Conditions(there)},
		}, nil
	}}
}
