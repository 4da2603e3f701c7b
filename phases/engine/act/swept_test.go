package act

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// marked is the metadata of an object with our marks; proved if managedFields say that we wrote the number.
func marked(name string, number int64, proved bool) string {
	fields := ""
	if proved {
		fields = fmt.Sprintf(`,"managedFields":[{"manager":"capstan","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{"f:%s":{}}}}}]`, decide.RevisionAnnotation)
	}
	return fmt.Sprintf(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"namespace":"ns","name":%q,"uid":%[1]q,"labels":{%q:"core"},"annotations":{%q:"%d",%q:%q}%s}}`,
		name, decide.ManagedByLabel, decide.RevisionAnnotation, number, decide.OwnerAnnotation, enginetest.Owner, fields)
}

// strayOf is one of a kind that nobody watches.
func strayOf(kind, name string) inventory.Stray {
	gvk := schema.GroupVersionKind{Group: "crd.test", Version: "v1", Kind: kind}
	return inventory.Stray{Key: decide.Key{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: "ns", Name: name}, Number: 1}
}

// told are the names of the strays.
func told(e *Engine) (names []string, more int) {
	found, more := e.Strays()
	for _, stray := range found {
		names = append(names, stray.Key.Name)
	}
	return names, more
}

func TestAdopt_tells_what_is_listed_nowhere_of_kinds_that_nobody_watches(t *testing.T) {
	s := &groupsServer{lists: map[string]answer{
		"things": of(marked("of-2", 2, true), marked("of-3", 3, true), marked("copy", 2, false)),
		"copys":  of(marked("made-up", 2, false), marked("of-another-server", 3, true)),
	}}
	e := s.engine(t)
	if err := e.Adopt(t.Context(), inventory.RevisionRef{Name: "two", Number: 2}); err != nil {
		t.Fatal(err)
	}
	stored, found := e.storedOf(2)
	if !found || len(stored.Inventory.Entries) != 1 || stored.Inventory.Entries[0].Name != "of-2" {
		t.Errorf("listed are %+v", stored.Inventory)
	}
	if names, more := told(e); fmt.Sprint(names) != "[copy of-3]" || more != 0 {
		t.Errorf("told are %v and %d more", names, more)
	}
}

func TestStrays_are_told_of_watched_kinds_by_the_watch_alone(t *testing.T) {
	e := seeing(t)
	thing := strayOf("Thing", "a")
	e.watches = map[place]*see.Watch{{kind: thing.Key.GVK()}: {Cluster: e.cluster, Synced: true}}
	e.sweptStrays(see.Discovered{}, []inventory.Stray{thing, strayOf("Other", "b")})
	if names, _ := told(e); fmt.Sprint(names) != "[b]" {
		t.Errorf("told are %v", names)
	}
	delete(e.watches, place{kind: thing.Key.GVK()})
	e.cluster.Changes++
	if names, _ := told(e); fmt.Sprint(names) != "[b a]" {
		t.Errorf("told are %v", names)
	}
}

func TestStrays_are_bounded_and_the_others_counted(t *testing.T) {
	e := seeing(t)
	var found []inventory.Stray
	for i := range straysAtMost + 30 {
		found = append(found, strayOf("Thing", fmt.Sprintf("thing-%03d", i)))
	}
	e.sweptStrays(see.Discovered{}, found)
	if names, more := told(e); len(names) != straysAtMost || more != 30 || names[0] != "thing-000" || len(e.swept.objects) > straysAtMost {
		t.Errorf("%d are told and %d more, %d remembered", len(names), more, len(e.swept.objects))
	}
}

func TestStrays_that_are_gone_or_unmarked_are_not_told_after_they_were_read_again(t *testing.T) {
	gone, unmarked := refused(http.StatusNotFound, metav1.StatusReasonNotFound), ok(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"namespace":"ns","name":"unmarked","uid":"1"}}`)
	s := &groupsServer{lists: map[string]answer{
		"stays": ok(marked("stays", 1, false)), "gone": gone, "unmarked": unmarked, "unreadable": refused(http.StatusForbidden, metav1.StatusReasonForbidden),
	}}
	e, notified := s.engine(t), 0
	e.cfg.Notify = func() { notified++ }
	said := see.Discovered{Kinds: map[schema.GroupVersionKind]see.Resource{
		{Group: "crd.test", Version: "v1", Kind: "Thing"}: {GVR: schema.GroupVersionResource{Group: "crd.test", Version: "v1", Resource: "things"}, Namespaced: true},
	}}
	e.readSweptAgain(t.Context())
	if len(s.asked) > 0 {
		t.Errorf("without a stray it asked %v", s.asked)
	}
	e.sweptStrays(said, []inventory.Stray{strayOf("Thing", "stays"), strayOf("Thing", "gone"), strayOf("Thing", "unmarked"), strayOf("Thing", "unreadable")})
	if names, _ := told(e); len(names) != 4 {
		t.Errorf("told are %v", names)
	}
	e.readSweptAgain(t.Context())
	if names, _ := told(e); fmt.Sprint(names) != "[stays unreadable]" || notified != 1 {
		t.Errorf("told are %v, and it notified %d times", names, notified)
	}
	e.readSweptAgain(t.Context())
	if notified != 1 {
		t.Error("it notified although nothing had changed")
	}
	s.lists["stays"], s.lists["unreadable"] = gone, gone
	e.swept.more = 30
	e.readSweptAgain(t.Context())
	if names, more := told(e); len(names)+more > 0 {
		t.Errorf("told are %v and %d more, and all that is known of them is gone", names, more)
	}
}
