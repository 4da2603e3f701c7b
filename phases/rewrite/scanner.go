package rewrite

import "fmt"

// What bounds a document: how deep one may be that a client sends, how deep one
// that a server answers, and how long the text of a key or group may be as it is
// written. A longer one is none.
const (
	maxSent = 1000
	// A list is read that holds an object which came in another way: no more is
	// refused than what servers and clients in Go refuse to read.
	maxAnswered = 10_000
	maxText     = 4096
)

// What the scanner expects, or is in the middle of.
type state uint8

const (
	atValue state = iota
	atFirst
	atKey
	atFirstKey
	atColon
	afterValue
	inText
	inMessage
	inNumber
	between
)

type frame struct {
	place *place
	array bool
	// kept says that a member was let through, where some are not.
	kept bool
	seen kind
}

// scanner reads JSON and rewrites it on the way. It is given text in pieces of
// any size; of what it has understood nothing but the path to the present point
// is kept.
type scanner struct {
	dir  Direction
	root *place
	// many says that documents follow one another.
	many bool

	// in[copied:pos] was understood and is to be copied, in[pos:] is still to be read.
	in          []byte
	copied, pos int
	// full says that in is not going to grow, so that what it has must suffice.
	full bool
	// out is what was decided; out[:whole] are whole documents.
	out   []byte
	whole int
	base  int64

	state state
	isKey bool
	// overlong says that a run in a message is too long to be a group.
	overlong bool
	number   numberState
	next     *place
	stack    []frame
	// dropping is the depth of the container whose member is being left out.
	dropping int

	documents     int
	otherPrefixes int
	scratch       []byte
}

// run reads as much of in as can be decided.
func (s *scanner) run() error {
	for s.pos < len(s.in) {
		more, err := s.step()
		if err != nil {
			s.flush()
			return err
		}
		if more {
			break
		}
	}
	s.flush()
	if s.state == between {
		s.whole = len(s.out)
	}
	return nil
}

// finish says whether the text may end here.
func (s *scanner) finish() error {
	if s.state == inNumber && len(s.stack) == 0 && s.number.whole() {
		s.ended()
	}
	if s.state == between && (s.documents > 0 || s.many) {
		return nil
	}
	return s.malformed("it ends in the middle")
}

// flush copies what was understood, or leaves it out.
func (s *scanner) flush() {
	if s.dropping == 0 {
		s.out = append(s.out, s.in[s.copied:s.pos]...)
	}
	s.copied = s.pos
}

// replace puts text where in[from:to] was.
func (s *scanner) replace(from, to int, text string) {
	if s.dropping == 0 {
		s.out = append(s.out, s.in[s.copied:from]...)
		s.out = append(s.out, text...)
	}
	s.copied = to
}

// step reads a token. It says that more text is needed if it cannot.
func (s *scanner) step() (more bool, err error) {
	switch s.state {
	case inText:
		return s.skipText(s.pos)
	case inMessage:
		return s.message()
	case inNumber:
		return false, s.digits()
	}
	c := s.in[s.pos]
	if c <= ' ' {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false, s.unexpected(c)
		}
		s.pos++
		return false, nil
	}
	switch s.state {
	case atValue:
		return s.value(c)
	case atKey:
		return s.key(c)
	case afterValue:
		return s.after(c)
	case atColon:
		if c != ':' {
			return false, s.unexpected(c)
		}
		s.pos++
		s.state = atValue
		return false, nil
	case atFirst, atFirstKey:
		return s.first(c)
	}
	return s.another(c)
}

// first reads what follows an opening bracket.
func (s *scanner) first(c byte) (more bool, err error) {
	top := &s.stack[len(s.stack)-1]
	if top.array && c == ']' || !top.array && c == '}' {
		s.close()
		return false, nil
	}
	if top.filtered() {
		return s.filter(top, s.pos)
	}
	if top.array {
		return s.value(c)
	}
	return s.key(c)
}

// after reads what follows a member.
func (s *scanner) after(c byte) (more bool, err error) {
	top := &s.stack[len(s.stack)-1]
	switch {
	case c == ',' && top.filtered():
		return s.filter(top, s.pos+1)
	case c == ',' && top.array:
		s.pos++
		s.state, s.next = atValue, nil
		if top.place != nil {
			s.next = top.place.items
		}
	case c == ',':
		s.pos++
		s.state = atKey
	case c == ']' && top.array, c == '}' && !top.array:
		s.close()
	default:
		return false, s.unexpected(c)
	}
	return false, nil
}

// another begins the next document, if there may be one.
func (s *scanner) another(c byte) (more bool, err error) {
	if !s.many && s.documents > 0 {
		return false, s.unexpected(c)
	}
	s.flush()
	s.whole = len(s.out)
	s.state, s.next = atValue, s.root
	return false, nil
}

func (s *scanner) value(c byte) (more bool, err error) {
	switch c {
	case '"':
		return s.text()
	case '{':
		below := s.next
		if below != nil && below.look != nil {
			seen, verdict, err := below.look(s.dir, s.in[s.pos:])
			if err != nil || verdict == undecided {
				return true, s.tooFar(err)
			}
			below = seen
		}
		return false, s.open(frame{place: below}, atFirstKey)
	case '[':
		err := s.open(frame{place: s.next, array: true}, atFirst)
		if s.next != nil {
			s.next = s.next.items
		}
		return false, err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	s.state, s.number = inNumber, numberStart
	return false, s.digits()
}

func (s *scanner) open(f frame, next state) error {
	deepest := maxAnswered
	if s.dir == ToServer {
		deepest = maxSent
	}
	if len(s.stack) == deepest {
		return s.malformed(fmt.Sprintf("it is deeper than %d levels", deepest))
	}
	s.stack = append(s.stack, f)
	s.pos++
	s.state = next
	return nil
}

func (s *scanner) close() {
	s.stack = s.stack[:len(s.stack)-1]
	s.pos++
	s.ended()
}

// ended notes that a value is complete.
func (s *scanner) ended() {
	if s.dropping == len(s.stack) && s.dropping > 0 {
		s.flush()
		s.dropping = 0
	}
	s.state = afterValue
	if len(s.stack) == 0 {
		s.state = between
		s.documents++
	}
}

func (s *scanner) literal(word string) (more bool, err error) {
	have := s.in[s.pos:min(len(s.in), s.pos+len(word))]
	if string(have) != word[:len(have)] {
		return false, s.unexpected(have[0])
	}
	if len(have) < len(word) {
		return true, nil
	}
	s.pos += len(word)
	s.ended()
	return false, nil
}

// tooFar is the error of what cannot be decided with the text that is held.
func (s *scanner) tooFar(err error) error {
	if err == nil && s.full && s.pos == 0 {
		err = s.malformed(fmt.Sprintf("what an object is about is more than %d bytes behind its start: say that first", maxHeld))
	}
	return err
}

func (s *scanner) unexpected(c byte) error {
	return s.malformed(fmt.Sprintf("%q is not expected", c))
}

// malformed is an error about the present point.
func (s *scanner) malformed(text string) error {
	return &Error{Code: s.dir.code(), Text: "the body is not the JSON that it should be: " + text, Offset: s.base + int64(s.pos)}
}
