package openshiftconfig

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
)

func TestConfigs_are_asked_for_at_once_but_for_young_ones_whose_Machine_is_still_to_come(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	owner := []metav1.OwnerReference{{Kind: "Machine", Name: "a", UID: "u", Controller: ptr.To(true)}}
	for name, row := range map[string]struct {
		made   time.Time
		owners []metav1.OwnerReference
		later  time.Duration // zero for at once
	}{
		"young":                            {now.Add(-200 * time.Millisecond), nil, 800 * time.Millisecond},
		"young, with its Machine":          {now.Add(-200 * time.Millisecond), owner, 0},
		"young, of somebody who owns less": {now, []metav1.OwnerReference{{Kind: "OpenShiftControlPlane", Name: "a", UID: "u"}}, time.Second},
		"old":                              {now.Add(-time.Second), nil, 0},
		"of a clock that is ahead":         {now.Add(time.Hour), nil, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var waited time.Duration
			c := configs{now: func() time.Time { return now }, later: func(_ machine.Key, wait time.Duration) { waited = wait }}
			config := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "a", CreationTimestamp: metav1.NewTime(row.made), OwnerReferences: row.owners,
			}}
			if keys := c.itself(config); len(keys) != 1 && row.later == 0 || len(keys) != 0 && row.later > 0 || waited != row.later {
				t.Errorf("asked for %v at once, and after %s", keys, waited)
			}
		})
	}
}
