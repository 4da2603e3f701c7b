package render

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"

	"github.com/capstan-capi/capstan/message"
)

// Variables are replaced in the text of a document, before YAML is parsed, as
// clusterctl does: real manifests need it, AWS's ServiceAccount has an
// annotation whose key and colon come out of ${ROLE/#arn/...: arn}. Hence a
// value is YAML text (one that breaks the document is a problem with a line),
// variables in comments count, and a document can never become two.
//
// Only ${...} is given to the envsubst library, which keeps its traps away from
// everything else: it would turn $$ into $ in descriptions of fields, and it
// ends the document at a NUL. A ${ with a doubled dollar is text: $${X} is left
// as ${X}, $$${X} as $ and the value.

// shift says that, from line on, a line of the expanded text is by lines further
// down in the original.
type shift struct {
	line, by int
}

// original returns the line of the source that a line of the expanded text is
// from.
func original(moved []shift, line int) int {
	next, _ := slices.BinarySearchFunc(moved, line+1, func(s shift, line int) int { return cmp.Compare(s.line, line) })
	if next == 0 {
		return line
	}
	return line + moved[next-1].by
}

// maxExpression bounds the length of one ${...}, since the library parses it
// recursively.
const maxExpression = 4096

// expand replaces the variables of a document's text and reports those that it
// cannot replace. A placeholder takes their place, so that other problems of the
// document are found too.
func (r *renderer) expand(at place, text []byte) ([]byte, []shift) {
	var out []byte
	var moved []shift
	rest := text
	read, written := 1, 1 // lines
	for {
		dollar := bytes.Index(rest, []byte("${"))
		if dollar < 0 {
			break
		}
		lines := bytes.Count(rest[:dollar], []byte("\n"))
		read, written = read+lines, written+lines
		run := 1
		for run <= dollar && rest[dollar-run] == '$' {
			run++
		}
		out = append(out, rest[:dollar+1-run/2-run%2]...)
		if rest = rest[dollar:]; run%2 == 0 {
			out, rest = append(out, '{'), rest[len("${"):]
			continue
		}
		length := expression(rest)
		if length == 0 {
			r.report(at.onLine(read).problem("", fmt.Sprintf("a ${ is not closed within %d characters; write $${ where it is meant as text", maxExpression)))
			break
		}
		source := string(rest[:length])
		value, unset, causes := r.evaluate(source)
		for _, name := range unset {
			r.unset(at.onLine(read), name)
			if r.strict {
				value = placeholder(source)
			}
		}
		for _, cause := range causes {
			r.report(at.onLine(read).problem("", cause))
			value = placeholder(source)
		}
		if r.steps > maxDocumentSteps {
			return nil, nil
		}
		out, rest = append(out, value...), rest[length:]
		if len(out) > maxDocument {
			r.report(at.problem("", fmt.Sprintf("the document has more than the %d bytes of text allowed with its substitutions", maxDocument)))
			return nil, nil
		}
		ends, endsNow := strings.Count(source, "\n"), strings.Count(value, "\n")
		read, written = read+ends, written+endsNow
		if ends == endsNow {
			continue
		}
		// Each line that only the value has is from the line that the expression ends on.
		for line := written - max(endsNow-ends-1, 0); line <= written; line++ {
			moved = append(moved, shift{line: line, by: read - line})
		}
	}
	if len(rest) == len(text) {
		return text, nil
	}
	return append(out, rest...), moved
}

// unset tells of a variable that is used and has neither a value nor a default:
// whoever made the image has to know, and the cluster gets the empty text.
func (r *renderer) unset(at place, name string) {
	if r.strict {
		r.report(at.problem("", fmt.Sprintf("variable %s has neither a value nor a default: add it to the substitutions, give it one as ${%s:=default}, or write $${ where ${ is meant as text", name, name)))
		return
	}
	r.warnings = append(r.warnings, at.problem("", fmt.Sprintf("variable %s has neither a value nor a default, and is taken as empty; give it a default in the provider image, as ${%s:=default}", name, name)))
}

// expression returns the length of the ${...} that text begins with, 0 if it does
// not end.
func expression(text []byte) int {
	depth := 0
	for i := 0; i < min(len(text), maxExpression); i++ {
		switch {
		case text[i] == '$' && i+1 < len(text) && text[i+1] == '{':
			depth++
			i++
		case text[i] == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func placeholder(expression string) string {
	name := strings.TrimPrefix(expression, "${")
	end := strings.IndexFunc(name, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
	if end >= 0 {
		name = name[:end]
	}
	if name == "" {
		return "unknown"
	}
	return name
}

// evaluate computes one ${...}, or says why that cannot be done; it also names
// the variables that it took as empty because they are not given.
func (r *renderer) evaluate(source string) (value string, unset, causes []string) {
	bad := func(cause any) []string {
		return []string{fmt.Sprintf("%s is not a substitution that can be computed: %v; write $${ where ${ is meant as text", message.Shorten(source, 200), cause)}
	}
	// The library's substring function panics when position and length overflow.
	defer func() {
		if cause := recover(); cause != nil {
			causes = bad(cause)
		}
	}()
	if strings.IndexByte(source, 0) >= 0 {
		return "", nil, bad("it contains a NUL")
	}
	tree, err := parse.Parse(source)
	if err != nil {
		return "", nil, bad(err)
	}
	unset, missing := r.require(tree.Root)
	if len(missing) > 0 {
		return "", unset, missing
	}
	size, steps := r.grown(tree.Root)
	if size > maxDocument {
		return "", unset, bad("it may come to more bytes than a document may have")
	}
	if r.steps += steps; r.steps > maxDocumentSteps {
		return "", unset, bad(fmt.Sprintf("with it, the substitutions of the document take more than the %d steps allowed; shorten the pattern that it trims with", maxDocumentSteps))
	}
	template, err := envsubst.Parse(source)
	if err != nil {
		return "", unset, bad(err)
	}
	if value, err = template.Execute(func(name string) (string, bool) { return r.substitutions[name], true }); err != nil {
		return "", unset, bad(err)
	}
	return value, unset, nil
}

// require names the variables that an expression uses without a default and that
// are not given, and returns a problem for each that it cannot do without. An
// empty variable is given. As in clusterctl, a function with arguments works with
// an unset variable. Unlike there, the variables of a default are needed only when
// the default is used.
func (r *renderer) require(nodes ...parse.Node) (unset, missing []string) {
	for _, node := range nodes {
		switch n := node.(type) {
		case *parse.ListNode:
			inner, causes := r.require(n.Nodes...)
			unset, missing = append(unset, inner...), append(missing, causes...)
		case *parse.FuncNode:
			if _, given := r.substitutions[n.Param]; !given && bare(n) {
				unset = append(unset, n.Param)
			}
			cause, arguments := r.requireVariable(n)
			if cause != "" {
				missing = append(missing, cause)
			}
			if arguments {
				inner, causes := r.require(n.Args...)
				unset, missing = append(unset, inner...), append(missing, causes...)
			}
		}
	}
	return unset, missing
}

// bare says that a function has nothing to take the place of its variable.
func bare(n *parse.FuncNode) bool {
	return len(n.Args) == 0 && !slices.Contains([]string{"=", ":=", ":-", ":?", ":+"}, n.Name)
}

// requireVariable returns what is wrong with a function's variable, and whether
// its arguments will be used.
func (r *renderer) requireVariable(n *parse.FuncNode) (cause string, arguments bool) {
	value := r.substitutions[n.Param]
	switch n.Name {
	case "=", ":=", ":-":
		return "", value == ""
	case ":?":
		if value == "" {
			cause = fmt.Sprintf("variable %s is required and not set: %s", n.Param, words(n.Args))
		}
		return cause, false
	case ":+":
		// The library takes it for a default, the opposite of its meaning.
		return fmt.Sprintf("${%s:+...} is not supported", n.Param), false
	}
	return "", true
}

func words(nodes []parse.Node) string {
	var text strings.Builder
	for _, n := range nodes {
		if t, ok := n.(*parse.TextNode); ok {
			text.WriteString(t.Value)
		}
	}
	return message.Shorten(text.String(), 200)
}
