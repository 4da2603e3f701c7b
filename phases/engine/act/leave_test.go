package act

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

func TestLook_at_what_is_left_alone(t *testing.T) {
	key := decide.KeyOf(objects.Settings()).Identity()
	edited := enginetest.Applied()
	_ = unstructured.SetNestedField(edited.Object, "2", "data", "a")
	for name, row := range map[string]struct {
		actual            *unstructured.Unstructured
		current           int64
		applied, complete bool
		says              string
	}{
		"as it should be, in a newer revision": {enginetest.Applied(), 0, true, true, "is left alone by anna"},
		"edited, in a newer revision":          {edited, 0, false, false, "is left alone by anna; it differs in .data.a"},
		"edited, in the one that is installed": {edited, enginetest.Number, true, true, "is left alone by anna; it differs in .data.a"},
		"absent, in a newer revision":          {nil, 0, false, false, "is left alone by anna; it is not there"},
		"absent, in the one that is installed": {nil, enginetest.Number, true, true, "is left alone by anna; it is not there"},
	} {
		e := seeing(t)
		var shown []*unstructured.Unstructured
		if row.actual != nil {
			shown = append(shown, row.actual)
		}
		shows(e, see.Resource{}, objects.Settings(), shown...)
		rev := enginetest.Revision(enginetest.Number, objects.Settings())
		e.Watch(rev)
		e.Look(rev)
		e.Note(Noted{Current: row.current, LeftAlone: map[decide.Key]string{key: "by anna"}})
		o := e.Look(rev).Waves[0].Objects[0]
		if o.Action != decide.LeftAlone || o.Applied() != row.applied || o.Complete() != row.complete || !strings.HasPrefix(o.Why, row.says) {
			t.Errorf("%s: %s (%s), applied %v, complete %v", name, o.Action, o.Why, o.Applied(), o.Complete())
		}
		p, err := e.plan(rev)
		if err != nil {
			t.Fatal(err)
		}
		run := &run{e: e, p: p}
		if todo := run.todo(p.targets, contents); len(todo) > 0 {
			t.Errorf("%s: there is work to do", name)
		}
		e.Note(Noted{Current: row.current})
		if o := e.Look(rev).Waves[0].Objects[0]; o.Action == decide.LeftAlone || o.Left != nil {
			t.Errorf("%s: it is left alone after the end", name)
		}
		if todo := run.todo(p.targets, contents); len(todo) != 1 && row.says != "is left alone by anna" {
			t.Errorf("%s: there are %d things to do after the end", name, len(todo))
		}
	}
}

func TestLeftAlone_with_what_it_holds(t *testing.T) {
	e := seeing(t)
	e.Note(Noted{LeftAlone: map[decide.Key]string{
		{Kind: "ConfigMap", Namespace: "n", Name: "a"}: "by anna", {Group: "test", Kind: "A", Namespace: "m", Name: "b"}: "by anna",
	}})
	crd := definitionOfOthers(t, "")
	for _, row := range []struct {
		c    decide.Candidate
		want string
	}{
		{decide.Candidate{Key: decide.Key{Version: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}}, "is left alone by anna"},
		{decide.Candidate{Key: decide.Key{Version: "v1", Kind: "ConfigMap", Namespace: "n", Name: "b"}}, ""},
		{decide.Candidate{Key: decide.Key{Version: "v1", Kind: "Namespace", Name: "n"}}, "holds ConfigMap n/a, which is left alone by anna"},
		{decide.Candidate{Key: decide.Key{Version: "v1", Kind: "Namespace", Name: "other"}}, ""},
		{decide.Candidate{Key: decide.KeyOf(crd), Actual: crd}, "holds A m/b, which is left alone by anna"},
		{decide.Candidate{Key: decide.KeyOf(crd)}, ""},
	} {
		if got := e.leftAlone(&inventory.Candidate{Candidate: row.c}); got != row.want {
			t.Errorf("%s: %q, want %q", row.c.Key, got, row.want)
		}
	}
}

func TestToRelease_leaves_out_what_is_left_alone(t *testing.T) {
	e := seeing(t)
	crd := definitionOfOthers(t, "")
	w := &see.Watch{Cluster: e.cluster, Synced: true}
	w.Wrote(see.ObjectFrom(crd))
	e.unmanagedWatches = map[string]*see.Watch{crdName: w}
	e.Note(Noted{Unmanaged: []string{crdName}})
	if len(e.toRelease()) != 1 {
		t.Fatal("it is not let go of at all")
	}
	e.Note(Noted{Unmanaged: []string{crdName}, LeftAlone: map[decide.Key]string{decide.KeyOf(crd).Identity(): "by anna"}})
	if len(e.toRelease()) != 0 {
		t.Error("it is let go of")
	}
}
