package clusterapi

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

func TestStrays_that_come_and_go_change_what_is_told_a_few_times_in_ten_minutes(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var s toldStrays
	changes, before := 0, []string(nil)
	for i := range 599 { // one comes and goes every second
		var there []string
		if i%2 == 0 {
			there = []string{fmt.Sprintf("ConfigMap a/copy-%d", i)}
		}
		told, wait := s.tell(now, strays{named: there})
		if !slices.Equal(told.named, there) && wait <= 0 {
			t.Fatalf("after %d s something else is told, and nobody looks again", i)
		}
		if !slices.Equal(told.named, before) {
			changes, before = changes+1, told.named
		}
		now = now.Add(time.Second)
	}
	if most := strayBursts * int(strayBurst/time.Second+1); changes > most {
		t.Errorf("what is told changed %d times, at most %d expected", changes, most)
	}
	now = now.Add(strayWindow)
	last := strays{named: []string{"ConfigMap a/last"}, elsewhere: []guards.StrayCount{{Kind: "ConfigMap", Count: 2}}, more: 3}
	if told, wait := s.tell(now, last); !told.equals(last) || wait != 0 {
		t.Errorf("in the end the last are told, got %+v, %s", told, wait)
	}
}

func TestStrays_that_turn_up_one_after_another_are_told_as_they_come(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var s toldStrays
	var there []string
	for i := range 40 { // as of a restored backup
		there = append(there, fmt.Sprintf("ConfigMap a/copy-%d", i))
		if told, wait := s.tell(now.Add(time.Duration(i)*time.Second), strays{named: there}); len(told.named) != i+1 || wait != 0 {
			t.Fatalf("%d of %d are told", len(told.named), i+1)
		}
	}
}

func TestStrays_in_namespaces_of_others_are_counted_by_kind_and_not_named(t *testing.T) {
	stray := func(group, kind, namespace string) engine.Stray {
		return engine.Stray{Key: engine.Key{Group: group, Kind: kind, Namespace: namespace, Name: "copy"}, Number: 3}
	}
	got := straysOf([]engine.Stray{
		stray("", "ConfigMap", ""), stray("", "ConfigMap", "capi"), stray("apps", "Deployment", "tenant"), stray("", "ConfigMap", "tenant"),
		stray("", "ConfigMap", "operator"), stray("", "ConfigMap", "other"),
	}, 7, []string{"operator", "capi"})
	want := strays{
		named:     []string{"ConfigMap copy (marked by revision 3)", "ConfigMap capi/copy (marked by revision 3)", "ConfigMap operator/copy (marked by revision 3)"},
		elsewhere: []guards.StrayCount{{Kind: "ConfigMap", Count: 2}, {Kind: "Deployment.apps", Count: 1}}, more: 10,
	}
	if !got.equals(want) {
		t.Errorf("%+v are told, not %+v", got, want)
	}
}

func TestStrays_of_a_great_many_kinds_are_told_by_the_most_frequent_ones(t *testing.T) {
	var found []engine.Stray
	for i := range 40 {
		found = append(found, slices.Repeat([]engine.Stray{{Key: engine.Key{Kind: fmt.Sprintf("Kind%02d", i), Namespace: "tenant"}}}, i+1)...)
	}
	if got := straysOf(found, 0, nil); len(got.elsewhere) != maxStrayKinds || got.elsewhere[0] != (guards.StrayCount{Kind: "Kind39", Count: 40}) || got.more != len(found) {
		t.Errorf("%+v is told", got)
	}
}

func TestStrays_in_a_namespace_that_a_revision_brings_are_named(t *testing.T) {
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName("capa-system")
	p := &Pass{Phases: &Phases{OperatorNamespace: "operator", CAPINamespace: "capi"}}
	p.current = &engine.Revision{Components: []engine.Component{{Objects: []*unstructured.Unstructured{namespace}}}}
	if got := p.ownNamespaces(); !slices.Equal(got, []string{"operator", "capi", "capa-system"}) {
		t.Errorf("they are %q", got)
	}
}
