package rewrite

// numberState is where in a number the scanner is, as RFC 8259 writes them.
type numberState uint8

const (
	numberStart numberState = iota
	numberMinus
	numberZero
	numberInteger
	numberPoint
	numberFraction
	numberE
	numberSign
	numberExponent
	numberEnd
	numberWrong
)

// whole says whether a number may end here.
func (n numberState) whole() bool {
	return n == numberZero || n == numberInteger || n == numberFraction || n == numberExponent
}

func (n numberState) next(c byte) numberState {
	digit := c >= '0' && c <= '9'
	switch {
	case n == numberStart && c == '-':
		return numberMinus
	case n <= numberMinus && c == '0':
		return numberZero
	case n <= numberMinus && digit, n == numberInteger && digit:
		return numberInteger
	case (n == numberZero || n == numberInteger) && c == '.':
		return numberPoint
	case (n == numberPoint || n == numberFraction) && digit:
		return numberFraction
	case (n == numberZero || n == numberInteger || n == numberFraction) && (c == 'e' || c == 'E'):
		return numberE
	case n == numberE && (c == '+' || c == '-'):
		return numberSign
	case n >= numberE && n <= numberExponent && digit:
		return numberExponent
	case n.whole():
		return numberEnd
	}
	return numberWrong
}

func (s *scanner) digits() error {
	for ; s.pos < len(s.in); s.pos++ {
		next := s.number.next(s.in[s.pos])
		if next == numberWrong {
			return s.unexpected(s.in[s.pos])
		}
		if next == numberEnd {
			s.ended()
			return nil
		}
		s.number = next
	}
	return nil
}
