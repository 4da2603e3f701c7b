package rewrite

import "io"

// NewReader reads a document of a class for the tests of both ways.
func NewReader(src io.Reader, d Direction, class Class, shape string) *Reader {
	switch {
	case shape == "watch":
		root := watches[class]
		if d == ToServer {
			root = object(in("object", sentObjects[class]))
		}
		return newReader(src, d, root, true)
	case shape == "patch":
		return newReader(src, d, aPatch(anObject(class)), false)
	case d == ToServer && shape == "list":
		if class == MappedKinds {
			return newReader(src, d, sentObjects[class], false)
		}
		return newReader(src, d, object(in("items", each(sentObjects[class]))), false)
	case d == ToServer:
		return newReader(src, d, sentObjects[class], false)
	case shape == "list":
		return newReader(src, d, lists[class], false)
	}
	return newReader(src, d, answers[class], false)
}

// Held is how many bytes of buffers a reader holds.
func (r *Reader) Held() int {
	return held(r.small) + held(r.large) + held(r.decided) + cap(r.scanner.scratch)
}

func held(buffer *[]byte) int {
	if buffer == nil {
		return 0
	}
	return cap(*buffer)
}
