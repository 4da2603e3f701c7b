package openshiftconfig

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

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
		"young":                            {now.Add(-200 * time.Millisecond), nil, ownedWithin - 200*time.Millisecond},
		"young, with its Machine":          {now.Add(-200 * time.Millisecond), owner, 0},
		"young, of somebody who owns less": {now, []metav1.OwnerReference{{Kind: "OpenShiftControlPlane", Name: "a", UID: "u"}}, ownedWithin},
		"old":                              {now.Add(-ownedWithin), nil, 0},
		"of a clock that is ahead":         {now.Add(time.Hour), nil, ownedWithin},
	} {
		t.Run(name, func(t *testing.T) {
			var waited time.Duration
			c := configs{now: func() time.Time { return now }, later: func(_ machine.Key, wait time.Duration) { waited = wait }}
			config := &v1alpha1.OpenShiftConfig{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "a", CreationTimestamp: metav1.NewTime(row.made), OwnerReferences: row.owners,
			}}
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			c.in = fake.NewClientBuilder().WithScheme(scheme).WithObjects(config).Build()
			of := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
			of.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: v1alpha1.GroupVersion.Group, Kind: kind, Name: "a"}
			for what, asks := range map[string]func() []machine.Key{
				"itself":          func() []machine.Key { return c.itself(config) },
				"its Machine":     func() []machine.Key { return c.ofMachine(of) },
				"its data Secret": func() []machine.Key { return c.ofSecret(config) },
			} {
				waited = 0
				if keys := asks(); len(keys) != 1 && row.later == 0 || len(keys) != 0 && row.later > 0 || waited > row.later || waited < row.later-time.Second { // an API server stores seconds
					t.Errorf("by %s: asked for %v at once, and after %s", what, keys, waited)
				}
			}
		})
	}
}
