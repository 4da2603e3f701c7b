package clusterapi

import (
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/newest"
)

func TestNewerOf_what_was_written_counts_until_the_cache_has_caught_up(t *testing.T) {
	at := func(version string) *operatorv1alpha1.ClusterAPI {
		return &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{UID: "one", ResourceVersion: version}}
	}
	now := time.Now()
	p := &Phases{Now: func() time.Time { return now }}
	cached := at("10")
	if got := p.newerOf(cached); got != cached {
		t.Error("nothing was written, and still it counts")
	}
	for version, counts := range map[string]bool{"9": false, "10": false, "11": true, "100": true} {
		wrote := at(version)
		p.memory.wrote, p.memory.wroteAt = wrote, now.Add(time.Second-newest.Trust)
		if got := p.newerOf(cached); (got == wrote) != counts {
			t.Errorf("version %s over 10 counts: %v", version, got == wrote)
		}
		p.memory.wroteAt = now.Add(-newest.Trust)
		if got := p.newerOf(cached); got != cached {
			t.Errorf("version %s of a minute ago counts over 10", version)
		}
	}
	other := at("11")
	other.UID = "of one that was deleted"
	p.memory.wrote, p.memory.wroteAt = other, now
	if got := p.newerOf(cached); got != cached {
		t.Error("what was written to an object that was deleted counts")
	}
}
