package render

import "bytes"

// document is one YAML document of a file.
type document struct {
	number int // counted from 1, empty documents included
	line   int // in the file, of the first line of text
	text   []byte
}

// split cuts a file at the marker lines `---` and `...`. YAML allows neither at
// the beginning of a line inside a scalar, so an indented `---` in a block
// scalar is text and one in the first column never is. A `---` line stays with
// the document that it opens, as do the comments and directives before it.
func split(file []byte) []document {
	var documents []document
	start, line := 0, 1
	startLine, open := 1, false // open: there is more than comments since start
	emit := func(end int) {
		documents = append(documents, document{number: len(documents) + 1, line: startLine, text: file[start:end]})
	}
	for at := 0; at < len(file) && len(documents) <= maxDocuments; line++ {
		next := len(file)
		if i := bytes.IndexByte(file[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		text := file[at:next]
		switch {
		case isMarker(text, "---"):
			if open {
				emit(at)
				start, startLine = at, line
			}
			open = true
		case isMarker(text, "..."):
			emit(at)
			start, startLine, open = next, line+1, false
		case !open:
			trimmed := bytes.TrimSpace(text)
			open = len(trimmed) > 0 && trimmed[0] != '#' && text[0] != '%'
		}
		at = next
	}
	if start < len(file) && len(documents) <= maxDocuments {
		emit(len(file))
	}
	return documents
}

// isMarker reports whether a line is the marker alone or followed by white space.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}
