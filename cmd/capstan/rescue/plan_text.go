package rescue

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// shownObjects bounds how many objects are named to people; the JSON has all.
const shownObjects = 20

// Write prints a plan for people.
func (p Plan) Write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ClusterAPI cluster lists %d of at most %d revisions.\n", p.Listed, p.Limit)
	if len(p.Remove) > 0 {
		fmt.Fprintf(&b, "\nCan be removed from the list: %s\n", plural(len(p.Remove), "revision", "revisions"))
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, r := range p.Remove {
			fmt.Fprintf(w, "  %d\t%s\t%s\t%s\n", r.Number, r.Name, r.Why, r.objects())
		}
		w.Flush()
	}
	b.WriteString("\nStays\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, kept := range p.Keep {
		fmt.Fprintf(w, "  %d\t%s\t%s\n", kept.Number, kept.Name, kept.Why)
	}
	w.Flush()
	p.proof(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func (r Removal) objects() string {
	if r.Objects == 0 {
		return "nothing of it was ever applied"
	}
	return fmt.Sprintf("%s, %d of them also in revisions that stay", plural(r.Objects, "object", "objects"), r.Shared)
}

func (p Plan) proof(b *strings.Builder) {
	if len(p.Remove) == 0 {
		return
	}
	b.WriteString("\nNo object is lost from sight\n")
	for _, proof := range [...]string{inventoryStays, neverApplied} {
		var proven []int64
		for _, r := range p.Remove {
			if r.Proof == proof {
				proven = append(proven, r.Number)
			}
		}
		if len(proven) > 0 {
			fmt.Fprintf(b, "  %s: %s\n", numbers(proven), proof)
		}
	}
	if len(p.Pruned) == 0 {
		b.WriteString("\nNothing is left to be pruned later: every object is in a revision that stays.\n")
		return
	}
	fmt.Fprintf(b, "\nPruned once a newer revision without it is installed: %s\n", plural(len(p.Pruned), "object", "objects"))
	for _, object := range p.Pruned[:min(shownObjects, len(p.Pruned))] {
		fmt.Fprintf(b, "  %s (%s)\n", object.Object, numbers(object.Revisions))
	}
	if more := len(p.Pruned) - shownObjects; more > 0 {
		fmt.Fprintf(b, "  … %d more, see -o json\n", more)
	}
}

func numbers(revisions []int64) string {
	words := make([]string, 0, len(revisions))
	for _, n := range revisions {
		words = append(words, strconv.FormatInt(n, 10))
	}
	if len(words) == 1 {
		return "revision " + words[0]
	}
	return "revisions " + strings.Join(words, ", ")
}
