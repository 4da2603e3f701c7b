package bootimages

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	gatetable "github.com/capstan-capi/capstan/machine/bootgate"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phasesgate "github.com/capstan-capi/capstan/phases/bootgate"
)

// Status is what `capstan status boot-images -o json` prints; its shape is a promise.
type Status struct {
	Gate     Gate     `json:"gate"`
	Operator Operator `json:"operator"`
	Sums     []Sum    `json:"sums"`
	Skew     Skew     `json:"skew"`
	// Targets are those that have not the wanted image, sorted; with a target named, that one, whatever it has.
	Targets []Row `json:"targets"`
	// Unread says what could not be looked at, so that some answers are Unknown.
	Unread []string `json:"unread"`

	one bool
}

// Sum is how many of the enrolled targets of a kind that count are where.
type Sum struct {
	API     string `json:"api"`
	Kind    string `json:"kind"`
	Total   int    `json:"total"`
	Done    int    `json:"done"`
	Skipped int    `json:"skipped"`
	Working int    `json:"working"`
}

// Skew is how old the boot images are that machines may start from, and whether the cluster can be upgraded with them.
type Skew struct {
	// Mode is empty where nobody asks: Machine API is not the operator's to manage.
	Mode  string `json:"mode,omitempty"`
	OCP   string `json:"ocpVersion,omitempty"`
	RHCOS string `json:"rhcosVersion,omitempty"`
	// Upgradeable is Unknown until it can be judged.
	Upgradeable machine.Truth `json:"upgradeable"`
	Reason      string        `json:"reason,omitempty"`
	Message     string        `json:"message,omitempty"`
}

// Row is a target in one line.
type Row struct {
	Target string        `json:"target"`
	State  machine.State `json:"state"`
	// Recorded is the state that the operator has stored or told last, empty for none.
	Recorded machine.State `json:"recorded,omitempty"`
	// Counts says that people expect it to have the wanted image.
	Counts bool   `json:"counts"`
	Why    string `json:"why"`
	Next   string `json:"next,omitempty"`
}

// Status sums up what was seen: of all targets, or of the one with a key.
func (l *Look) Status(key machine.Key) (Status, error) {
	gate, err := l.gateNow()
	if err != nil {
		return Status{}, err
	}
	s := Status{Gate: gate, Operator: l.worker(), Sums: []Sum{}, Skew: l.skew(), Targets: []Row{}, Unread: l.unread(), one: key != ""}
	for _, of := range l.gate.Targets.Kinds {
		s.Sums = append(s.Sums, Sum{API: of.API, Kind: of.Kind, Total: of.Total, Done: of.Done, Skipped: of.Skipped, Working: of.Working})
	}
	for _, t := range l.targets {
		if key != "" && t.key != key || key == "" && t.shot.Record.State == table.Current {
			continue
		}
		s.Targets = append(s.Targets, l.row(t))
	}
	return s, nil
}

func (l *Look) row(t *target) Row {
	return Row{
		Target: string(t.key), State: t.shot.Record.State, Recorded: t.recorded, Counts: t.standing.Counts, Why: t.why(), Next: l.next(t),
	}
}

func (l *Look) skew() Skew {
	enforced, s := l.gate.Enforced, Skew{}
	if l.gate.Ours {
		s.Mode = string(enforced.Mode)
		s.OCP = cmp.Or(enforced.Automatic.OCPVersion, enforced.Manual.OCPVersion)
		s.RHCOS = cmp.Or(enforced.Automatic.RHCOSVersion, enforced.Manual.RHCOSVersion)
	}
	if u := l.gate.Upgradeable; u != nil {
		s.Reason, s.Message, s.Upgradeable = u.Reason, u.Message, machine.Say(u.Is, "").Truth
	}
	return s
}

// unread are the Secrets that could not be read, each once.
func (l *Look) unread() []string {
	all := []string{}
	for _, t := range l.targets {
		if why := t.unread(); why != "" && !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	return all
}

// Code is how boot images stand as an exit code.
func (s Status) Code() int {
	alarms := slices.ContainsFunc(s.Targets, func(r Row) bool { return table.Table.Alarms(r.State) })
	if s.one {
		switch {
		case alarms:
			return view.CodeLook
		case s.Targets[0].State == table.Current:
			return view.CodeDone
		}
		return view.CodeOnItsWay
	}
	done := s.Gate.Recorded != "" && (s.Gate.State == gatetable.Off || s.Gate.State == gatetable.Open)
	for _, of := range s.Sums {
		done = done && of.Done == of.Total
	}
	switch {
	case alarms || gatetable.Table.Alarms(s.Gate.State):
		return view.CodeLook
	case done:
		return view.CodeDone
	}
	return view.CodeOnItsWay
}

// Line is the status in one line: the gate and the sums of each kind, or the target that was named.
func (s Status) Line() string {
	if s.one {
		r := s.Targets[0]
		return strings.TrimSuffix(r.Target+" "+string(r.State)+": "+r.Why, ": ")
	}
	parts := []string{"gate " + string(s.Gate.State)}
	if s.Gate.Why != "" {
		parts[0] += ": " + s.Gate.Why
	}
	for _, of := range s.Sums {
		parts = append(parts, fmt.Sprintf("%s %s: %d of %d done, %d skipped, %d moving", of.API, of.Kind, of.Done, of.Total, of.Skipped, of.Working))
	}
	for _, r := range s.Targets {
		if table.Table.Alarms(r.State) {
			parts = append(parts, r.Target+" "+string(r.State))
		}
	}
	return strings.Join(parts, "; ")
}

// Write prints it for people.
func (s Status) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	if s.one {
		s.writeRows(&b, s.Targets)
		_, err := io.WriteString(out, strings.TrimPrefix(b.String(), "\n"))
		return err
	}
	s.Gate.write(&b, s.Operator, now)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Upgrades:\t%s\n", s.Skew)
	w.Flush()
	view.Section(&b, "Targets", view.Columns(func(w io.Writer) {
		if len(s.Sums) > 0 {
			fmt.Fprintln(w, "\tdone\ttotal\tskipped\tmoving")
		}
		for _, of := range s.Sums {
			fmt.Fprintf(w, "%s %s\t%d\t%d\t%d\t%d\n", of.API, of.Kind, of.Done, of.Total, of.Skipped, of.Working)
		}
	}))
	if len(s.Sums) == 0 {
		b.WriteString("\nTargets: none that is enrolled counts\n")
	}
	var told []Row
	var unenrolled []string
	for _, r := range s.Targets {
		if r.State == table.Unenrolled {
			unenrolled = append(unenrolled, r.Target)
		} else {
			told = append(told, r)
		}
	}
	s.writeRows(&b, told)
	if len(unenrolled) > 0 {
		fmt.Fprintf(&b, "\nNot enrolled: %d, %s\n", len(unenrolled), few(unenrolled))
	}
	view.Section(&b, "Not read, so that some answers are Unknown", s.Unread)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeRows tells of targets with reason and next step.
func (s Status) writeRows(b *strings.Builder, rows []Row) {
	title := "Not as wanted"
	if s.one {
		title = ""
	}
	var lines []string
	for _, r := range rows {
		line := r.Target + "  " + string(r.State)
		if !r.Counts && r.State != table.Unenrolled && r.State != table.Current {
			line += " (not counted)"
		}
		if r.Recorded != "" && r.Recorded != r.State {
			line += " (recorded: " + string(r.Recorded) + ")"
		}
		if lines = append(lines, line); r.Why != "" {
			lines = append(lines, "    "+r.Why)
		}
		if r.Next != "" && !strings.Contains(r.Why, r.Next) {
			lines = append(lines, "    next: "+r.Next)
		}
	}
	view.Section(b, title, lines)
}

// fewNamed is how many names a line has.
const fewNamed = 5

// few are the first of some names, and how many others there are.
func few(names []string) string {
	text := strings.Join(names[:min(fewNamed, len(names))], ", ")
	if more := len(names) - fewNamed; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

func (s Skew) String() string {
	recorded := strings.TrimSpace(s.OCP + " " + s.RHCOS)
	text := "Upgradeable " + map[machine.Truth]string{machine.Yes: "True", machine.No: "False", machine.Unknown: "is not known yet"}[s.Upgradeable]
	if s.Mode == "" {
		return text + " as far as Capstan asks: the age of boot images is watched only with --boot-images=" + phasesgate.MachineAPI
	}
	text += "; skew mode " + s.Mode
	if recorded != "" {
		text += ", boot images of " + recorded
	}
	if s.Reason != "" {
		text += "; " + s.Reason
	}
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// write is what both commands begin with.
func (g Gate) write(b *strings.Builder, o Operator, now time.Time) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	defer w.Flush()
	gate := string(g.State)
	if !g.Since.IsZero() {
		gate += fmt.Sprintf(" since %s (%s)", machine.Moment(g.Since), view.Lasted(now.Sub(g.Since)))
	}
	fmt.Fprintf(w, "Gate:\t%s\n", gate)
	if g.Recorded != "" && g.Recorded != g.State {
		fmt.Fprintf(w, "Recorded:\t%s; the objects as they are now lead from there to %s\n", g.Recorded, g.State)
	}
	if g.Problem != "" {
		fmt.Fprintf(w, "Problem:\t%s; is it run with --boot-images?\n", g.Problem)
	}
	switch {
	case g.Waits != "":
		fmt.Fprintf(w, "Waits for:\t%s: %s\n", g.Waits, g.Why)
	case !g.Open:
		fmt.Fprintf(w, "Waits:\t%s\n", g.Why)
	}
	if d := g.Deadline; d != nil {
		fmt.Fprintf(w, "Deadline:\t%s %s (%s at %s)\n", d.To, view.Until(d.At.Sub(now)), d.On, machine.Moment(d.At))
	}
	if f := g.Failure; f != nil {
		fmt.Fprintf(w, "Failing:\tsince %s (%s): %s\n", machine.Moment(f.Since), view.Lasted(now.Sub(f.Since)), f.Message)
	}
	if len(g.Problems) > 0 {
		fmt.Fprintf(w, "To mend:\t%s\n", strings.Join(g.Problems, "; "))
	}
	fmt.Fprintf(w, "Operator:\t%s\n", o.said(now))
}

// said is whether an operator works, by which flag, and how old its record is.
func (o Operator) said(now time.Time) string {
	text := o.Text
	if !o.Written.IsZero() {
		text += fmt.Sprintf("; its record was written %s ago", view.Lasted(now.Sub(o.Written)))
	}
	text += "; --boot-images=" + strings.Join(o.APIs, ",")
	if !o.Published {
		text += " is assumed"
	}
	return text
}
