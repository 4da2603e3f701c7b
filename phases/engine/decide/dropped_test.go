package decide

import (
	"maps"
	"slices"
	"testing"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestDropped_are_the_zeros_that_an_answer_lacks(t *testing.T) {
	for name, row := range map[string]struct {
		payload, answer string
		want            []string
	}{
		"nothing":         {`{a: 1, b: false}`, `{a: 1, b: false, c: 2}`, nil},
		"false and 0":     {`{a: {b: false, c: 0, d: 1}}`, `{a: {d: 1}}`, []string{".a.b", ".a.c"}},
		"of items":        {`{l: [{name: x, ro: false}, {name: y, ro: false}]}`, `{l: [{name: y, ro: false}, {name: x}]}`, []string{".l[0].ro"}},
		"what is not 0":   {`{a: 1}`, `{}`, nil},
		"what is empty":   {`{a: "", b: {}}`, `{}`, nil},
		"another content": {`{a: false}`, `{a: true}`, nil},
	} {
		got := Dropped(content(t, row.payload).Object, content(t, row.answer).Object)
		if paths := slices.Sorted(maps.Keys(got)); got == nil || !slices.Equal(paths, row.want) {
			t.Errorf("%s: %v, want %v", name, paths, row.want)
		}
	}
}

func TestReconcile_believes_that_a_zero_is_dropped_only_of_the_answer_to_a_write(t *testing.T) {
	manifest := objects.Settings()
	manifest.Object["data"] = map[string]any{"a": false, "b": int64(0)}
	fields := `{"f:data":{"f:a":{},"f:b":{}},` + objects.NoData[1:]
	for name, row := range map[string]struct {
		dropped    map[string]bool
		actual     map[string]any
		action     Action
		deferrable bool
		field      string
	}{
		"all is there":                  {nil, map[string]any{"a": false, "b": int64(0)}, Idle, false, ""},
		"nobody knows":                  {nil, map[string]any{"b": int64(0)}, Updated, true, ""},
		"it was dropped":                {map[string]bool{".data.a": true}, map[string]any{"b": int64(0)}, Idle, false, ""},
		"it was not":                    {map[string]bool{}, map[string]any{"b": int64(0)}, Updated, false, ".data.a"},
		"another one was":               {map[string]bool{".data.a": true}, map[string]any{}, Updated, false, ".data.b"},
		"it was, and has another value": {map[string]bool{".data.a": true}, map[string]any{"a": true, "b": int64(0)}, Updated, false, ".data.a"},
	} {
		want := manifestOf(manifest).Desired(testStamp)
		actual := want.Payload.DeepCopy()
		actual.SetUID("uid")
		actual.Object["data"] = row.actual
		entryOf(testManager, "Apply", fields)(actual)
		want.Dropped = row.dropped
		v := Reconcile(want, actual, testNumber, testUs)
		if v.Action != row.action || v.Deferrable() != row.deferrable || v.Field != row.field {
			t.Errorf("%s: %s because %q, of %q", name, v.Action, v.Why, v.Field)
		}
	}
}
