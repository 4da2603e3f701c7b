package act

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

func TestLook_tells_a_definition_that_is_not_established_from_one_that_does_not_serve_the_version(t *testing.T) {
	for status, want := range map[string]string{
		`{}`: "is not established",
		`{conditions: [{type: Established, status: "True"}]}`: "does not serve version v2",
	} {
		e, err := New(Config{REST: &rest.Config{Host: "http://localhost"}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
		if err != nil {
			t.Fatal(err)
		}
		definition := func(status string) *unstructured.Unstructured {
			return objects.Parse(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.test.io},
				spec: {group: test.io, scope: Cluster, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, served: true, storage: true}]}, status: `+status+`}`)
		}
		rev := enginetest.Revision(1, definition(`{}`), objects.Parse(t, `{apiVersion: test.io/v2, kind: Gadget, metadata: {name: a}}`))
		e.inventories = &see.Watch{Cluster: e.cluster, Synced: true}
		e.watches[place{kind: see.CRDKind}] = &see.Watch{Cluster: e.cluster, GVK: see.CRDKind, Resource: see.Builtin[see.CRDKind], Synced: true}
		e.watches[place{kind: see.CRDKind}].Wrote(see.ObjectFrom(definition(status)))
		e.Watch(rev)
		for o := range e.Look(rev).Objects {
			if o.Key.Kind == "Gadget" && (o.Action != decide.Pending || !strings.Contains(o.Why, want)) {
				t.Errorf("%s: %s %s, want %s", status, o.Action, o.Why, want)
			}
		}
	}
}
