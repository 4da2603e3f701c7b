package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// place is where a problem is. line is the first line of the document, and after
// onLine that of the problem.
type place struct {
	image, profile, file string
	document, line       int
	moved                []shift
	object               string
}

// in returns the place of a document of the same file.
func (p place) in(doc document) place {
	p.document, p.line = doc.number, doc.line
	return p
}

// onLine returns the place of a line of the document's text, counted from 1.
func (p place) onLine(line int) place {
	p.line += original(p.moved, line) - 1
	p.moved = nil
	return p
}

func (p place) problem(path, cause string) Problem {
	return Problem{Image: p.image, Profile: p.profile, File: p.file, Document: p.document, Line: p.line, Path: path, Object: p.object, Cause: cause}
}

// String names the place in a message about another place.
func (p place) String() string {
	return fmt.Sprintf("image %s, profile %s, file %s, document %d, line %d", p.image, p.profile, p.file, p.document, p.line)
}

// parse reads the only document of text; nil means that it is empty or that a
// problem was reported.
func (r *renderer) parse(at place, text []byte, moved []shift) *yaml.Node {
	at.moved = moved
	if len(text) > maxDocument {
		r.report(at.problem("", fmt.Sprintf("the document has %d bytes of text, more than the %d allowed", len(text), maxDocument)))
		return nil
	}
	if n := indicators(text); n > maxIndicators {
		r.report(at.problem("", fmt.Sprintf("the document has %d of the characters that begin values, more than the %d allowed", n, maxIndicators)))
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, rest yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		r.reportSyntax(at, text, err)
		return nil
	}
	// The decoder finds a second document where split does not: in a substituted
	// value, or after one of YAML's unusual line ends.
	if err := decoder.Decode(&rest); err == nil {
		r.report(at.onLine(rest.Line).problem("", "a second YAML document begins here without a line of --- before it"))
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.reportSyntax(at, text, err)
		return nil
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return nil
	}
	node := root.Content[0]
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return nil
	}
	return node
}

var syntaxError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// reportSyntax reports an error of the parser with the line that it is about. The
// parser counts from 0 in some errors, from 1 in others, and omits line 0.
func (r *renderer) reportSyntax(at place, text []byte, err error) {
	line, cause := 1, err.Error()
	if found := syntaxError.FindStringSubmatch(cause); found != nil {
		cause = found[2]
		switch n, _ := strconv.Atoi(found[1]); {
		case strings.HasPrefix(cause, "did not find expected"), strings.HasPrefix(cause, "found a tab character"):
			line = n + 1
		case n > 0:
			line = n
		case strings.HasPrefix(cause, "unknown anchor '"):
			anchor, _, _ := strings.Cut(strings.TrimPrefix(cause, "unknown anchor '"), "'")
			line = lineOf(text, bytes.Index(text, []byte("*"+anchor)))
		default:
			line = lineOf(text, bytes.IndexFunc(text, forbidden))
		}
	}
	// The parser reports the early end of a document after its last line.
	last := lineOf(text, max(len(text)-1, 0))
	r.report(at.onLine(min(line, last)).problem("", "not valid YAML: "+cause))
}

// forbidden reports characters at which the parser stops without saying where.
func forbidden(c rune) bool {
	return c == utf8.RuneError || c != '\n' && c != '\r' && c != '\t' && unicode.IsControl(c)
}

// lineOf returns the line of an offset, counted from 1; a negative offset is on
// line 1.
func lineOf(text []byte, offset int) int {
	return 1 + bytes.Count(text[:max(offset, 0)], []byte("\n"))
}
