package manual

import "testing"

func TestRoff_leaves_nothing_that_has_a_meaning(t *testing.T) {
	if got, want := Roff(`.a \b -c`), `\&.a \eb \-c`; got != want {
		t.Errorf("%s is written, want %s", got, want)
	}
}
