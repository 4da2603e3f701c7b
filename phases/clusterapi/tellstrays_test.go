package clusterapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

func TestStrays_in_namespaces_of_others_are_counted_by_the_most_frequent_kinds(t *testing.T) {
	found := []engine.Stray{{Key: engine.Key{Kind: "ConfigMap", Namespace: "capi", Name: "copy"}, Number: 3}}
	elsewhere := map[schema.GroupKind]int{{Kind: "ConfigMap"}: 2, {Group: "apps", Kind: "Deployment"}: 2}
	for i := range 40 {
		elsewhere[schema.GroupKind{Kind: fmt.Sprintf("Kind%02d", i)}] = 1
	}
	got := straysOf(found, elsewhere, 50)
	if len(got.elsewhere) != maxStrayKinds || !slices.Equal(guards.Texts(got.elsewhere[:3]), []string{"ConfigMap x 2", "Deployment.apps x 2", "Kind00 x 1"}) {
		t.Errorf("%v are counted", got.elsewhere)
	}
	if got.more != 50 || !slices.Equal(got.named, []string{"ConfigMap capi/copy (marked by revision 3)"}) {
		t.Errorf("%+v are told", got)
	}
}

func TestStraysOf_keep_their_order_so_that_the_detail_names_some_of_each_kind(t *testing.T) {
	var found []engine.Stray
	for i := range 50 { // in turn, as the engine gives them
		for _, kind := range []string{"ConfigMap", "Secret"} {
			found = append(found, engine.Stray{Key: engine.Key{Version: "v1", Kind: kind, Namespace: "ns", Name: fmt.Sprintf("%s%02d", strings.Repeat("x", 200), i)}, Number: 1})
		}
	}
	back := storedDetail(Detail{Strays: straysOf(found, nil, 0).named}.encode())
	secrets := slices.DeleteFunc(slices.Clone(back.Strays), func(text string) bool { return !strings.HasPrefix(text, "Secret") })
	if len(secrets) < len(back.Strays)/2 || len(secrets) == 0 {
		t.Errorf("%d of %d are Secrets", len(secrets), len(back.Strays))
	}
}
