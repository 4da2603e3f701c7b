package act

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// recording is an engine and the plan of a revision of number 3 that has one ConfigMap.
func recording(t *testing.T, stored *inventory.Inventory) (*Engine, *plan) {
	t.Helper()
	e := (&groupsServer{}).engine(t)
	e.cfg.Clock = clocktesting.NewFakeClock(time.Unix(1_800_000_000, 0))
	if stored != nil {
		obj, err := e.shelf.Place.ConfigMap(stored)
		if err != nil {
			t.Fatal(err)
		}
		e.inventories.Wrote(see.ObjectFrom(obj))
	}
	rev := enginetest.Revision(3, objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: a}}`))
	rev.Listed = "proof"
	e.Watch(rev)
	p, err := e.plan(rev)
	if err != nil {
		t.Fatal(err)
	}
	return e, p
}

// own is an inventory as the revision's own list.
func own(change func(*inventory.Inventory)) *inventory.Inventory {
	inv := &inventory.Inventory{Revision: "rev", Number: 3, ContentID: "content", Listed: "proof", Entries: []inventory.Entry{
		{Version: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "a", Component: "core", Wave: 1, UID: "uid"},
		{Version: "v1", Kind: "Namespace", Name: "old", Component: "core", Wave: 1, Retained: true},
	}}
	change(inv)
	return inv
}

func TestRecord_adds_the_proof_to_an_inventory_that_has_none_and_changes_nothing_else(t *testing.T) {
	for listed, want := range map[string]string{"": "proof", "another": "another", "proof": "proof"} {
		e, p := recording(t, own(func(inv *inventory.Inventory) { inv.Listed = listed }))
		if recorded, err := e.record(t.Context(), p); !recorded || err != nil {
			t.Fatal(recorded, err)
		}
		s, _ := e.storedOf(3)
		wanted := own(func(inv *inventory.Inventory) { inv.Listed = want })
		if s.Inventory.Listed != want || !slices.Equal(s.Inventory.Entries, wanted.Entries) {
			t.Errorf("%q becomes %+v", listed, s.Inventory)
		}
	}
}

func TestStore_writes_the_revisions_own_list_over_an_announcement_that_has_lost_its_label(t *testing.T) {
	for name, row := range map[string]struct {
		there, inv *inventory.Inventory
		objects    int
	}{
		"an announcement":         {inventory.Announcement(inventory.RevisionRef{Name: "rev", Number: 3, ContentID: "content", Listed: "proof"}), own(func(*inventory.Inventory) {}), 2},
		"one that was rebuilt":    {own(func(inv *inventory.Inventory) { inv.Adopted, inv.Entries = true, nil }), own(func(*inventory.Inventory) {}), 2},
		"the list, which is kept": {own(func(*inventory.Inventory) {}), own(func(inv *inventory.Inventory) { inv.Entries = nil }), 2},
		"the list, which an announcement does not replace": {
			own(func(*inventory.Inventory) {}), inventory.Announcement(inventory.RevisionRef{Name: "rev", Number: 3, ContentID: "content", Listed: "proof"}), 2,
		},
	} {
		e, _ := recording(t, nil)
		there, err := e.shelf.Place.ConfigMap(row.there)
		if err != nil {
			t.Fatal(err)
		}
		there.SetLabels(nil)
		there.SetResourceVersion("7")
		text, err := there.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		e = onto(t, e, func(r *http.Request) answer {
			switch r.Method {
			case http.MethodPost:
				return refused(http.StatusConflict, metav1.StatusReasonAlreadyExists)
			case http.MethodPut:
				body, _ := io.ReadAll(r.Body)
				if !strings.Contains(string(body), `"resourceVersion":"7"`) {
					t.Errorf("%s: it is written over whatever is there: %s", name, body)
				}
				return ok(string(body))
			}
			return ok(string(text))
		})
		if err := e.store(t.Context(), row.inv); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, found := e.storedOf(3)
		if !found || len(s.Inventory.Entries) != row.objects || s.Object.GetLabels()[decide.InventoryLabel] != e.shelf.Place.Label {
			t.Errorf("%s: stored is %+v with labels %v", name, s.Inventory, s.Object.GetLabels())
		}
	}
}

// onto is a new engine before an API server that answers like this.
func onto(t *testing.T, like *Engine, how func(*http.Request) answer) *Engine {
	t.Helper()
	cfg := like.cfg
	cfg.REST = &rest.Config{Host: "http://localhost", QPS: -1, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		a := how(r)
		return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
	})}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.inventories = &see.Watch{Cluster: e.cluster, Synced: true}
	return e
}
