package newest

import "testing"

func TestVersion(t *testing.T) {
	for versions, want := range map[[2]string]bool{
		{"10", "9"}: true, {"9", "10"}: false, {"9", "9"}: false, {"nine", "10"}: true,
	} {
		if got := Version(versions[0], versions[1]); got != want {
			t.Errorf("%v: %v", versions, got)
		}
	}
}

func TestBehind(t *testing.T) {
	for versions, want := range map[[2]string]bool{
		{"10", "9"}: false, {"9", "10"}: true, {"9", "9"}: false, {"nine", "10"}: false,
	} {
		if got := Behind(versions[0], versions[1]); got != want {
			t.Errorf("%v: %v", versions, got)
		}
	}
}
