package payload

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/capstan-capi/capstan/message"
)

// Problem is one thing that is wrong, and where it is. Fields that do not apply
// are empty: what is missing from the whole payload has neither file nor document.
type Problem struct {
	File     string `json:"file,omitempty"`
	Document int    `json:"document,omitempty"` // in File, counted from 1
	Line     int    `json:"line,omitempty"`     // in File, counted from 1
	Object   string `json:"object,omitempty"`   // such as Deployment openshift-cluster-api-operator/capstan
	Path     string `json:"path,omitempty"`     // of the field, such as spec.replicas
	Rule     string `json:"rule"`
	Cause    string `json:"cause"`
}

// String is the problem in one line: place first, then rule and cause.
func (p Problem) String() string {
	var where []string
	add := func(format string, value any, given bool) {
		if given {
			where = append(where, fmt.Sprintf(format, value))
		}
	}
	add("file %s", p.File, p.File != "")
	add("document %d", p.Document, p.Document > 0)
	add("line %d", p.Line, p.Line > 0)
	add("%s", p.Object, p.Object != "")
	add("field %s", p.Path, p.Path != "")
	add("rule %s", p.Rule, true)
	return message.Line(strings.Join(where, ", ") + ": " + p.Cause)
}

func compareProblems(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Cause, b.Cause))
}
