package act

import (
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
)

func orphanNames(t *testing.T, e *Engine, keep *decide.Revision) string {
	t.Helper()
	if _, err := e.plan(keep); err != nil {
		e.Watch(keep)
	}
	p, err := e.plan(keep)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := e.orphansLocked(p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range entries {
		names = append(names, x.Key.Name)
	}
	return strings.Join(names, " ")
}

func TestOrphans_tells_what_older_inventories_have_left(t *testing.T) {
	e, rev := seeing(t, listed(1, "a", "b")), enginetest.Revision(2)
	e.Watch(rev)
	if o := e.Orphans(rev); !o.Seen || len(o.Open) != 2 || len(o.Retained) != 0 || !slices.Equal(o.Revisions, []int64{1}) {
		t.Errorf("%+v", o)
	}
}

func TestTeardown_never_deletes_what_a_revision_has_that_is_not_older(t *testing.T) {
	keep, next := enginetest.Revision(3, enginetest.Made(t, "v1 ConfigMap")...), enginetest.Revision(4, enginetest.Made(t, "v1 ConfigMap", "v1 ConfigMap")...)
	e := seeing(t, listed(2, "o0", "o1", "o2"))
	if got := orphanNames(t, e, keep); got != "o1 o2" {
		t.Errorf("before the next revision: %q", got)
	}
	e.Watch(keep, next)
	if got := orphanNames(t, e, keep); got != "o2" {
		t.Errorf("with the next revision: %q", got)
	}
	planned, err := e.plan(keep)
	if err != nil {
		t.Fatal(err)
	}
	pass := &prunePass{e: e, keep: planned}
	if key := next.Components[0].Keys()[1]; pass.live(func(p *plan) bool { return p.keys[key.Identity()] != nil }) == "" {
		t.Errorf("%s may be deleted although a revision has it that came while pruning", key)
	}
}
