package view

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Columns aligns what is written with tabs between.
func Columns(write func(io.Writer)) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	write(w)
	w.Flush()
	if b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// Section writes lines under a title; without lines there is no title.
func Section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", strings.TrimRight(line, " "))
	}
}

// Lasted writes a duration for people, who do not read fractions of seconds, nor seconds of days.
func Lasted(d time.Duration) string {
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

// Since says since when something is so, and how long that is by now; empty where the moment is not known.
func Since(since, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	return fmt.Sprintf(" since %s (%s)", machine.Moment(since), Lasted(now.Sub(since)))
}

// Until is a countdown; a moment that has passed is due, whoever is late.
func Until(d time.Duration) string {
	if d <= 0 {
		return "due now"
	}
	return "in " + Lasted(d+time.Second-1)
}

// List is a list that is never nil, so that a reader of the JSON needs no second case.
func List[T any](some []T) []T {
	if some == nil {
		return []T{}
	}
	return some
}
