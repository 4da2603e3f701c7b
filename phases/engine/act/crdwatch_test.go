package act

import (
	"testing"

	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestAwaits_only_kinds_that_no_watched_revision_defines(t *testing.T) {
	e := seeing(t)
	e.Watch(enginetest.Revision(1,
		objects.Parse(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.own.example}, spec: {group: own.example, names: {kind: Thing}}}`),
		objects.Parse(t, `{apiVersion: own.example/v1, kind: Thing, metadata: {name: a}}`),
		objects.Parse(t, `{apiVersion: else.example/v1, kind: Gadget, metadata: {name: a}}`),
	))
	e.cluster.Lock()
	defer e.cluster.Unlock()
	for group, want := range map[string]bool{"own.example": false, "else.example": true, "apps": false} {
		if got := e.awaitsGroupLocked(group); got != want {
			t.Errorf("%s: %v, want %v", group, got, want)
		}
	}
}
