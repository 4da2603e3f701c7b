package rewrite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainEnd is the index of the first byte from i on that a string does not hold
// as it is: a quote, a backslash, a control character; or the end of b.
func plainEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := w^(ones*'"'), w^(ones*'\\')
		// The lowest mark is right; what is above it may be carried over from it.
		marks := ((w - ones*' ') &^ w) | ((quote - ones) &^ quote) | ((backslash - ones) &^ backslash)
		if marks &= highs; marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '"' || b[i] == '\\' || b[i] < ' ' {
			return i
		}
	}
	return i
}

// escapeEnd is where the escape at b[i] ends: 0 if b ends before, -1 if it is none.
func escapeEnd(b []byte, i int) int {
	if i+1 >= len(b) {
		return 0
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(b) {
				return 0
			}
			if c := b[j] | 0x20; (b[j] < '0' || b[j] > '9') && (c < 'a' || c > 'f') {
				return -1
			}
		}
		return i + 6
	}
	return -1
}

// skipText reads on in a string of no interest.
func (s *scanner) skipText(i int) (more bool, err error) {
	s.state = inText
	for {
		i = plainEnd(s.in, i)
		s.pos = i
		if i == len(s.in) {
			return false, nil
		}
		switch c := s.in[i]; c {
		case '"':
			s.pos++
			s.textEnded()
			return false, nil
		case '\\':
			if i = escapeEnd(s.in, i); i <= 0 {
				return true, s.badEscape(i)
			}
		default:
			return false, s.unexpected(c)
		}
	}
}

func (s *scanner) textEnded() {
	if !s.isKey {
		s.ended()
		return
	}
	s.state = atColon
	if s.pos < len(s.in) && s.in[s.pos] == ':' {
		s.pos++
		s.state = atValue
	}
}

// badEscape is the error of an escape that is none; an escape that is not there in
// whole needs more text.
func (s *scanner) badEscape(end int) error {
	if end < 0 {
		return s.malformed("a string has an escape that is none")
	}
	return nil
}

// held finds the end of the string whose first quote is at from. end is 0 if it is
// not in the text yet, and -1 if it is too long to be of interest.
func (s *scanner) held(from int) (end int, escaped bool, err error) {
	i := from + 1
	for {
		i = plainEnd(s.in, i)
		if i-from > maxText {
			return -1, false, nil
		}
		if i == len(s.in) {
			return 0, false, nil
		}
		switch c := s.in[i]; c {
		case '"':
			return i, escaped, nil
		case '\\':
			escaped = true
			if i = escapeEnd(s.in, i); i <= 0 {
				return 0, false, s.badEscape(i)
			}
		default:
			return 0, false, s.unexpected(c)
		}
	}
}

// key reads the key of a member.
func (s *scanner) key(c byte) (more bool, err error) {
	if c != '"' {
		return false, s.unexpected(c)
	}
	s.isKey = true
	top := s.stack[len(s.stack)-1].place
	if top == nil {
		s.next = nil
		return s.skipText(s.pos + 1)
	}
	end, escaped, err := s.held(s.pos)
	if err != nil || end == 0 {
		return true, err
	}
	if end < 0 {
		s.next = top.other
		return s.skipText(s.pos + 1)
	}
	key := s.decoded(s.in[s.pos+1:end], escaped)
	s.next = top.below(key)
	if top.once && s.stack[len(s.stack)-1].repeated(key) {
		return false, s.malformed(fmt.Sprintf("%s is there twice", key))
	}
	if top.keyRule != noRule {
		if err := s.apply(top.keyRule, s.pos+1, end, escaped); err != nil {
			return false, err
		}
	}
	s.pos = end + 1
	s.textEnded()
	return false, nil
}

// text reads a string that is a value.
func (s *scanner) text() (more bool, err error) {
	s.isKey = false
	if s.next == nil || s.next.rule == noRule && s.next.sniff == 0 {
		return s.skipText(s.pos + 1)
	}
	if s.next.rule == messageRule {
		s.pos++
		s.state = inMessage
		return s.message()
	}
	end, escaped, err := s.held(s.pos)
	if err != nil || end == 0 {
		return true, err
	}
	if end < 0 {
		return s.skipText(s.pos + 1)
	}
	if s.next.sniff != 0 && len(s.stack) > 0 {
		s.stack[len(s.stack)-1].learn(s.next.sniff, s.decoded(s.in[s.pos+1:end], escaped))
	}
	if err := s.apply(s.next.rule, s.pos+1, end, escaped); err != nil {
		return false, err
	}
	s.pos = end + 1
	s.ended()
	return false, nil
}

// apply rewrites the string in[from:to] by a rule.
func (s *scanner) apply(r rule, from, to int, escaped bool) error {
	if r == noRule {
		return nil
	}
	raw := s.in[from:to]
	text := s.decoded(raw, escaped)
	if r == rootRule && s.dir == ToServer {
		if wrong := wrongGroup(text[:groupEnd(text)], s.dir.code()); wrong != nil {
			wrong.Offset = s.base + int64(from)
			return wrong
		}
	}
	edits, match := r.edits(s.dir, text)
	if match == OtherPrefix {
		s.otherPrefixes++
	}
	for _, edit := range edits {
		if edit.with == "" {
			continue
		}
		start, end := edit.from, edit.to
		if escaped {
			start, end = written(raw, start), written(raw, end)
		}
		s.replace(from+start, from+end, edit.with)
	}
	return nil
}

// decoded is what a string says. It is valid until the next call.
func (s *scanner) decoded(raw []byte, escaped bool) []byte {
	if !escaped {
		return raw
	}
	s.scratch = appendDecoded(s.scratch[:0], raw)
	return s.scratch
}

// appendDecoded decodes a string whose escapes are right.
func appendDecoded(dst, raw []byte) []byte {
	for len(raw) > 0 {
		plain := bytes.IndexByte(raw, '\\')
		if plain < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:plain]...)
		raw = raw[plain:]
		r, size := unescape(raw)
		dst = utf8.AppendRune(dst, r)
		raw = raw[size:]
	}
	return dst
}

// written is the index in a string as it is written of byte n of what it says. A
// character begins at n.
func written(raw []byte, n int) int {
	i := 0
	for n > 0 {
		size, width := 1, 1
		if raw[i] == '\\' {
			var r rune
			r, size = unescape(raw[i:])
			width = utf8.RuneLen(r)
		}
		i += size
		n -= width
	}
	return i
}

// unescape decodes the escape that raw begins with.
func unescape(raw []byte) (r rune, size int) {
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hexRune(raw[2:6])
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
			if pair := utf16.DecodeRune(r, hexRune(raw[8:12])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(raw[1]), 2
}

func hexRune(digits []byte) rune {
	n, err := strconv.ParseUint(string(digits), 16, 16)
	if err != nil {
		panic(fmt.Sprintf("%q was taken for an escape", digits))
	}
	return rune(n)
}
