package render

import (
	"bytes"
	"fmt"

	"github.com/fluxcd/pkg/envsubst/parse"
)

// Bounds of what a profile may come to. A few lines of aliases, substitutions or a short selfImageRef can stand for
// gigabytes, and a bad image must be refused, not end the process that keeps the last good one.
const (
	// maxDocuments is how many documents a file may have.
	maxDocuments = 20_000
	// maxDocument is how many bytes the text of a document may have, after the substitutions.
	maxDocument = 4 << 20
	// maxIndicators is how many characters a document may have with which YAML begins a value, in texts too: the parser makes
	// of each two bytes some hundred, before anything is known of them. The largest definition of a provider has 94,000.
	maxIndicators = 250_000
	// maxObject is how many bytes an object may have as JSON: more than that is not stored by etcd.
	maxObject = 3 << 19
	// maxProfile is how many bytes the objects of a profile may have together.
	maxProfile = 64 << 20
	// maxDocumentSteps and maxProfileSteps are how much its substitutions may compute for a document, and for all of a profile:
	// some tenth of a second, and a second or two. Real ones take thousands.
	maxDocumentSteps = 1 << 27
	maxProfileSteps  = 1 << 30
	// maxDocumentProblems and maxProblems are how many problems are told of a document, and of all; others are counted.
	maxDocumentProblems = 20
	maxProblems         = 1000
)

// indicators is how many characters a text has with which YAML begins a value.
func indicators(text []byte) (n int) {
	for _, c := range []byte(",:[{-?") {
		n += bytes.Count(text, []byte{c})
	}
	return n
}

// guarded turns a panic into a problem: it is the fault of the image whose bytes were read.
func (r *renderer) guarded(at place, do func()) {
	defer func() {
		if cause := recover(); cause != nil {
			r.report(at.problem("", fmt.Sprintf("reading it has ended in a panic of Capstan: %v", cause)))
		}
	}()
	do()
}

// jsonSize is how many bytes a string has in JSON.
func jsonSize(s string) int {
	size := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			size++
		case c < ' ':
			size += 5
		}
	}
	return size
}

// grown is how many bytes an expression may come to at most, and how many steps it may take to compute. Only a replacement
// of all occurrences multiplies bytes. The library tries the pattern of a trim on each beginning of the value, and a chunk of
// it at each character of that: steps are cubic.
func (r *renderer) grown(nodes ...parse.Node) (size, steps int) {
	for _, node := range nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			size += len(n.Value)
		case *parse.ListNode:
			inner, taken := r.grown(n.Nodes...)
			size, steps = size+inner, steps+taken
		case *parse.FuncNode:
			value := len(r.substitutions[n.Param])
			arguments, taken := r.grown(n.Args...)
			switch n.Name {
			case "//":
				arguments *= value + 1
			case "#", "##", "%", "%%":
				taken += min(value*value, 2*maxDocumentSteps) * arguments
			}
			size, steps = size+value+arguments, steps+taken+value+arguments
		}
		size, steps = min(size, 2*maxDocument), min(steps, 2*maxDocumentSteps) // they must not overflow
	}
	return size, steps
}

// tooSlow says that the substitutions of a profile exceed their bound.
func (r *renderer) tooSlow(file place) {
	r.report(file.problem("", fmt.Sprintf("its substitutions take more than the %d steps allowed for a profile: shorten the patterns of those that trim", maxProfileSteps)))
}

// tooLarge says that the objects of a profile exceed its bound.
func (r *renderer) tooLarge(file place) {
	r.report(file.problem("", fmt.Sprintf("its objects have more than the %d bytes allowed for a profile: check its aliases, substitutions and selfImageRef", maxProfile)))
}
