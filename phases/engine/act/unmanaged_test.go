package act

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

const crdName = "as.test"

// definitionOfOthers is a CRD with what a manifest of it may have.
func definitionOfOthers(tb testing.TB, metadata string) *unstructured.Unstructured {
	tb.Helper()
	return objects.Parse(tb, fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s%s}, spec: {group: test, names: {kind: A, plural: as}}}`, crdName, metadata))
}

// shows has a watch that shows these objects.
func shows(e *Engine, gvk see.Resource, of *unstructured.Unstructured, shown ...*unstructured.Unstructured) *see.Watch {
	w := e.watchOf(of.GroupVersionKind(), gvk)
	w.Synced = true
	if e.watches == nil {
		e.watches = map[place]*see.Watch{}
	}
	e.watches[place{kind: of.GroupVersionKind()}] = w
	for _, o := range shown {
		w.Wrote(see.ObjectFrom(o))
	}
	return w
}

func TestNote_what_is_noted_as_unmanaged_is_nobodys_whatever_a_revision_has(t *testing.T) {
	e := seeing(t)
	crd := definitionOfOthers(t, "")
	shows(e, see.Resource{}, crd)
	rev := enginetest.Revision(enginetest.Number, crd)
	e.Watch(rev)
	if o := e.Look(rev).Waves[0].Objects[0]; o.Action != decide.Pending {
		t.Fatalf("it is %s before", o.Action)
	}
	e.Note(Noted{Unmanaged: []string{crdName, "other"}})
	if o := e.Look(rev).Waves[0].Objects[0]; o.Action != decide.Progressed || !o.Complete() {
		t.Errorf("it is %s (%s), complete: %v", o.Action, o.Why, o.Complete())
	}
	p, err := e.plan(rev)
	if err != nil {
		t.Fatal(err)
	}
	e.cluster.Lock()
	defer e.cluster.Unlock()
	if e.crdOfLocked(p.targets[0].Defines) != nil {
		t.Error("its kind waits for the revision's definition")
	}
	if current := e.currentLocked(p); !current.Unmanaged[crdName] || !current.Unmanaged["other"] {
		t.Errorf("pruning takes %v for unmanaged", current.Unmanaged)
	}
}

func TestToRelease_only_what_is_noted_and_seen(t *testing.T) {
	e := seeing(t)
	e.unmanagedWatches = map[string]*see.Watch{}
	for _, name := range []string{crdName, "unseen", "absent", "not-noted"} {
		w := &see.Watch{Cluster: e.cluster, Synced: name != "unseen"}
		if name != "absent" {
			o := definitionOfOthers(t, "")
			o.SetName(name)
			w.Wrote(see.ObjectFrom(o))
		}
		e.unmanagedWatches[name] = w
	}
	e.Note(Noted{Unmanaged: []string{"unseen", "absent", "unwatched", crdName}})
	if found := e.toRelease(); len(found) != 1 || found[0].Name != crdName {
		t.Errorf("got %v", found)
	}
}

func TestRequirements_and_their_gate_are_shown_the_definition(t *testing.T) {
	e := seeing(t)
	manifest := objects.Parse(t, `{apiVersion: apiextensions.openshift.io/v1alpha1, kind: CompatibilityRequirement, metadata: {name: r, annotations: {capi-operator.openshift.io/required-crd: as.test}}, spec: {a: b}}`)
	rev := enginetest.Revision(enginetest.Number, manifest)
	asked := []bool{}
	e.cfg.Meets = func(r decide.Requirement, installed bool) decide.Probe {
		asked = append(asked, installed)
		if r.Definition == nil {
			return decide.Probe{Answer: decide.AnswerFalse, Message: "there is none"}
		}
		return decide.Probe{Answer: decide.AnswerTrue}
	}
	e.unmanagedWatches = map[string]*see.Watch{}
	requirements := shows(e, see.Resource{}, manifest)
	e.Watch(rev)
	look := func() (decide.Requirement, decide.Answer) {
		found := e.Requirements(rev)
		return found[0], e.Look(rev).Waves[0].Objects[0].Probe.Answer
	}
	if r, _ := look(); r.About != crdName || r.Absent == "" || r.Object != nil {
		t.Errorf("before it is written: %+v", r)
	}
	applied := manifest.DeepCopy()
	applied.SetLabels(map[string]string{decide.ManagedByLabel: "core"})
	applied.SetAnnotations(map[string]string{decide.RequiredAnnotation: crdName, decide.RevisionAnnotation: fmt.Sprint(enginetest.Number), decide.OwnerAnnotation: enginetest.Owner})
	applied.SetUID("uid")
	applied.SetResourceVersion("10")
	applied.SetGeneration(4)
	applied.Object["status"] = map[string]any{"crdName": crdName}
	enginetest.WithEntry(applied, "capstan", "Apply", `{"f:metadata":{"f:labels":{"f:capi-operator.openshift.io/managed-by":{}},"f:annotations":{"f:capi-operator.openshift.io/required-crd":{},"f:capi-operator.openshift.io/revision":{},"f:capi-operator.openshift.io/owner":{}}},"f:spec":{"f:a":{}}}`)
	requirements.Wrote(see.ObjectFrom(applied))
	if r, _ := look(); r.Unseen == "" {
		t.Errorf("before the definition is seen: %+v", r)
	}
	w := &see.Watch{Cluster: e.cluster, Synced: true, Changed: func(of types.NamespacedName) { e.markRequirementsDirtyLocked(of.Name) }}
	e.unmanagedWatches[crdName] = w
	e.lookAtAllAgain()
	if r, answer := look(); r.Unseen != "" || r.Definition != nil || answer != decide.AnswerFalse || r.Object.GetGeneration() != 4 || r.Object.Object["spec"] != nil {
		t.Errorf("without a definition: %+v, %v", r, answer)
	}
	live := definitionOfOthers(t, `, uid: crd, generation: 3, resourceVersion: "5"`)
	w.Wrote(see.ObjectFrom(live))
	if r, answer := look(); answer != decide.AnswerTrue || r.Definition.GetGeneration() != 3 || r.Definition.GetUID() != "crd" {
		t.Errorf("with one: %+v, %v", r, answer)
	}
	e.Note(Noted{Current: enginetest.Number})
	look()
	if asked[0] || !asked[len(asked)-1] {
		t.Errorf("whether it is installed was said to be %v", asked)
	}
}
