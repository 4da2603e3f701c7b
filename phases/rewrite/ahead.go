package rewrite

// maxHeld bounds what is held of a document to see what an object is about.
const maxHeld = 64 << 10

// filter reads the beginning of a member that may be left out: in[from:] begins
// with it, after the comma at pos if there is one.
func (s *scanner) filter(top *frame, from int) (more bool, err error) {
	start := skipSpace(s.in, from)
	if start == len(s.in) {
		return true, s.tooFar(nil)
	}
	found := keep
	switch c := s.in[start]; {
	case top.array && c == '{':
		found = top.place.dropItem(s.in[start:])
	case !top.array && c == '"':
		end, escaped, err := s.held(start)
		if err != nil {
			return false, err
		}
		switch {
		case end == 0:
			found = undecided
		case end > 0 && top.place.dropKey(s.decoded(s.in[start+1:end], escaped)):
			found = drop
		}
	}
	if found == undecided {
		return true, s.tooFar(nil)
	}
	comma := from > s.pos
	if found == drop || comma && !top.kept {
		// The member goes with the comma before it, the first one with that after it.
		s.flush()
		s.copied = start
	}
	// What is in a member that is left out goes with it, and does not end it.
	if found == drop && s.dropping == 0 {
		s.dropping = len(s.stack)
	}
	top.kept = top.kept || found == keep
	s.pos = start
	s.state = atKey
	if top.array {
		s.state, s.next = atValue, top.place.items
	}
	return false, nil
}

// members calls f with the members of the object that b begins with, as far as
// they are there in whole: the key decoded, the value as it is written. closed
// says that the object's end is there.
func members(b []byte, f func(key, value []byte)) (closed bool) {
	i := skipSpace(b, 1)
	for i < len(b) && b[i] != '}' {
		if b[i] != '"' {
			return false
		}
		end := valueEnd(b, i)
		colon := skipSpace(b, end)
		if end == 0 || colon >= len(b) || b[colon] != ':' {
			return false
		}
		value := skipSpace(b, colon+1)
		valueEnd := valueEnd(b, value)
		if valueEnd == 0 {
			return false
		}
		f(appendDecoded(nil, b[i+1:end-1]), b[value:valueEnd])
		i = skipSpace(b, valueEnd)
		if i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return i < len(b)
}

// elements calls f with the elements of the array that is b.
func elements(b []byte, f func(value []byte)) {
	i := skipSpace(b, 1)
	for i < len(b) && b[i] != ']' {
		end := valueEnd(b, i)
		if end == 0 {
			return
		}
		f(b[i:end])
		i = skipSpace(b, end)
		if i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd is where the value at b[i] ends, or 0 if it does not end in b. What is
// no JSON has any end: the scanner will refuse it.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; c {
		case '"':
			if i = stringEnd(b, i); i == 0 {
				return 0
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			i++
			if depth == 0 {
				return 0
			}
			continue
		default:
			end := scalarEnd(b, i)
			if end == i || end == len(b) {
				return 0
			}
			i = end
		}
		if depth <= 0 {
			return i
		}
	}
	return 0
}

func stringEnd(b []byte, i int) int {
	for i = plainEnd(b, i+1); i < len(b); i = plainEnd(b, i) {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = escapeEnd(b, i); i <= 0 {
				return 0
			}
		default:
			return 0
		}
	}
	return 0
}

func scalarEnd(b []byte, i int) int {
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] >= 'a' && b[i] <= 'z' || b[i] == '-' || b[i] == '+' || b[i] == '.' || b[i] == 'E') {
		i++
	}
	if i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		return len(b)
	}
	return i
}

// text is what a value says if it is a string.
func text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	return string(appendDecoded(nil, value[1:len(value)-1]))
}
