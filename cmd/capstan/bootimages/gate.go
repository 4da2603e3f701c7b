package bootimages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootgate"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Gate is the machine bootgate, by what is seen now and by what is recorded.
type Gate struct {
	// State is what the live objects lead to, Recorded the state that the operator has stored, empty for none.
	State    machine.State `json:"state"`
	Recorded machine.State `json:"recorded,omitempty"`
	Meaning  string        `json:"meaning"`
	// Problem says why nothing is recorded.
	Problem string `json:"problem,omitempty"`
	// Since, Deadline and Failure are of the record, as long as its state is that of now.
	Since    time.Time         `json:"since,omitzero"`
	Deadline *machine.Deadline `json:"deadline,omitempty"`
	Failure  *machine.Failure  `json:"failure,omitempty"`
	// Open says that boot images may be moved, Waits names the first question that is not answered with Yes, and Why what it says.
	Open  bool   `json:"open"`
	Waits string `json:"waits,omitempty"`
	Why   string `json:"why,omitempty"`
	// Problems are what has to be mended of the MachineConfiguration.
	Problems []string `json:"problems"`
}

// gateNow is the gate.
func (l *Look) gateNow() (Gate, error) {
	record := l.record
	if l.problem != "" && record.State == "" {
		record = machine.Record{State: table.Table.Start}
	}
	led, err := follow(table.Table, record, l.facts, l.Now())
	if err != nil {
		return Gate{}, err
	}
	row, _ := table.Table.State(led.record.State)
	g := Gate{
		State: row.Name, Recorded: l.record.State, Meaning: row.Doc, Problem: l.problem, Open: l.verdict.Open, Why: l.verdict.Why,
		Problems: append([]string{}, l.facts.Config.Problems...),
	}
	if led.record.State == l.record.State {
		g.Since, g.Deadline, g.Failure = l.record.Since, l.record.Deadline, l.record.Failure
	}
	for _, asked := range guards.Questions {
		if asked.Answer(l.facts).Truth != machine.Yes {
			g.Waits = asked.Name
			break
		}
	}
	return g, nil
}

// Asked is a question of the gate, with what its answer is made from.
type Asked struct {
	Question
	Evidence string `json:"evidence,omitempty"`
}

// questions are those of the gate, in the order in which it asks.
func (l *Look) questions() (all []Asked) {
	f := l.facts
	evidence := map[string]string{
		guards.Applies.Name:           "platform " + cmp.Or(f.Platform.Name, "not known") + "; " + guards.Config + configured(f.Config),
		guards.ConfigIsResolved.Name:  l.resolved(),
		guards.ReleaseIsComplete.Name: guards.Release + ", history[0]: " + strings.TrimSpace(cmp.Or(f.Release.Name, "none")+" "+f.Release.State),
		guards.GoldenIsReadable.Name:  guards.Golden + goldenOf(l.gate),
		guards.GoldenIsVouched.Name:   vouched(f),
	}
	for _, atom := range guards.Questions {
		all = append(all, Asked{Question: question(atom, f), Evidence: evidence[atom.Name]})
	}
	return all
}

func configured(c guards.Configuration) string {
	if c.Absent {
		return " does not exist"
	}
	return " exists"
}

// resolved is what is seen of who resolves the configuration.
func (l *Look) resolved() string {
	c := l.facts.Config
	if c.Absent {
		return ""
	}
	who := "somebody else writes its status"
	switch {
	case l.verdict.ClaimedBy != "":
		who = "field manager " + l.verdict.ClaimedBy + " claims its status"
	case c.Ours:
		who = "its status is the operator's to write"
	}
	return fmt.Sprintf("generation %d, observed %d; %s", c.Generation, c.Observed, who)
}

func goldenOf(pass *phases.Pass) string {
	if read := pass.Golden(); read != nil {
		return fmt.Sprintf(" names %d images", len(read.Images()))
	}
	return ""
}

func vouched(f guards.Facts) string {
	var said []string
	for _, key := range slices.Sorted(maps.Keys(f.Golden.Vouchers)) {
		said = append(said, key+"="+machine.Shorten(f.Golden.Vouchers[key], maxShown))
	}
	return strings.Join(said, ", ")
}

// maxShown bounds what is shown of a text of others, in bytes.
const maxShown = 256

// Enrolment is what enrols targets of a kind.
type Enrolment struct {
	Kind string `json:"kind"`
	// Selects is All, None or a label selector; empty if nobody has said anything, which selects none.
	Selects string `json:"selects"`
	// Known is false until the configuration is resolved.
	Known bool `json:"known"`
}

// enrolments are those of the kinds that the operator looks after.
func (l *Look) enrolments() (all []Enrolment) {
	for _, kind := range []golden.Kind{golden.MachineSets, golden.ControlPlaneMachineSets, golden.CAPIMachineSets, golden.MachineDeployments} {
		if api, _ := phases.KindOf(kind); !l.looksAfter(api) {
			continue
		}
		e := Enrolment{Kind: string(kind), Known: l.verdict.Enrols != nil}
		if by := l.verdict.Enrols[kind]; by != nil {
			e.Selects = by.String()
		}
		all = append(all, e)
	}
	return all
}

// Operator says whether one is at work, and how old what it has stored is.
type Operator struct {
	AtWork machine.Truth `json:"atWork"`
	Text   string        `json:"text"`
	// Written is when its status of the ClusterOperator was written last, zero if it never was.
	Written time.Time `json:"written,omitzero"`
	// Published says that its flags are known; APIs are those whose boot images it moves.
	Published bool     `json:"published"`
	APIs      []string `json:"apis"`
}

// late is how long after its time a Lease is believed to be held: clocks differ.
const late = time.Minute

func (l *Look) worker() Operator {
	o := Operator{Written: l.at, Published: l.Published, APIs: append([]string{}, l.Settings.APIs...)}
	name := "Lease " + l.OperatorNamespace + "/" + l.Lease
	switch {
	case apierrors.IsNotFound(l.lease.err):
		o.Text = "not known: there is no " + name + ", so it has never worked here, or works without one"
		return o
	case l.lease.err != nil:
		o.Text = "not known: " + firstLine(l.lease.err)
		return o
	}
	spec := l.lease.object.Spec
	var renewed time.Time
	if spec.RenewTime != nil {
		renewed = spec.RenewTime.UTC()
	}
	held := spec.HolderIdentity != nil && *spec.HolderIdentity != "" && spec.LeaseDurationSeconds != nil
	if held && l.Now().Before(renewed.Add(time.Duration(*spec.LeaseDurationSeconds)*time.Second+late)) {
		o.AtWork, o.Text = machine.Yes, "at work: "+machine.Shorten(*spec.HolderIdentity, maxShown)+" holds the "+name
		return o
	}
	o.AtWork, o.Text = machine.No, "not at work: nobody has renewed the "+name+" since "+machine.Moment(renewed)
	return o
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
