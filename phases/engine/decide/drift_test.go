package decide

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

func fields(t *testing.T, json string) *fieldpath.Set {
	t.Helper()
	s := &fieldpath.Set{}
	if err := s.FromJSON(strings.NewReader(json)); err != nil {
		t.Fatal(err)
	}
	return s
}

func content(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if err := u.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"K","content":` + string(raw) + `}`)); err != nil {
		t.Fatal(err)
	}
	if inner, isMap := u.Object["content"].(map[string]any); isMap {
		u.Object = inner
	}
	return u
}

func TestDriftOf(t *testing.T) {
	rows := []struct {
		name, owned, wanted string
		actual              string // as wanted if empty
		missing, extra      string // paths, comma separated
	}{
		{name: "everything covered", owned: `{"f:a":{"f:b":{}}}`, wanted: `{a: {b: 1}}`},
		{name: "a whole map covered", owned: `{"f:a":{}}`, wanted: `{a: {b: 1, c: {d: 2}}}`},
		{name: "a map of which others took the only field", owned: `{"f:a":{}}`, wanted: `{a: {b: 1}}`, actual: `{a: {b: 2}}`, missing: ".a.b"},
		{name: "a whole list covered", owned: `{"f:a":{}}`, wanted: `{a: [1, 2]}`},
		{name: "a field missing", owned: `{"f:a":{"f:b":{}}}`, wanted: `{a: {b: 1, c: 2}}`, missing: ".a.c"},
		{name: "a whole branch missing names its leaves", owned: `{}`, wanted: `{a: {b: 1, c: {d: 2}}}`, missing: ".a.b,.a.c.d"},
		{name: "a field too many", owned: `{"f:a":{"f:b":{},"f:c":{}}}`, wanted: `{a: {b: 1}}`, extra: ".a.c"},
		{name: "a branch too many", owned: `{"f:a":{"f:b":{},"f:c":{"f:d":{}}}}`, wanted: `{a: {b: 1}}`, extra: ".a.c"},
		{name: "keyed items in another order", owned: `{"f:l":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}},"k:{\"name\":\"z\"}":{".":{},"f:name":{}}}}`, wanted: `{l: [{name: z}, {name: x}]}`},
		{name: "a keyed item missing", owned: `{"f:l":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}}`, wanted: `{l: [{name: x}, {name: z}]}`, missing: ".l"},
		{name: "a keyed item too many", owned: `{"f:l":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}},"k:{\"name\":\"z\"}":{".":{},"f:name":{}}}}`, wanted: `{l: [{name: x}]}`, extra: `.l[name="z"]`},
		{name: "a field of a keyed item missing", owned: `{"f:l":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}}}}`, wanted: `{l: [{name: x, v: 1}]}`, missing: `.l[name="x"].v`},
		{
			name:   "key fields left to defaults match anything, exact ones first",
			owned:  `{"f:p":{"k:{\"port\":53,\"protocol\":\"TCP\"}":{".":{},"f:port":{}},"k:{\"port\":53,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:protocol":{}}}}`,
			wanted: `{p: [{port: 53}, {port: 53, protocol: UDP}]}`,
		},
		{name: "set items", owned: `{"f:s":{"v:\"a\"":{},"v:\"b\"":{}}}`, wanted: `{s: [b, a]}`},
		{name: "a set item missing and one too many", owned: `{"f:s":{"v:\"a\"":{},"v:\"b\"":{}}}`, wanted: `{s: [b, c]}`, missing: ".s", extra: `.s[="a"]`},
		{name: "an empty value that the server dropped", owned: `{"f:a":{}}`, wanted: `{a: 1, e: {}, l: [], s: ""}`, actual: `{a: 1}`},
		{name: "an empty value that somebody filled", owned: `{"f:a":{}}`, wanted: `{a: 1, e: {}}`, actual: `{a: 1, e: {x: y}}`, missing: ".e"},
		{name: "names and kinds are nobody's", owned: `{"f:a":{}}`, wanted: `{a: 1, metadata: {name: n, namespace: m}}`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			wanted := content(t, row.wanted)
			actual := wanted
			if row.actual != "" {
				actual = content(t, row.actual)
			}
			d := driftOf(fields(t, row.owned), wanted, actual)
			var missing, extra []string
			for _, m := range d.missing {
				missing = append(missing, m.String())
			}
			for _, e := range d.extra {
				extra = append(extra, e.String())
			}
			if got := strings.Join(missing, ","); got != row.missing {
				t.Errorf("missing %q, want %q", got, row.missing)
			}
			if got := strings.Join(extra, ","); got != row.extra {
				t.Errorf("extra %q, want %q", got, row.extra)
			}
		})
	}
}

func TestMissing_is_held(t *testing.T) {
	path := fieldpath.MakePathOrDie
	rows := []struct {
		name    string
		missing missing
		fields  string
		held    bool
	}{
		{"by the field itself", missing{path: path("a", "b")}, `{"f:a":{"f:b":{}}}`, true},
		{"by the whole around it", missing{path: path("a", "b")}, `{"f:a":{}}`, true},
		{"by something in it", missing{path: path("a")}, `{"f:a":{"f:b":{}}}`, true},
		{"not by its neighbour", missing{path: path("a", "b")}, `{"f:a":{"f:c":{}}}`, false},
		{"as an item, by its key", missing{path: path("l"), item: map[string]any{"name": "x"}}, `{"f:l":{"k:{\"name\":\"x\"}":{".":{}}}}`, true},
		{"not as an item, by another key", missing{path: path("l"), item: map[string]any{"name": "x"}}, `{"f:l":{"k:{\"name\":\"z\"}":{".":{}}}}`, false},
		{"as an item, by the whole list", missing{path: path("l"), item: map[string]any{"name": "x"}}, `{"f:l":{}}`, true},
	}
	for _, row := range rows {
		if got := row.missing.ownedIn(fields(t, row.fields)); got != row.held {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}

func TestCovers(t *testing.T) {
	rows := []struct {
		name, wanted, actual string
		differs              string // path, empty: covered
	}{
		{"equal", `{a: {b: [1, x]}}`, `{a: {b: [1, x]}}`, ""},
		{"defaults do not count", `{a: 1}`, `{a: 1, b: 2}`, ""},
		{"quantities", `{cpu: 1000m, memory: 1024Mi, n: 1}`, `{cpu: "1", memory: 1Gi, n: "1"}`, ""},
		{"whole numbers and fractions", `{a: 1.0}`, `{a: 1}`, ""},
		{"dropped empties", `{a: {}, b: [], c: ""}`, `{}`, ""},
		{"items with defaults in another order", `{l: [{n: a}, {n: b}]}`, `{l: [{n: b, d: 1}, {n: a, d: 1}]}`, ""},
		{"another value", `{a: {b: 1, c: x}}`, `{a: {b: 1, c: z}}`, ".a.c"},
		{"a missing field", `{a: {b: 1}}`, `{a: {}}`, ".a.b"},
		{"a missing item", `{l: [a, b]}`, `{l: [a]}`, ".l[1]"},
		{"another type", `{a: {b: 1}}`, `{a: text}`, ".a.b"},
		{"text that is no quantity", `{a: v1}`, `{a: v2}`, ".a"},
		{"false is not absent", `{a: false}`, `{}`, ".a"},
	}
	for _, row := range rows {
		wanted, actual := content(t, row.wanted).Object, content(t, row.actual).Object
		if got := covers(wanted, actual); got != (row.differs == "") {
			t.Errorf("%s: covered %t", row.name, got)
		} else if at := comparison(empty).differing("", wanted, actual); !got && at != row.differs {
			t.Errorf("%s: %s differs, want %s", row.name, at, row.differs)
		}
	}
	wanted := content(t, `{a: false, b: 0, l: [{n: a, readOnly: false}]}`).Object
	for actual, want := range map[string]bool{`{l: [{n: a}]}`: true, `{a: true, l: [{n: a}]}`: false, `{b: 1, l: [{n: a}]}`: false, `{l: []}`: false} {
		if got := ownedCovers(wanted, content(t, actual).Object); got != want {
			t.Errorf("of what is ours, %s covers: %t", actual, got)
		}
	}
}

func anyValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Int64Range(0, 3), func(v int64) any { return v }),
		rapid.Map(rapid.SampledFrom([]string{"", "x", "1", "y"}), func(v string) any { return v }),
		rapid.Map(rapid.Bool(), func(v bool) any { return v }),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(
		leaf,
		rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 3), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), anyValue(depth-1), 0, 3), func(v map[string]any) any { return v }),
	)
}

func TestCovers_itself_with_and_without_nulls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		before := (&unstructured.Unstructured{Object: map[string]any{"v": v}}).DeepCopy().Object["v"]
		clean, _ := withoutNulls(v)
		if !covers(clean, clean) || !covers(clean, v) {
			t.Fatalf("%v does not cover itself", v)
		}
		again, changed := withoutNulls(clean)
		if changed || !covers(again, clean) {
			t.Fatal("cleaning twice is not cleaning once")
		}
		if !covers(before, v) || !covers(v, before) {
			t.Fatal("cleaning changed its input")
		}
	})
}
