package ignition

import "fmt"

// valuesMost is how many values a config may have: in memory an empty one takes fifty times its length and more, so that a small Secret
// could make the process run out of memory. A config of a bootstrap machine has some thousands.
const valuesMost = 100_000

// TooManyValuesError is a config that is not parsed, since it has more values than one may have.
type TooManyValuesError struct{}

func (TooManyValuesError) Error() string {
	return fmt.Sprintf("the Ignition config has more than the %d values allowed", valuesMost)
}

// Terminal is true: the same bytes are refused again.
func (TooManyValuesError) Terminal() bool { return true }

// bounded is a TooManyValuesError if a config is not to be parsed.
func bounded(config []byte) error {
	if values(config) > valuesMost {
		return TooManyValuesError{}
	}
	return nil
}

// values is about how many values JSON has: its commas and opening brackets, but for those in strings.
func values(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // what is escaped ends no string
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
