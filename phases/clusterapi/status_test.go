package clusterapi

import (
	"testing"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine"
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

func TestLeaveNothing_older_revisions_go_in_the_same_write_only_if_nothing_is_to_prune(t *testing.T) {
	key := engine.Key{Version: "v1", Kind: "ConfigMap", Name: "goes"}
	for name, row := range map[string]struct {
		left engine.Orphans
		want bool
	}{
		"all that is listed is in the newest":    {engine.Orphans{Seen: true, Revisions: []int64{1, 2}}, true},
		"an object is to be deleted":             {engine.Orphans{Seen: true, Revisions: []int64{1, 2}, Open: []engine.Key{key}}, false},
		"an object is retained":                  {engine.Orphans{Seen: true, Revisions: []int64{1, 2}, Retained: []engine.Key{key}}, false},
		"nobody knows what a listed one had":     {engine.Orphans{Seen: true, Revisions: []int64{2}}, false},
		"the inventories have not been seen yet": {engine.Orphans{Revisions: []int64{1, 2}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			api := &operatorv1alpha1.ClusterAPI{}
			for _, number := range []int64{1, 2, 3} {
				api.Status.Revisions = append(api.Status.Revisions, operatorv1alpha1.ClusterAPIInstallerRevision{Revision: number})
			}
			if got := leaveNothing(api, 3, row.left); got != row.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
