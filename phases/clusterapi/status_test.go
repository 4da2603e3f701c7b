package clusterapi

import (
	"testing"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNewerOf_what_was_written_counts_until_the_cache_has_caught_up(t *testing.T) {
	at := func(version string) *operatorv1alpha1.ClusterAPI {
		return &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{UID: "one", ResourceVersion: version}}
	}
	cached := at("10")
	if got := newerOf(nil, cached); got != cached {
		t.Error("nothing was written, and still it counts")
	}
	for version, counts := range map[string]bool{"9": false, "10": false, "11": true, "100": true} {
		wrote := at(version)
		if got := newerOf(wrote, cached); (got == wrote) != counts {
			t.Errorf("version %s over 10 counts: %v", version, got == wrote)
		}
	}
	other := at("11")
	other.UID = "of one that was deleted"
	if got := newerOf(other, cached); got != cached {
		t.Error("what was written to an object that was deleted counts")
	}
}
