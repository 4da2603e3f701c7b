package records

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

func TestOwnStatus_writes_what_else_the_status_says_in_the_same_request(t *testing.T) {
	c := newCluster(t, &thing{ObjectMeta: named("one")})
	s := ownStatus(c).With(
		func(from, to *thing) { to.Status.Others = from.Status.Others },
		func(o *thing, shot machine.Snapshot[int, int]) bool {
			different := o.Status.Others != shot.Record.Reason
			o.Status.Others = shot.Record.Reason
			return different
		},
	)
	for range 2 {
		pass(t, s, "ns/one", shotOf("Ready", "fine"))
	}
	stored := &thing{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, stored); err != nil {
		t.Fatal(err)
	}
	if stored.Status.Others != "fine" || len(stored.Status.Conditions) != 1 || c.writes != 1 {
		t.Errorf("stored is %+v, after %d writes", stored.Status, c.writes)
	}
}
