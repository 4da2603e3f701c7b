package takeover

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Write prints a plan for people.
func (p Plan) Write(out io.Writer) error {
	if len(p.Steps) == 0 {
		_, err := io.WriteString(out, "There is no former installer on this cluster, and nothing is left of one.\n")
		return err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, step := range p.Steps {
		mark := " "
		if step.Done {
			mark = "done"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", mark, step.Do, step.Object, step.Why)
	}
	w.Flush()
	b.WriteString("\nWhat the former installer has installed is not touched: the operator takes it over in place.\n")
	_, err := io.WriteString(out, b.String())
	return err
}
