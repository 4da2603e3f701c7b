package inspect

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
)

// Write prints a status for people, as it stands at a moment.
func (s Status) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	s.head(&b, now)
	s.revisionLines(&b)
	section(&b, "Images", s.imageLines())
	section(&b, "In the way of objects to be applied", s.collisionLines())
	section(&b, "Refused, because data would be lost", guards.Texts(s.Refused))
	section(&b, "Contested", guards.Texts(s.Contested))
	section(&b, "Retained for the data in them", guards.Texts(s.Retained))
	section(&b, "Strays: marked as this operator's, and known to no revision", s.Strays)
	section(&b, "Conditions", s.conditionLines(now))
	_, err := io.WriteString(out, b.String())
	return err
}

func (s Status) head(b *strings.Builder, now time.Time) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	defer w.Flush()
	if s.State == "" {
		fmt.Fprintf(w, "State:\tnot known\nProblem:\t%s\n", s.Problem)
		return
	}
	fmt.Fprintf(w, "State:\t%s since %s (%s)\n", s.State, machine.Moment(s.Since), lasted(now.Sub(s.Since)))
	if s.Problem != "" {
		fmt.Fprintf(w, "Problem:\t%s\n", s.Problem)
	}
	if s.Release != "" {
		fmt.Fprintf(w, "Installed:\trelease %s\n", s.Release)
	}
	if s.Waits != "" {
		fmt.Fprintf(w, "Says:\t%s\n", s.Waits)
	}
	if f := s.Failure; f != nil {
		forGood := ""
		if f.Terminal {
			forGood = ", for good: it waits for an input to change"
		}
		fmt.Fprintf(w, "Failing:\tsince %s (%s)%s\n", machine.Moment(f.Since), lasted(now.Sub(f.Since)), forGood)
		if !strings.Contains(s.Waits, f.Message) {
			fmt.Fprintf(w, "\t%s\n", f.Message)
		}
	}
	if d := s.Deadline; d != nil {
		fmt.Fprintf(w, "Deadline:\t%s %s (%s at %s)\n", d.To, until(d.At.Sub(now)), d.On, machine.Moment(d.At))
	}
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
		return "wanted and installed"
	case r.Current:
		return "installed"
	case r.Desired:
		return "wanted"
	}
	return "not wanted any more"
}

func (s Status) collisionLines() []string {
	return columns(func(w io.Writer) {
		for _, c := range s.Collisions {
			fmt.Fprintf(w, "%s\tbelongs to %s\n", c.Object, cmp.Or(c.Holder, "nobody that says so"))
		}
	})
}

func (s Status) imageLines() []string {
	return columns(func(w io.Writer) {
		for _, image := range s.Images {
			fmt.Fprintf(w, "%s\t%s\t%s", image.State, cmp.Or(image.Component, "-"), image.Reference)
			if image.Message != "" {
				fmt.Fprintf(w, "\t%s", image.Message)
			}
			fmt.Fprintln(w)
		}
	})
}

// conditionLines leave out the messages of conditions that are as expected, and of those that say what was said above.
func (s Status) conditionLines(now time.Time) []string {
	return columns(func(w io.Writer) {
		for _, c := range s.Conditions {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s", c.Type, c.Status, lasted(now.Sub(c.Since)), c.Reason)
			if c.Reason != machine.AsExpected && c.Reason != machine.Progressing && !strings.Contains(c.Message, s.Waits) {
				fmt.Fprintf(w, "\t%s", strings.ReplaceAll(c.Message, "\n", "; "))
			}
			fmt.Fprintln(w)
		}
	})
}

// columns aligns what is written with tabs between.
func columns(write func(io.Writer)) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	write(w)
	w.Flush()
	if b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", strings.TrimRight(line, " "))
	}
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

// lasted writes a duration for people, who do not read fractions of seconds, nor seconds of days.
func lasted(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// until is a countdown; a moment that has passed is due, whoever is late.
func until(d time.Duration) string {
	if d <= 0 {
		return "due now"
	}
	return "in " + lasted(d+time.Second-1)
}

// Line is a status in one line, for a log or a pipe: the same until something changes.
func (s Status) Line() string { return cmp.Or(s.Waits, string(s.State), s.Problem) }
