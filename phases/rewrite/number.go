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
	numberStates

	numberEnd   = numberStates
	numberWrong = numberStates + 1
)

// What a byte is to a number.
const (
	otherByte = iota
	zeroByte
	digitByte
	minusByte
	plusByte
	pointByte
	exponentByte
	numberBytes
)

// numberBytesOf says what each byte is, numberNext where each leads.
var (
	numberBytesOf = newNumberBytes()
	numberNext    = newNumberNext()
)

func newNumberBytes() (kinds [256]uint8) {
	for c := '1'; c <= '9'; c++ {
		kinds[c] = digitByte
	}
	kinds['0'], kinds['-'], kinds['+'], kinds['.'], kinds['e'], kinds['E'] = zeroByte, minusByte, plusByte, pointByte, exponentByte, exponentByte
	return kinds
}

func newNumberNext() (next [numberStates][numberBytes]numberState) {
	for from := range next {
		for kind := range next[from] {
			next[from][kind] = numberWrong
			if numberState(from).whole() {
				next[from][kind] = numberEnd
			}
		}
	}
	digits := func(to numberState, from ...numberState) {
		for _, state := range from {
			next[state][zeroByte], next[state][digitByte] = to, to
		}
	}
	digits(numberInteger, numberStart, numberMinus, numberInteger)
	digits(numberFraction, numberPoint, numberFraction)
	digits(numberExponent, numberE, numberSign, numberExponent)
	next[numberStart][minusByte] = numberMinus
	next[numberStart][zeroByte], next[numberMinus][zeroByte] = numberZero, numberZero
	next[numberZero][pointByte], next[numberInteger][pointByte] = numberPoint, numberPoint
	for _, state := range []numberState{numberZero, numberInteger, numberFraction} {
		next[state][exponentByte] = numberE
	}
	next[numberE][plusByte], next[numberE][minusByte] = numberSign, numberSign
	return next
}

// whole says whether a number may end here.
func (n numberState) whole() bool {
	return n == numberZero || n == numberInteger || n == numberFraction || n == numberExponent
}

func (s *scanner) digits() error {
	for ; s.pos < len(s.in); s.pos++ {
		next := numberNext[s.number][numberBytesOf[s.in[s.pos]]]
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
