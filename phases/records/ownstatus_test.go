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
		func(o *thing, shot machine.Snapshot[int, int]) Difference {
			before := o.Status.Others
			o.Status.Others = shot.Record.Reason
			if before == o.Status.Others {
				return Same
			}
			return Different
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

func TestOwnStatus_saves_to_what_the_pass_itself_has_written(t *testing.T) {
	for name, row := range map[string]struct {
		between bool // somebody else writes after the pass has loaded and before it marks
		stored  bool
	}{"nobody else": {false, true}, "somebody else": {true, false}} {
		c := newCluster(t, &thing{ObjectMeta: named("one")})
		s := ownStatus(c)
		if _, _, err := s.Load(t.Context(), "ns/one"); err != nil {
			t.Fatal(err)
		}
		object := &thing{}
		read := func() {
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, object); err != nil {
				t.Fatal(err)
			}
		}
		read()
		if row.between {
			if err := Mark("a").Set(t.Context(), c, object, "theirs"); err != nil {
				t.Fatal(err)
			}
			read()
		}
		before := object.ResourceVersion
		if err := Mark("b").Set(t.Context(), c, object, "ours"); err != nil {
			t.Fatal(err)
		}
		s.Took("ns/one", before, object)
		if _, err := s.Save(t.Context(), "ns/one", shotOf("Ready", "fine")); (err == nil) != row.stored {
			t.Errorf("%s: saved with %v", name, err)
		}
		read()
		if got := s.Wrote("ns/one", object.ResourceVersion); got != row.stored {
			t.Errorf("%s: the last version is its own: %t", name, got)
		}
	}
}
