package act

import (
	"errors"
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

func TestInventories_tell_what_each_revision_has_applied_without_what_was_retained_for_it(t *testing.T) {
	kept := listed(3, "a", "b")
	kept.Entries[1].Retained = true
	e := seeing(t, kept, listed(1, "old"))
	got := e.Inventories()
	if !got.Seen || got.Err != nil || len(got.Of) != 2 || got.Of[0].Number != 1 || got.Of[1].Number != 3 {
		t.Fatalf("%+v", got)
	}
	if o := got.Of[1].Objects; len(o) != 1 || o[0].Key.Name != "a" || o[0].Component != "core" {
		t.Errorf("revision 3 has %+v", o)
	}
	e.inventories.Synced = false
	e.inventories.Err = errors.New("no watch")
	if got := e.Inventories(); got.Seen || got.Err == nil {
		t.Errorf("while they are not seen: %+v", got)
	}
}
