package payload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// problemsMost is how many problems a text names; there may be more.
const problemsMost = 10

// Problem is one thing that is wrong with the inputs.
type Problem struct {
	// At is the place, as "Secret a, key install-config.yaml, field baseDomain".
	At string
	// Why says what is wrong and what to do.
	Why string
}

// String names all places, however many they are.
func (p Problem) String() string { return message.Line(p.At) + ": " + message.Shorten(p.Why, 400) }

// InputsError is all that is wrong with the inputs, sorted by places.
type InputsError []Problem

// Error names the first of them, and how many there are.
func (p InputsError) Error() string {
	said := make([]string, 0, problemsMost+1)
	for _, problem := range p[:min(len(p), problemsMost)] {
		said = append(said, problem.String())
	}
	if more := len(p) - problemsMost; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, "; ")
}

// err is nil if nothing is wrong.
func (p InputsError) err() error {
	if len(p) == 0 {
		return nil
	}
	sorted := slices.Clone(p)
	slices.SortFunc(sorted, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Why, b.Why)) })
	return slices.Compact(sorted)
}

func (p *InputsError) add(at, why string, args ...any) {
	*p = append(*p, Problem{At: at, Why: fmt.Sprintf(why, args...)})
}

// secretKey is the place of a key of a Secret.
func secretKey(secret, key string) string { return "Secret " + secret + ", key " + key }
