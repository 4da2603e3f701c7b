package takeover

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Write prints a plan for people.
func (p Plan) Write(out io.Writer) error {
	switch {
	case len(p.Steps) > 0:
	case p.Back:
		_, err := io.WriteString(out, "Nothing of Capstan's is on this cluster that would keep the former installer from working.\n")
		return err
	default:
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
	if p.Back {
		b.WriteString("\nWhat Capstan has installed is not touched.\n")
	} else {
		b.WriteString("\nWhat the former installer has installed is not touched: the operator takes it over in place.\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
