package compatibility

import (
	"fmt"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// How much is told: of one requirement, and in an answer as a whole. API servers cut warnings of more than 4096 characters.
const (
	textBytes    = 1 << 10
	messageBytes = 16 << 10
	linesTold    = 16
)

// line is what a requirement has to say.
func line(r *requirement, text string) string {
	return fmt.Sprintf("CompatibilityRequirement %s: %s", r.Name, text)
}

// lines are what a requirement has to say of several fields, one line for each, and how many are left out.
func lines(r *requirement, texts []string) []string {
	var told []string
	for _, text := range texts[:min(len(texts), linesTold)] {
		told = append(told, line(r, crdschema.Text([]string{text}, textBytes)))
	}
	if more := len(texts) - linesTold; more > 0 {
		told = append(told, line(r, fmt.Sprintf("and %d more", more)))
	}
	return told
}
