package rewrite

import (
	"net/http"
	"strconv"
	"strings"
)

// aPatch is a JSON Patch of an object: the value of an operation is what is at the
// place that its path points to.
func aPatch(root *place) *place {
	operation := &place{look: func(_ Direction, b []byte) (*place, verdict, error) {
		return lookAtOperation(root, b)
	}}
	return each(operation)
}

// lookAtOperation sees an operation. If its value does not fit into what is held,
// the rest has to be said before it.
func lookAtOperation(root *place, b []byte) (*place, verdict, error) {
	said := map[string]string{}
	closed := members(b, func(key, value []byte) { said[string(key)] = text(value) })
	_, hasOp := said["op"]
	path, hasPath := said["path"]
	_, hasValue := said["value"]
	switch {
	case !closed && len(b) < maxHeld:
		return nil, undecided, nil
	case !closed && (!hasOp || !hasPath || hasValue):
		return nil, keep, patchError("an operation is longer than 64 KiB: say op and path before value")
	}
	at, err := root.at(path)
	if err != nil {
		return nil, keep, err
	}
	if op := said["op"]; op == "copy" || op == "move" {
		from, err := root.at(said["from"])
		if err != nil {
			return nil, keep, err
		}
		if !from.isLike(at) {
			return nil, keep, patchError(op + " from " + said["from"] + " to " + path + " would make a group of a text that is none, " +
				"or the other way: write the value with add or replace")
		}
	}
	operation := object(in("op", nil), in("from", nil), in("path", nil), in("value", at))
	operation.once = true
	return operation, keep, nil
}

// at is what is where a pointer of RFC 6901 points to.
func (p *place) at(pointer string) (*place, error) {
	if pointer == "" {
		return p, nil
	}
	tokens := strings.Split(pointer, "/")
	if tokens[0] != "" {
		return nil, patchError("the path " + pointer + " does not begin with a slash")
	}
	for _, token := range tokens[1:] {
		if p == nil {
			return nil, nil
		}
		token = pointerText.Replace(token)
		below := p.below([]byte(token))
		if p.items != nil && isIndex(token) {
			below = p.items
		}
		p = below
	}
	return p, nil
}

var pointerText = strings.NewReplacer("~1", "/", "~0", "~")

// isIndex says whether a token of a pointer is an index of an array, or its end. API servers read it as Go reads a decimal number, so that
// +0 is the first; what is none of theirs is refused there.
func isIndex(token string) bool {
	_, err := strconv.Atoi(token)
	return token == "-" || err == nil
}

func patchError(text string) *Error {
	return &Error{Code: http.StatusBadRequest, Text: "the JSON Patch is refused: " + text, Offset: -1}
}
