package rewrite

import "unicode/utf8"

// message reads on in a string for people, run by run.
func (s *scanner) message() (more bool, err error) {
	for s.pos < len(s.in) {
		if s.in[s.pos] == '"' {
			s.pos++
			s.overlong = false
			s.ended()
			return false, nil
		}
		char, size, err := s.char(s.pos)
		if err != nil || size == 0 {
			return true, err
		}
		switch {
		case !inRun(char):
			s.overlong = false
			s.pos += size
		case s.overlong:
			s.pos += size
		default:
			if more, err := s.oneRun(); err != nil || more {
				return true, err
			}
		}
	}
	return false, nil
}

// oneRun reads a whole run. A longer one than any text of interest is read over.
func (s *scanner) oneRun() (more bool, err error) {
	run := s.scratch[:0]
	i := s.pos
	for {
		if i-s.pos > maxText {
			s.overlong = true
			break
		}
		if i == len(s.in) {
			return true, nil
		}
		char, size, err := s.char(i)
		if err != nil || size == 0 {
			return true, err
		}
		if !inRun(char) {
			break
		}
		run = append(run, char)
		i += size
	}
	s.scratch = run
	if from, to := privateGroup(run); to > 0 && !s.overlong {
		start := s.pos
		s.replace(start+written(s.in[start:i], from), start+written(s.in[start:i], to), Standard)
	}
	s.pos = i
	return false, nil
}

// char is the character of a string at in[i], and how long it is as it is
// written: 0 if it is not there in whole. What is not ASCII counts as one byte
// that is in no run.
func (s *scanner) char(i int) (c byte, size int, err error) {
	switch c = s.in[i]; {
	case c == '\\':
		end := escapeEnd(s.in, i)
		if end <= 0 {
			return 0, 0, s.badEscape(end)
		}
		r, _ := unescape(s.in[i:end])
		if r >= utf8.RuneSelf {
			r = 0
		}
		return byte(r), end - i, nil
	case c < ' ':
		return 0, 0, s.unexpected(c)
	}
	return c, 1, nil
}
