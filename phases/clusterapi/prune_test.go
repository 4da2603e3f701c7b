package clusterapi

import (
	"testing"
	"time"

	"github.com/capstan-capi/capstan/phases/engine"
)

func TestGoesUnseen_is_what_no_watch_tells_the_end_of(t *testing.T) {
	crd := engine.Key{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.com"}
	for name, c := range map[string]struct {
		orphan engine.Orphan
		want   bool
	}{
		"instances that are watched":       {engine.Orphan{Key: crd, Count: 2}, false},
		"instances that nobody can count":  {engine.Orphan{Key: crd}, true},
		"a volume, which goes by consent":  {engine.Orphan{Key: engine.Key{Kind: "PersistentVolume"}, Count: 1}, false},
		"a StatefulSet with volume claims": {engine.Orphan{Key: engine.Key{Group: "apps", Kind: "StatefulSet"}, Count: 2}, true},
		"a namespace with foreign objects": {engine.Orphan{Key: engine.Key{Kind: "Namespace"}, Count: 3}, true},
		"a kind that is only called so":    {engine.Orphan{Key: engine.Key{Group: "example.com", Kind: "Namespace"}, Count: 1}, false},
	} {
		if got := goesUnseen(c.orphan); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTorndown_due_is_later_where_looking_takes_many_requests(t *testing.T) {
	at := time.Unix(1000, 0)
	crd, namespace := engine.Orphan{Key: engine.Key{Kind: "CustomResourceDefinition"}, Count: 1}, engine.Orphan{Key: engine.Key{Kind: "Namespace"}, Count: 1}
	for name, c := range map[string]struct {
		last torndown
		want time.Time
	}{
		"never looked at": {torndown{}, time.Time{}},
		"a definition":    {torndown{at: at, report: &engine.TeardownReport{Retained: []engine.Orphan{crd}}}, at.Add(releaseEvery)},
		"a namespace too": {torndown{at: at, report: &engine.TeardownReport{Retained: []engine.Orphan{crd, namespace}}}, at.Add(sweepEvery)},
	} {
		if got := c.last.due(); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
