package release

import (
	"strings"
	"testing"
)

func TestNotBack_refuses_what_is_older_than_a_release_that_was_begun_and_nothing_that_cannot_be_compared(t *testing.T) {
	for _, row := range []struct {
		begun, to string
		refused   bool
	}{
		{"4.22.5", "4.22.4", true}, {"4.22.5", "4.22.5", false}, {"4.22.5", "4.23.0", false}, {"", "4.22.4", false}, {"4.22.5", "?", false},
	} {
		err := NotBack(row.begun, row.to)
		if (err != nil) != row.refused || err != nil && !strings.Contains(err.Error(), "from 4.22.5 to 4.22.4: it has begun to go to 4.22.5") {
			t.Errorf("from %q to %q: %v", row.begun, row.to, err)
		}
	}
}
