package act

import (
	"errors"
	"testing"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

func TestFinish_a_write_that_nothing_waits_for_never_fails(t *testing.T) {
	for name, row := range map[string]struct {
		err          error
		again, later bool
	}{
		"it was refused":      {apierrors.NewForbidden(schema.GroupResource{}, "a", errors.New("ValidatingAdmissionPolicy 'x' denied request: no")), false, false},
		"nobody was there":    {errors.New("connection refused"), true, false},
		"it was not answered": {givenUpError{}, true, true},
	} {
		manifest, actual := objects.Settings(), enginetest.Applied()
		manifest.Object["data"], actual.Object["data"] = map[string]any{"a": false}, map[string]any{}
		rev := enginetest.Revision(enginetest.Number, manifest)
		e := seeing(t)
		e.cfg.Log = logr.Discard()
		e.Watch(rev)
		p, err := e.plan(rev)
		if err != nil {
			t.Fatal(err)
		}
		target, r := p.targets[0], &run{e: e, p: p}
		target.err = errors.New("an earlier write was refused")
		decided := func(o *see.Object) { e.decideFromLocked(target, target.desiredLocked(), o, o.Tree(target.Key.GVK())) }
		decided(see.ObjectFrom(actual))
		jobs := r.todo(p.targets, migrations)
		if len(jobs) != 1 || len(r.todo(p.targets, contents)) != 0 {
			t.Fatalf("%s: decided is %+v", name, target.decision.Verdict)
		}
		r.finish(jobs[0], row.err)
		target.observation.object = jobs[0].seen
		if o := e.lookAtLocked(p, target); o.Action != decide.Idle || o.Err != nil {
			t.Errorf("%s: the object is %s, %v", name, o.Action, o.Err)
		}
		if again := len(r.todo(p.targets, migrations)) == 1; again != row.again || failed(target) == 1 != row.later {
			t.Errorf("%s: it is tried again: %t, after others: %t", name, again, failed(target) == 1)
		}
		actual.SetResourceVersion("11")
		if decided(see.ObjectFrom(actual)); len(r.todo(p.targets, migrations)) == 1 != row.again {
			t.Errorf("%s: a new version without a change makes a difference", name)
		}
		actual.SetLabels(map[string]string{decide.ManagedByLabel: "core", "more": ""})
		if decided(see.ObjectFrom(actual)); len(r.todo(p.targets, migrations)) != 1 {
			t.Errorf("%s: the object has changed, and it is not tried again", name)
		}
	}
}
