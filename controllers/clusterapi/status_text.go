package clusterapi

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
)

// Write prints a status for people, as it stands at a moment.
func (s Status) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	s.WriteHead(&b, s.Release, now)
	s.revisionLines(&b)
	view.Section(&b, "Asked for by people", guards.Texts(s.Acts))
	view.Section(&b, "Not as it should be, and left so while it is paused", s.differsLines())
	view.Section(&b, "Left alone, because people ask for that", guards.Texts(s.LeftAlone))
	view.Section(&b, "Images", s.imageLines())
	view.Section(&b, "In the way of objects to be applied", s.collisionLines())
	view.Section(&b, "Refused, because data would be lost", guards.Texts(s.Refused))
	view.Section(&b, "Contested", guards.Texts(s.Contested))
	view.Section(&b, "Found by the API server, and refused by nobody", s.Findings)
	view.Section(&b, "Retained for the data in them", s.retainedLines())
	view.Section(&b, "Strays: marked as this operator's, and known to no revision", s.strayLines())
	view.Section(&b, "Conditions", view.ConditionLines(s.Conditions, s.Waits, now))
	_, err := io.WriteString(out, b.String())
	return err
}

func (s Status) revisionLines(b *strings.Builder) {
	if len(s.Revisions) == 0 {
		b.WriteString("\nRevisions: none is listed\n")
		return
	}
	b.WriteString("\nRevisions\n")
	for _, r := range s.Revisions {
		fmt.Fprintf(b, "  %d  %s  %s\n", r.Number, r.Name, r.role())
		waves := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		for _, wave := range r.Waves {
			fmt.Fprintf(waves, "       wave %d/%d\t%s\t%s\t%d/%d\t%s\n",
				wave.Number, len(r.Waves), bar(wave.Done, wave.Total), wave.Component, wave.Done, wave.Total, wave.Name)
		}
		waves.Flush()
	}
}

// role is what a revision is to the cluster.
func (r Revision) role() string {
	switch {
	case r.Desired && r.Current:
		return "desired and installed"
	case r.Current:
		return "installed"
	case r.Desired:
		return "desired"
	}
	return "not desired any more"
}

// before is a text with something before it, empty for none.
func before(with, text string) string {
	if text == "" {
		return ""
	}
	return with + text
}

func (s Status) collisionLines() []string {
	return view.Columns(func(w io.Writer) {
		for _, c := range s.Collisions {
			out := c.WayOut
			if c.Adoptable {
				out = "capstan adopt " + strings.Replace(c.Named(), " ", "/", 1) + " shows what that would change"
			}
			fmt.Fprintf(w, "%s\tbelongs to %s%s\n", c.Object, cmp.Or(c.Holder, "nobody that says so"), before("; ", out))
		}
	})
}

// retainedLines end with the command that shows what would be lost.
func (s Status) retainedLines() []string {
	if len(s.Retained) == 0 {
		return nil
	}
	return append(guards.Texts(s.Retained), "capstan consent shows what would be lost with them, and who may consents to that")
}

// differsLines count the objects that are not named.
func (s Status) differsLines() []string {
	if more := s.DiffersCount - len(s.Differs); more > 0 {
		return append(slices.Clone(s.Differs), fmt.Sprintf("and %d more", more))
	}
	return s.Differs
}

// strayLines count the strays that are not named.
func (s Status) strayLines() []string {
	lines, more := slices.Clone(s.Strays), s.StrayCount-len(s.Strays)
	for _, counted := range s.StraysElsewhere {
		more -= counted.Count
	}
	if len(s.StraysElsewhere) > 0 {
		lines = append(lines, "not named, because they are in namespaces of others: "+strings.Join(guards.Texts(s.StraysElsewhere), ", "))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("not named: %d more", more))
	}
	return lines
}

func (s Status) imageLines() []string {
	return view.Columns(func(w io.Writer) {
		for _, image := range s.Images {
			fmt.Fprintf(w, "%s\t%s\t%s", image.State, cmp.Or(image.Component, "-"), image.Reference)
			if image.Message != "" {
				fmt.Fprintf(w, "\t%s", image.Message)
			}
			fmt.Fprintln(w)
		}
	})
}

// bar is ten characters wide and full only when all is done.
func bar(done, total int) string {
	const width = 10
	full := width
	if total > 0 {
		full = min(max(done, 0)*width/total, width)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
