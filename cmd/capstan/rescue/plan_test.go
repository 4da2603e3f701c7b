package rescue

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"gotest.tools/v3/golden"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/engine"
)

func revisions(current, desired int64, numbers ...int64) operatorv1alpha1.ClusterAPIStatus {
	var s operatorv1alpha1.ClusterAPIStatus
	for _, n := range numbers {
		r := operatorv1alpha1.ClusterAPIInstallerRevision{Name: operatorv1alpha1.RevisionName(fmt.Sprintf("r-%d", n)), Revision: n, ContentID: fmt.Sprintf("c-%d", n)}
		if n == current {
			s.CurrentRevision = r.Name
		}
		if n == desired {
			s.DesiredRevision = r.Name
		}
		s.Revisions = append(s.Revisions, r)
	}
	return s
}

func inventory(number int64, names ...string) Evidence {
	listed := engine.Listed{Number: number, ContentID: fmt.Sprintf("c-%d", number)}
	for _, name := range names {
		listed.Objects = append(listed.Objects, engine.Key{Version: "v1", Kind: "ConfigMap", Namespace: "a", Name: name})
	}
	return Evidence{Inventory: &listed}
}

func TestPlan_removes_what_never_completed_and_proves_it(t *testing.T) {
	p := plan(revisions(2, 9, 1, 2, 3, 4, 5, 6, 7, 9), map[int64]Evidence{
		1: inventory(1, "shared", "old"),
		2: inventory(2, "shared"),
		3: inventory(3, "shared", "three", "both"),
		4: inventory(4, "both"),
		5: {},
		6: {Err: errors.New("reading the inventory in ConfigMap ns/capstan-inventory-6: it is damaged")},
		7: {Carrying: []string{"ConfigMap a/one", "ConfigMap a/two"}},
		9: inventory(9, "shared"),
	})
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, text.String(), "recover.txt")
}

func TestPlan_keeps_what_it_has_doubts_about(t *testing.T) {
	other := inventory(3)
	other.Inventory.ContentID = "another"
	for name, row := range map[string]struct {
		found Evidence
		why   string
	}{
		"damaged":                       {Evidence{Err: errors.New("it is damaged")}, "it is damaged"},
		"of other content":              {other, "its inventory is of content another"},
		"without one, and with objects": {Evidence{Carrying: []string{"Secret a/b"}}, "no inventory, and 1 object carries its number: Secret a/b"},
	} {
		p := plan(revisions(1, 4, 1, 3, 4), map[int64]Evidence{3: row.found})
		if len(p.Remove) != 0 || len(p.Keep) != 3 || !p.Keep[1].Unproven || !strings.Contains(p.Keep[1].Why, row.why) {
			t.Errorf("%s: got %+v", name, p)
		}
	}
}

// Whatever is listed and stored: the current and the desired revision stay, every
// revision is either kept or removed, and every object of a removed one is in an
// inventory that pruning works from, which is one of a lower number than the desired one.
func TestPlan_never_loses_an_object_from_sight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.Int64Range(1, 40), 1, 16, rapid.ID[int64]).Draw(t, "numbers")
		desired := slices.Max(numbers)
		current := rapid.SampledFrom(append(slices.Clone(numbers), 0)).Draw(t, "current")
		evidence := map[int64]Evidence{}
		for _, n := range numbers {
			switch rapid.IntRange(0, 4).Draw(t, "found") {
			case 0:
				evidence[n] = Evidence{Err: errors.New("damaged")}
			case 1:
				evidence[n] = Evidence{Carrying: []string{"ConfigMap a/lost"}}
			case 2:
			default:
				evidence[n] = inventory(n, rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID[string]).Draw(t, "objects")...)
			}
		}
		p := plan(revisions(current, desired, numbers...), evidence)
		if len(p.Remove)+len(p.Keep) != len(numbers) {
			t.Fatalf("of %d revisions %d are removed and %d kept", len(numbers), len(p.Remove), len(p.Keep))
		}
		for _, r := range p.Remove {
			found := evidence[r.Number]
			if r.Number == current || r.Number >= desired || found.Err != nil || len(found.Carrying) > 0 {
				t.Fatalf("revision %d is removed, with %+v", r.Number, found)
			}
			if found.Inventory == nil {
				continue
			}
			for _, key := range found.Inventory.Objects {
				named := slices.ContainsFunc(p.Pruned, func(o Object) bool { return o.Object == key.String() && slices.Contains(o.Revisions, r.Number) })
				stays := slices.ContainsFunc(p.Keep, func(k Kept) bool {
					kept := evidence[k.Number].Inventory
					return kept != nil && slices.Contains(kept.Objects, key)
				})
				if named == stays {
					t.Fatalf("%s of revision %d: named as pruned %v, in one that stays %v", key, r.Number, named, stays)
				}
			}
		}
	})
}

func TestDrop_leaves_everything_else_as_it_was(t *testing.T) {
	api := func(revisions ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"resourceVersion": "7"},
			"status":   map[string]any{"revisions": revisions, "currentRevision": "r-1", "unheardOf": "x"},
		}}
	}
	entry := func(name string) any { return map[string]any{"name": name, "alsoUnheardOf": int64(1)} }
	got := api(entry("r-1"), entry("r-2"), entry("r-3"))
	if err := drop(got, []Removal{{Name: "r-2"}}); err != nil {
		t.Fatal(err)
	}
	if want := api(entry("r-1"), entry("r-3")); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestPausedBy_says_who_keeps_what_is_asked_for_from_being_done(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 30, 0, 0, time.UTC)
	const pause = "by: anna\nat: 2026-01-31T12:00:00Z\nuntil: 2026-01-31T13:00:00Z\nreason: etcd is slow"
	for name, row := range map[string]struct {
		text string
		now  time.Time
		told string
	}{
		"nobody":        {"", now, ""},
		"somebody":      {pause, now, "It is paused by anna until 2026-01-31 13:00:00Z (etcd is slow), and nothing is done before that ends: capstan resume"},
		"until earlier": {pause, now.Add(time.Hour), ""},
		"in no form":    {"yes", now, ""},
		"another act":   {pause + "\nrevision: 2", now, ""},
	} {
		if got := PausedBy(row.text, row.now); got != row.told {
			t.Errorf("%s: %q, want %q", name, got, row.told)
		}
	}
}
