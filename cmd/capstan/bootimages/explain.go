package bootimages

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
)

// GateExplained is what `capstan explain boot-images -o json` prints; its shape is a promise.
type GateExplained struct {
	Gate      Gate        `json:"gate"`
	Operator  Operator    `json:"operator"`
	Questions []Asked     `json:"questions"`
	Enrolled  []Enrolment `json:"enrolled"`
}

// ExplainGate tells what the gate asks, in its order.
func (l *Look) ExplainGate() (GateExplained, error) {
	gate, err := l.gateNow()
	return GateExplained{Gate: gate, Operator: l.worker(), Questions: l.questions(), Enrolled: view.List(l.enrolments())}, err
}

// Write prints it for people.
func (e GateExplained) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	e.Gate.write(&b, e.Operator, now)
	fmt.Fprintf(&b, "\n%s\n", e.Gate.Meaning)
	var lines []string
	for i, asked := range e.Questions {
		lines = append(lines, fmt.Sprintf("%d. %s: %s", i+1, asked.Guard, said(asked.Question)))
		if asked.Evidence != "" {
			lines = append(lines, "     seen: "+asked.Evidence)
		}
	}
	view.Section(&b, "What it asks; the first that is not answered with Yes is its state", lines)
	view.Section(&b, "What is enrolled", view.Columns(func(w io.Writer) {
		for _, of := range e.Enrolled {
			selects := of.Selects
			switch {
			case !of.Known:
				selects = "not known until the configuration is resolved"
			case selects == "":
				selects = "none: nobody has said anything"
			}
			fmt.Fprintf(w, "%s\t%s\n", of.Kind, selects)
		}
	}))
	_, err := io.WriteString(out, b.String())
	return err
}

func said(q Question) string {
	if q.Why == "" {
		return q.Answer.String()
	}
	return q.Answer.String() + ": " + q.Why
}

// Target is what `capstan explain boot-images TARGET -o json` prints; its shape is a promise.
type Target struct {
	Row
	Namespace string `json:"namespace"`
	Meaning   string `json:"meaning"`
	// Since, Deadline and Failure are of the stored record, if there is one.
	Since    time.Time         `json:"since,omitzero"`
	Deadline *machine.Deadline `json:"deadline,omitempty"`
	Failure  *machine.Failure  `json:"failure,omitempty"`
	Enrolled Answer            `json:"enrolled"`
	// EnrolledBy is what selects it, Exclusion names what excludes it; empty for nothing.
	EnrolledBy string `json:"enrolledBy,omitempty"`
	Exclusion  string `json:"exclusion,omitempty"`
	Touchable  Answer `json:"touchable"`
	// Image is the present one, Wanted the golden one for it; empty while they are not known.
	Image     string   `json:"image,omitempty"`
	Wanted    string   `json:"wanted,omitempty"`
	MayWrite  Answer   `json:"mayBeWritten"`
	Attempts  Attempts `json:"attempts"`
	Stub      Stub     `json:"stub"`
	Template  string   `json:"template,omitempty"`
	ConfigMap string   `json:"configMap"`
	// Stored says that a record of it is in the ConfigMap, Written when that was written last.
	Stored  bool      `json:"stored"`
	Written time.Time `json:"written,omitzero"`
	// SharedBy are targets that start from the same stub and may not move, for which it is not upgraded.
	SharedBy  []string   `json:"sharedBy"`
	Questions []Question `json:"questions"`
	Operator  Operator   `json:"operator"`
}

// Answer is one to a question.
type Answer struct {
	Is  machine.Truth `json:"is"`
	Why string        `json:"why,omitempty"`
}

// Attempts are those at the wanted image.
type Attempts struct {
	Known bool `json:"known"`
	Made  int  `json:"made"`
	Left  int  `json:"left"`
	// Last is when the last was begun, Forgotten from when on none counts if the image stood.
	Last      time.Time `json:"last,omitzero"`
	Forgotten time.Time `json:"forgotten,omitzero"`
	// RetriesUsed says that no value of the annotation retry counts any longer.
	RetriesUsed bool `json:"retriesUsed,omitempty"`
}

// Stub is the Ignition stub; nothing of what is in it but its version.
type Stub struct {
	Secret string `json:"secret,omitempty"`
	Known  bool   `json:"known"`
	Spec   string `json:"spec,omitempty"`
	Old    bool   `json:"old"`
	Unread string `json:"unread,omitempty"`
	Awaits string `json:"awaits,omitempty"`
}

// Explain tells of a target why it has or has not moved.
func (l *Look) Explain(key machine.Key) (Target, bool) {
	for _, t := range l.targets {
		if t.key == key {
			return l.explain(t), true
		}
	}
	return Target{}, false
}

func (l *Look) explain(t *target) Target {
	f, pass, record := t.shot.Facts, t.shot.Seen, t.shot.Record
	row, _ := table.Table.State(record.State)
	exclusion, _, _ := guards.Excluded(f)
	tried := pass.Tried()
	e := Target{
		Row: l.row(t), Namespace: f.Object.Namespace, Meaning: row.Doc, Since: record.Since, Deadline: record.Deadline, Failure: record.Failure,
		Enrolled: answered(guards.Enrolled, f), EnrolledBy: f.Enrolment.By, Exclusion: string(exclusion), Touchable: answered(guards.Touchable, f),
		Image: f.Target.Image, Wanted: f.Verdict.Wanted, MayWrite: answered(guards.MayBeWritten, f),
		Attempts: Attempts{Known: f.Attempts.Known, Made: tried.Made, Left: tried.Left, Last: tried.Last, Forgotten: tried.Forgotten, RetriesUsed: tried.RetriesUsed},
		Stub:     Stub{Secret: f.Stub.Secret, Known: f.Stub.Known, Spec: f.Stub.Spec, Old: f.Stub.Old, Unread: f.Stub.Unread, Awaits: f.Stub.Awaits},
		Template: t.standing.Template, ConfigMap: l.records.ConfigMapOf(t.key).String(), Stored: t.stored, Written: t.written,
		SharedBy: []string{}, Questions: t.questions(), Operator: l.worker(),
	}
	if golden := l.gate.Golden(); golden != nil && e.Image == "" {
		judged := golden.Judge(&l.verdict.Cluster, pass.Target.For)
		e.Image = strings.Join(judged.Present, ",")
	}
	if f.Stub.Old {
		for _, other := range l.images.Board.Stay(f.Stub.Secret) {
			if other != string(t.key) {
				e.SharedBy = append(e.SharedBy, other)
			}
		}
	}
	return e
}

func answered(g machine.Guard[guards.Facts], f guards.Facts) Answer {
	answer := g.Answer(f)
	return Answer{Is: answer.Truth, Why: answer.Reason}
}

// Write prints it for people, in one screen.
func (e Target) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(title, text string, arguments ...any) {
		fmt.Fprintf(w, "%s:\t%s\n", title, fmt.Sprintf(text, arguments...))
	}
	line("Target", "%s in %s", e.Target, e.Namespace)
	line("State", "%s", e.stated(now))
	line("Means", "%s", e.Meaning)
	if e.Why != "" {
		line("Why", "%s", e.Why)
	}
	if f := e.Failure; f != nil {
		line("Failing", "since %s (%s)", machine.Moment(f.Since), view.Lasted(now.Sub(f.Since)))
	}
	if d := e.Deadline; d != nil {
		line("Deadline", "%s %s (%s at %s)", d.To, view.Until(d.At.Sub(now)), d.On, machine.Moment(d.At))
	}
	line("Enrolled", "%s", e.Enrolled)
	if e.Exclusion == "" {
		line("Excluded", "by nothing")
	} else {
		line("Excluded", "%s: %s", e.Exclusion, e.Touchable.Why)
	}
	line("Image", "%s", orUnknown(e.Image))
	line("Wanted", "%s", orUnknown(e.Wanted))
	line("Written", "%s", e.short(e.MayWrite))
	line("Attempts", "%s", e.Attempts.said(now))
	line("Stub", "%s", e.Stub.said())
	if len(e.SharedBy) > 0 {
		line("Shared by", "%s, which may not move: the stub is not upgraded until they may", few(e.SharedBy))
	}
	if e.Template != "" {
		line("Template", "%s", e.Template)
	}
	line("Record", "%s", e.kept(now))
	line("Operator", "%s", e.Operator.said(now))
	w.Flush()
	view.Section(&b, "What is asked of it", view.Columns(func(w io.Writer) {
		for _, q := range e.Questions {
			fmt.Fprintf(w, "%s\t%s\t%s\n", q.Answer, q.Guard, e.short(Answer{Why: q.Why}).Why)
		}
	}))
	next := e.Next
	if next == "" {
		next = "none"
	}
	fmt.Fprintf(&b, "\nNext step\n  %s\n", next)
	_, err := io.WriteString(out, b.String())
	return err
}

func (a Answer) String() string {
	if a.Why == "" {
		return a.Is.String()
	}
	return a.Is.String() + ": " + a.Why
}

// short is an answer that does not say again why the target is where it is.
func (e Target) short(a Answer) Answer {
	if a.Why != "" && a.Why == e.Why {
		a.Why = "as is said above"
	}
	return a
}

func (e Target) stated(now time.Time) string {
	text := string(e.State)
	if e.Stored && !e.Since.IsZero() {
		text += fmt.Sprintf(" since %s (%s)", machine.Moment(e.Since), view.Lasted(now.Sub(e.Since)))
	}
	if e.Recorded != "" && e.Recorded != e.State {
		text += ", to which the objects as they are now lead from " + string(e.Recorded) + ", which is recorded"
	}
	return text
}

// kept is what is stored of the target, and how old that is.
func (e Target) kept(now time.Time) string {
	if e.Written.IsZero() {
		return "nothing is stored of it (ConfigMap " + e.ConfigMap + "): what is told was found by looking"
	}
	age := view.Lasted(now.Sub(e.Written))
	if e.Stored {
		return fmt.Sprintf("in ConfigMap %s, which was written %s ago", e.ConfigMap, age)
	}
	return fmt.Sprintf("no state of it is in ConfigMap %s, which was written %s ago: it was found by looking", e.ConfigMap, age)
}

func (a Attempts) said(now time.Time) string {
	switch {
	case !a.Known:
		return "not known until it is known which image is wanted"
	case a.Made == 0:
		return fmt.Sprintf("none used, %d left", a.Left)
	}
	retry := ", by opting out, or by annotation " + guards.RetryAnnotation + " with a new value"
	if a.RetriesUsed {
		retry = ", or by opting out; annotation " + guards.RetryAnnotation + " has had as many values as count until then"
	}
	return fmt.Sprintf("%d used, %d left; the last %s ago; forgotten at %s if the image stood, for another wanted image%s",
		a.Made, a.Left, view.Lasted(now.Sub(a.Last)), machine.Moment(a.Forgotten), retry)
}

func (s Stub) said() string {
	in := ""
	if s.Secret != "" {
		in = " in Secret " + s.Secret
	}
	switch {
	case s.Unread != "":
		return "its version is not known" + in + ": " + s.Unread
	case !s.Known:
		return "its version is not asked" + in
	case s.Secret == "":
		return "made for each machine by a bootstrap provider"
	case s.Awaits != "":
		return "spec " + s.Spec + in + ", which follows Secret " + s.Awaits
	case s.Old:
		return "spec " + s.Spec + in + ", older than 3: images of today cannot read it"
	}
	return "spec " + s.Spec + in
}

func orUnknown(text string) string {
	if text == "" {
		return "not known"
	}
	return text
}
