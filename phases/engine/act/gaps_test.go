package act

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// withGaps is an engine that sees an inventory of revision 2 which lists a copy of another server, and has gaps.
func (s *groupsServer) withGaps(t *testing.T, silent ...string) *Engine {
	t.Helper()
	e := s.engine(t)
	obj, err := testPlace.ConfigMap(&inventory.Inventory{
		Revision: "two", Number: 2, ContentID: "c2", Adopted: true, Silent: silent,
		Entries: []inventory.Entry{{Group: "other.test", Version: "v1", Kind: "Copy", Namespace: "ns", Name: "listed", Component: "core", Wave: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.inventories.Wrote(see.ObjectFrom(obj))
	return e
}

// gapsOf are the gaps and entries of a stored inventory.
func gapsOf(t *testing.T, e *Engine, number int64) (silent, names []string) {
	t.Helper()
	s, found := e.storedOf(number)
	if !found || s.Inventory == nil {
		t.Fatalf("no inventory %d is stored: %v", number, s.Err)
	}
	for _, entry := range s.Inventory.Entries {
		names = append(names, entry.Name)
	}
	slices.Sort(names)
	return s.Inventory.Silent, names
}

func TestAdopt_keeps_a_gap_until_its_group_gives_a_list(t *testing.T) {
	forbidden, unknown, away := refused(http.StatusForbidden, metav1.StatusReasonForbidden), refused(http.StatusNotFound, metav1.StatusReasonNotFound), refused(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	found := of(marked("found", 2, true))
	for name, row := range map[string]struct {
		lists map[string]answer
		want  string
	}{
		"its server is away":             {map[string]answer{"copys": away}, "[other.test] [listed]"},
		"nobody may read any kind yet":   {map[string]answer{"copys": forbidden, "mores": forbidden}, "[other.test] [listed]"},
		"there is no kind yet":           {map[string]answer{"copys": unknown, "mores": unknown}, "[other.test] [listed]"},
		"what it answers is no list yet": {map[string]answer{"copys": ok("<html>"), "mores": ok("{}")}, "[other.test] [listed]"},
		"it answers":                     {map[string]answer{"copys": found}, "[] [found listed]"},
		"one kind of it never lists":     {map[string]answer{"copys": found, "mores": ok(`{"kind":"Status"}`)}, "[] [found listed]"},
		"one kind of it is silent":       {map[string]answer{"copys": found, "mores": away}, "[other.test] [listed]"},
	} {
		e := (&groupsServer{lists: row.lists}).withGaps(t, "other.test")
		if err := e.Adopt(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if silent, names := gapsOf(t, e, 2); fmt.Sprint(silent, names) != row.want {
			t.Errorf("%s: %v %v, want %s", name, silent, names, row.want)
		}
	}
}

func TestAdopt_keeps_a_gap_although_kube_apiserver_lists_kinds_of_the_same_group(t *testing.T) {
	e := (&groupsServer{lists: map[string]answer{"readings": refused(http.StatusForbidden, metav1.StatusReasonForbidden)}}).withGaps(t, "crd.test")
	if err := e.Adopt(t.Context()); err != nil {
		t.Error(err)
	}
	if silent, _ := gapsOf(t, e, 2); fmt.Sprint(silent) != "[crd.test]" {
		t.Errorf("silent are %v", silent)
	}
}

func TestAdopt_fills_the_gap_that_answers_while_another_stays(t *testing.T) {
	away := refused(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	s := &groupsServer{lists: map[string]answer{"copys": of(marked("found", 2, true)), "deeds": away}}
	e := s.withGaps(t, "other.test", "other2.test")
	for range 2 {
		if err := e.Adopt(t.Context()); err != nil {
			t.Error(err)
		}
		if silent, names := gapsOf(t, e, 2); fmt.Sprint(silent, names) != "[other2.test] [found listed]" {
			t.Errorf("%v %v", silent, names)
		}
	}
	if s.asked["deeds"] != 2 || s.asked["secrets"] != 1 {
		t.Errorf("asked is %v: the silent group once in each pass, all others once", s.asked)
	}
}

func TestAdopt_fills_a_gap_of_what_was_asked_once_only(t *testing.T) {
	away := refused(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
	s := &groupsServer{lists: map[string]answer{"deeds": away}}
	e := s.withGaps(t, "other.test")
	if err := e.Adopt(t.Context()); err != nil {
		t.Error(err)
	}
	if silent, _ := gapsOf(t, e, 2); len(silent) > 0 {
		t.Errorf("%v are silent, of which the inventory had nothing missing", silent)
	}
}

func TestAdopt_takes_a_gap_of_one_inventory_for_one_of_the_next(t *testing.T) {
	forbidden := refused(http.StatusForbidden, metav1.StatusReasonForbidden)
	e := (&groupsServer{lists: map[string]answer{"copys": forbidden, "mores": forbidden}}).withGaps(t, "other.test")
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Name: "three", Number: 3}); err != nil {
		t.Error(err)
	}
	for _, number := range []int64{2, 3} {
		if silent, _ := gapsOf(t, e, number); fmt.Sprint(silent) != "[other.test]" {
			t.Errorf("of %d: %v", number, silent)
		}
	}
}

func TestAdopt_leaves_a_gap_where_nobody_may_list_a_kind_and_lists_the_others_of_its_group(t *testing.T) {
	forbidden := refused(http.StatusForbidden, metav1.StatusReasonForbidden)
	s := &groupsServer{lists: map[string]answer{"things": forbidden, "copys": forbidden}}
	e := s.engine(t)
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Name: "two", Number: 2}); err != nil {
		t.Fatal(err)
	}
	if silent, _ := gapsOf(t, e, 2); fmt.Sprint(silent) != "[crd.test other.test]" || s.asked["mores"] == 0 {
		t.Errorf("silent are %v, asked was %v", silent, s.asked)
	}
	s.lists = nil
	if err := e.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if silent, _ := gapsOf(t, e, 2); len(silent) > 0 {
		t.Errorf("silent are %v although they may be listed", silent)
	}
}

func TestAdopt_leaves_a_gap_where_inventories_list_more_namespaces_than_are_looked_through(t *testing.T) {
	s := &groupsServer{}
	e := s.engine(t)
	stores(t, e, everywhere(1, 1000))
	rev := enginetest.Revision(3)
	waits := func() string {
		done := &report.TeardownReport{}
		locked(e, func() { done.Wait = e.waitsForGapsLocked(rev.Number) })
		return done.Blocked()
	}
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Name: "two", Number: 2}); err != nil {
		t.Fatal(err)
	}
	if got := waits(); !strings.Contains(got, "more Namespaces than the 64") {
		t.Errorf("pruning waits for %q", got)
	}
	asked := s.asked["secrets"]
	if err := e.Adopt(t.Context()); err != nil || s.asked["secrets"] != asked {
		t.Errorf("it looks again, although there are as many: %v", err)
	}
	stores(t, e, everywhere(1, 10))
	if err := e.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := waits(); got != "" || s.asked["secrets"] == asked {
		t.Errorf("all are looked through, and pruning waits for %q", got)
	}
}
