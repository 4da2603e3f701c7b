package losses

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Text tells of a loss in lines, as it stands at a moment.
func (l Loss) Text(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  UID:     %s\n", l.Object, l.UID)
	if len(l.Finalizers) > 0 {
		fmt.Fprintf(&b, "  Waits:   for finalizers %s, once it is deleted\n", strings.Join(l.Finalizers, ", "))
	}
	if l.Holds == "" {
		fmt.Fprintf(&b, "  Holds:   nothing\n")
	} else {
		fmt.Fprintf(&b, "  Holds:   %s\n", l.Holds)
	}
	if l.Digest == "" {
		fmt.Fprintf(&b, "  Digest:  none, since nobody can tell all that would be lost%s\n", because(l.Open))
	} else {
		fmt.Fprintf(&b, "  Digest:  %s\n", l.Digest)
	}
	l.writeHeld(&b, now)
	return b.String()
}

func because(open []string) string {
	if len(open) == 0 {
		return ""
	}
	return ": " + strings.Join(open, ", and ")
}

func (l Loss) writeHeld(b *strings.Builder, now time.Time) {
	if len(l.Held) == 0 {
		return
	}
	table := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "    KIND\tNAMESPACE\tNAME\tAGE\tFINALIZERS\t")
	for _, o := range l.Held {
		fmt.Fprintf(table, "    %s\t%s\t%s\t%s\t%s\t%s\n", cell(o.Kind), cell(o.Namespace), cell(o.Name), age(o.Created, now), cell(strings.Join(o.Finalizers, ",")), remarks(o))
	}
	_ = table.Flush() // a builder takes all
	if l.More > 0 {
		fmt.Fprintf(b, "    and %d more: --all names them\n", l.More)
	}
}

// remarks are what is out of the ordinary.
func remarks(o Held) string {
	var all []string
	if o.New {
		all = append(all, "new since the consent")
	}
	if o.BeingDeleted {
		all = append(all, "being deleted")
	}
	return strings.Join(all, ", ")
}

func age(created, now time.Time) string {
	if created.IsZero() {
		return "-"
	}
	return duration.HumanDuration(now.Sub(created))
}

// cell is text that has a place in a table.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\t", " ", "\n", " ").Replace(text)
}
