package stub_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/stub"
)

// object and list are JSON as it is read without knowing any type.
type (
	object = map[string]any
	list   = []any
)

func TestEachLegalConfigConvertsWithAllThatItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := drawnConfig(t)
		text, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		result, err := stub.Convert(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		said, kept := said2(read(t, text)), said3(read(t, result))
		for _, what := range slices.Sorted(maps.Keys(said)) {
			if kept[what] != said[what] {
				t.Errorf("%s is %q, and was %q", what, kept[what], said[what])
			}
			delete(kept, what)
		}
		if len(kept) > 0 {
			t.Errorf("there is more than was: %v", kept)
		}
		if t.Failed() {
			t.Fatalf("of %s\nit made %s", text, result)
		}
		again, err := stub.Convert(text)
		if err != nil || !bytes.Equal(again, result) {
			t.Fatalf("once more it is %s, %v", again, err)
		}
		if twice, err := stub.Convert(result); err != nil || !bytes.Equal(twice, result) {
			t.Fatalf("what it became becomes %s, %v", twice, err)
		}
	})
}

func read(t *rapid.T, text []byte) object {
	var config object
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// TestNoDamageMakesItPanicOrTell changes a legal config in one place, and looks for the password in what is told.
func TestNoDamageMakesItPanicOrTell(t *testing.T) {
	whole := spec2(onVar + `,"files":[` + hunterFile + `]},"passwd":{"users":[{"name":"core","passwordHash":"hunter2"}]}`)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(whole)
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		to := rapid.IntRange(at, min(len(text), at+20)).Draw(t, "to")
		damage := rapid.SampledFrom([]string{"", "null", "{}", "[]", `"hunter2"`, "-1", "}", ",", "\\", "\x00", `"`}).Draw(t, "damage")
		text = slices.Concat(text[:at], []byte(damage), text[to:])
		if _, err := stub.Convert(text); err != nil && bytes.Contains([]byte(err.Error()), []byte(secret)) {
			t.Fatal(err)
		}
	})
}
