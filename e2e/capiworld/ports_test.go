package capiworld

import "testing"

func TestTakePorts_gives_no_two_worlds_the_same_ones_though_neither_has_opened_an_endpoint_yet(t *testing.T) {
	one, err := takePorts()
	if err != nil {
		t.Fatal(err)
	}
	other, err := takePorts()
	if err != nil {
		t.Fatal(err)
	}
	if one.first == other.first {
		t.Errorf("both begin at %d", one.first)
	}
	for _, taken := range []ports{one, other, {}} {
		if err := taken.give(); err != nil {
			t.Error(err)
		}
	}
}
