package plan

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/engine"
)

const (
	// shownFields is how many fields of an object are shown, and shownValue how much of a value.
	shownFields = 5
	shownValue  = 60
	shownText   = 400
)

// Write prints a plan for people; all shows every object and field.
func (p *Plan) Write(out io.Writer, all bool) error {
	w := &writer{all: all}
	w.head(p)
	for _, wave := range p.Waves {
		w.objects(fmt.Sprintf("Wave %d/%d: %s of %s", wave.Number, len(p.Waves), wave.Class, wave.Component), wave.Objects)
	}
	if len(p.Removals) > 0 {
		w.objects("After that, what only older revisions have", p.Removals)
	}
	w.stops(p.Stops)
	w.line("\nWhat this plan does not tell")
	for _, limit := range p.Limits {
		w.line("  - %s", limit)
	}
	w.line("\n%s", p.Summary())
	_, err := io.WriteString(out, w.text.String())
	return err
}

type writer struct {
	text strings.Builder
	all  bool
}

// line writes what may come from anywhere: nothing in it controls a terminal.
func (w *writer) line(format string, args ...any) {
	w.text.WriteString(message.Lines(fmt.Sprintf(format, args...)) + "\n")
}

func (w *writer) head(p *Plan) {
	w.line("To:     %s", named(p.To))
	w.line("From:   %s", named(p.From))
	if p.State != "" {
		w.line("State:  %s", p.State)
	}
	if p.As != nil {
		w.line("As:     %s", p.As.User)
	}
	w.line("At:     %s", machine.Moment(p.At))
}

func named(r *Revision) string {
	if r == nil {
		return "none"
	}
	var names []string
	for _, c := range r.Components {
		names = append(names, c.Name)
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %s", r.Name, strings.Join(names, ", ")))
}

func (w *writer) objects(title string, objects []Object) {
	w.line("\n%s", title)
	quiet := map[engine.Outlook]int{}
	for _, o := range objects {
		known := o.How != engine.Unseen && o.How != engine.Later
		if !w.all && (o.Verdict == engine.WouldMark || o.Verdict == engine.WouldLeave) && known && !o.left {
			quiet[o.Verdict]++
			continue
		}
		w.object(o)
	}
	for _, verdict := range []engine.Outlook{engine.WouldMark, engine.WouldLeave} {
		if quiet[verdict] > 0 {
			w.line("  %-8s%s: %s", verdict, count(quiet[verdict], "object"), meaning[verdict])
		}
	}
}

// meaning says what outlooks mean that are not shown by object.
var meaning = map[engine.Outlook]string{
	engine.WouldMark:  "nothing changes but the number",
	engine.WouldLeave: "nothing changes",
}

func (w *writer) object(o Object) {
	w.line("  %-8s%s (%s)%s", o.Verdict, message.Line(o.Object.text), o.How, because(o))
	if o.Holds != "" {
		w.line("          holds %s", message.Shorten(o.Holds, shownText))
		if o.Verdict == engine.WouldRetain {
			w.line("          next: capstan consent, once this is installed, shows what would be lost")
		}
	}
	shown := o.Fields
	if !w.all {
		shown = shown[:min(len(shown), shownFields)]
	}
	for _, f := range shown {
		w.line("          %s", f.String())
	}
	if more := len(o.Fields) - len(shown); more > 0 {
		w.line("          and %s more: --all shows them", count(more, "field"))
	}
}

func because(o Object) string {
	if o.Why == "" {
		return ""
	}
	return ": " + message.Shorten(o.Why, shownText)
}

// String is a field in one line.
func (f Field) String() string {
	text := message.ShortenInside(f.Path, 3*shownValue)
	switch {
	case f.added:
		text = "+ " + text + value(": ", f.To)
	case f.removed:
		text = "- " + text + value(": ", f.From)
	case f.From == nil && f.To == nil:
		text = "~ " + text
	default:
		text = "~ " + text + value(": ", f.From) + value(" -> ", f.To)
	}
	if len(f.Managers) > 0 {
		text += " (held by " + message.Shorten(strings.Join(f.Managers, ", "), shownValue) + ")"
	}
	return text
}

func value(before string, text []byte) string {
	if text == nil {
		return ""
	}
	return before + message.ShortenInside(string(text), shownValue)
}

func (w *writer) stops(stops []Stop) {
	if len(stops) == 0 {
		return
	}
	w.line("\nWhat would stop it, or cannot be told")
	for _, s := range stops {
		of := ""
		if s.Object != nil {
			of = message.Line(s.Object.text) + ": "
		}
		w.line("  %-8s%s%s", s.What, of, message.Shorten(s.Why, 2*shownText))
		if s.Next != "" {
			w.line("          next: %s", message.Shorten(s.Next, shownText))
		}
	}
}

// Summary is a plan in one line.
func (p *Plan) Summary() string {
	var parts []string
	for _, verdict := range slices.SortedFunc(maps.Keys(p.Counts), func(a, b string) int { return cmp.Compare(rank(a), rank(b)) }) {
		parts = append(parts, fmt.Sprintf("%s %d", verdict, p.Counts[verdict]))
	}
	text := "Nothing to do."
	switch {
	case len(p.Stops) > 0:
		text = "It would stop, or cannot be told: " + count(len(p.Stops), "reason") + " above."
	case p.Code() != 0:
		text = "Nothing is known that would stop it."
	}
	if len(parts) > 0 {
		text += " Objects: " + strings.Join(parts, ", ") + "."
	}
	return text
}

var order = []engine.Outlook{
	engine.WouldCreate, engine.WouldChange, engine.WouldMark, engine.WouldReplace, engine.WouldRemove, engine.WouldRetain, engine.WouldWait,
	engine.WouldCollide, engine.WouldRefuse, engine.WouldDeny, engine.WouldLeave,
}

func rank(verdict string) int { return slices.Index(order, engine.Outlook(verdict)) }

// count writes a number and the thing counted.
func count(number int, thing string) string {
	if number == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", number, thing)
}
