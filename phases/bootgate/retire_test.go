package bootgate

import (
	"slices"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

func object(kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if spec != nil {
		o.Object["spec"] = spec
	}
	o.SetGroupVersionKind(kind)
	o.SetNamespace("capi")
	o.SetName(name)
	return o
}

// naming is an object that names a template.
func naming(kind schema.GroupVersionKind, template string) *unstructured.Unstructured {
	ref := map[string]any{"kind": "AWSMachineTemplate", "name": template, "apiGroup": "infrastructure.cluster.x-k8s.io"}
	return object(kind, "set", map[string]any{"template": map[string]any{"spec": map[string]any{"infrastructureRef": ref}}})
}

// cloned is a clone as this operator makes one on AWS.
func cloned(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return clonedOn(t, configv1.AWSPlatformType, Providers[0], map[string]any{"ami": map[string]any{"id": "ami-0"}}, "ami-0")
}

// clonedOn is one on a platform, for a set of a template whose machines have an older image.
func clonedOn(t *testing.T, platform configv1.PlatformType, of Provider, machines map[string]any, older string) *unstructured.Unstructured {
	t.Helper()
	template := object(of.Template, "first", map[string]any{"template": map[string]any{"spec": machines}})
	set := naming(MachineSetKind, "first")
	if err := unstructured.SetNestedField(set.Object, of.Template.Kind, "spec", "template", "spec", "infrastructureRef", "kind"); err != nil {
		t.Fatal(err)
	}
	target := golden.FromClusterAPI(golden.CAPIMachineSets, set, template)
	read, err := golden.Read(goldenMap("ami-1", "4.22.1").Data)
	if err != nil {
		t.Fatal(err)
	}
	verdict := read.Judge(&golden.Cluster{
		Platform: platform, Region: "us-east-1", GCPProject: "rhcos-cloud", ControlPlaneArchitectures: []string{"amd64"}, Provenance: golden.Images{older: {}},
	}, target)
	if verdict.CloneName == "" {
		t.Fatalf("nothing is cloned: %+v", verdict)
	}
	clone := target.Clone(&verdict, metav1.OwnerReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "c"})
	clone.SetUID("u")
	clone.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: golden.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: clone.GetAPIVersion(), FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
	}})
	return clone
}

func TestRetireClones(t *testing.T) {
	clone := cloned(t)
	name := clone.GetName()
	machineOf := func(template string) *unstructured.Unstructured {
		o := object(Providers[0].Machine, "m", nil)
		o.SetAnnotations(map[string]string{ClonedFrom: template})
		return o
	}
	others := clone.DeepCopy()
	others.SetManagedFields(nil)
	edited := clone.DeepCopy()
	edited.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"ami": map[string]any{"id": "ami-mine"}}}}
	for what, row := range map[string]struct {
		objects  []client.Object
		standing bootboard.Standing
		unlisted bool
		gone     bool
		asks     bool
	}{
		"nobody names it":                  {objects: []client.Object{clone}, gone: true, asks: true},
		"others are named":                 {objects: []client.Object{clone, naming(MachineSetKind, "first"), machineOf("first")}, gone: true, asks: true},
		"a MachineSet names it":            {objects: []client.Object{clone, naming(MachineSetKind, name)}, asks: true},
		"a MachineDeployment names it":     {objects: []client.Object{clone, naming(MachineDeploymentKind, name)}, asks: true},
		"a MachinePool names it":           {objects: []client.Object{clone, naming(MachinePoolKind, name)}, asks: true},
		"a machine was made from it":       {objects: []client.Object{clone, machineOf(name)}},
		"a plan leads to it":               {objects: []client.Object{clone}, standing: bootboard.Standing{Clone: name}},
		"a target names it":                {objects: []client.Object{clone}, standing: bootboard.Standing{Template: name}},
		"it is somebody else's":            {objects: []client.Object{others}},
		"somebody has edited it":           {objects: []client.Object{edited}},
		"not all targets have stood":       {objects: []client.Object{clone}, unlisted: true},
		"there is no template of the kind": {},
	} {
		t.Run(what, func(t *testing.T) {
			var objects []client.Object
			for _, o := range row.objects {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			b := newBench(t, func(o *Options) { o.MachineAPI = false }, append(ready(), objects...)...)
			b.Board.OnRoster(func() ([]machine.Key, bool) { return nil, !row.unlisted })
			row.standing.Kind, row.standing.Name = golden.CAPIMachineSets, "set"
			b.Board.Stand("set", row.standing)
			b.pass(RetireClones)
			b.now = b.now.Add(bootboard.AloneFor)
			_, result := b.pass(RetireClones)
			if is := slices.Contains(b.writes, "delete "+name); is != row.gone || row.gone == (result.LookAgain > 0) && row.asks {
				t.Errorf("written was %q, %+v", b.writes, result)
			}
			if asks := len(b.asked) > 0; asks != row.asks {
				t.Errorf("asked was %q", b.asked)
			}
			b.asked, b.writes = nil, nil
			if _, again := b.pass(RetireClones); len(b.asked) > 0 || len(b.writes) > 0 || again.LookAgain != result.LookAgain {
				t.Errorf("again it asks %q and writes %q, %+v", b.asked, b.writes, again)
			}
		})
	}
}

func TestRetireClones_asks_again_about_one_that_had_a_user(t *testing.T) {
	clone := cloned(t)
	b := newBench(t, func(o *Options) { o.MachineAPI = false }, append(ready(), clone, naming(MachineSetKind, clone.GetName()))...)
	b.Board.OnRoster(func() ([]machine.Key, bool) { return nil, true })
	b.pass(RetireClones)
	b.now = b.now.Add(bootboard.AloneFor)
	b.pass(RetireClones)
	if err := b.cluster.Delete(t.Context(), naming(MachineSetKind, "")); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(9 * time.Minute)
	if _, result := b.pass(RetireClones); result.LookAgain != time.Minute {
		t.Errorf("it looks again in %s", result.LookAgain)
	}
	b.now = b.now.Add(time.Minute)
	if b.pass(RetireClones); !slices.Contains(b.writes, "delete "+clone.GetName()) {
		t.Errorf("written was %q", b.writes)
	}
}

func TestRetireClones_who_is_quicker_is_no_error_and_a_refusal_is_one(t *testing.T) {
	clone := cloned(t)
	kind := schema.GroupResource{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsmachinetemplates"}
	for _, row := range []struct {
		err   error
		fails bool
	}{
		{apierrors.NewConflict(kind, clone.GetName(), nil), false},
		{apierrors.NewNotFound(kind, clone.GetName()), false},
		{apierrors.NewForbidden(kind, clone.GetName(), nil), true},
	} {
		b := newBench(t, func(o *Options) { o.MachineAPI = false }, append(ready(), clone.DeepCopy())...)
		b.Board.OnRoster(func() ([]machine.Key, bool) { return nil, true })
		b.pass(RetireClones)
		b.now = b.now.Add(bootboard.AloneFor)
		b.refuse = func(what string) error {
			if what == "delete" {
				return row.err
			}
			return nil
		}
		_, pass := b.look()
		if _, err := RetireClones.Run(t.Context(), pass); (err != nil) != row.fails {
			t.Errorf("%v leads to %v", row.err, err)
		}
		if b.Board.Retiring(clone.GetName()) {
			t.Error("plans are kept from it for ever")
		}
	}
}

// The process that leads by now claims a clone before it is named, or has made it just now, and a former one that goes on does
// not delete it.
func TestRetireClones_of_a_former_leader_spares_what_another_process_is_about_to_name(t *testing.T) {
	claim := func(b *bench, clone client.Object) {
		b.edit(clone, func() { clone.SetAnnotations(map[string]string{golden.ClaimedAnnotation: b.now.String()}) })
	}
	for name, row := range map[string]struct {
		before, asked func(*bench, client.Object)
		wait          time.Duration
	}{
		"it has just been made":                         {wait: bootboard.AloneFor},
		"it was claimed before it is looked at":         {before: claim, wait: bootboard.AloneFor},
		"it is claimed when nobody was seen to name it": {asked: claim},
	} {
		t.Run(name, func(t *testing.T) {
			clone := cloned(t)
			objects := ready()
			if row.before != nil || row.asked != nil {
				objects = append(objects, clone)
			}
			b := newBench(t, func(o *Options) { o.MachineAPI = false }, objects...)
			b.Board.OnRoster(func() ([]machine.Key, bool) { return nil, true })
			b.pass(RetireClones)
			b.now = b.now.Add(bootboard.AloneFor)
			switch {
			case row.before != nil:
				row.before(b, clone)
			case row.asked == nil:
				if err := b.cluster.Create(t.Context(), clone); err != nil {
					t.Fatal(err)
				}
			}
			once := row.asked
			b.listed = func() {
				if once != nil {
					once(b, clone)
					once = nil
				}
			}
			_, result := b.pass(RetireClones)
			for _, write := range b.writes {
				if write == "delete "+clone.GetName() && row.asked == nil {
					t.Error("it is deleted")
				}
			}
			there := object(Providers[0].Template, "", nil)
			if err := b.cluster.Get(t.Context(), client.ObjectKeyFromObject(clone), there); err != nil || result.LookAgain != row.wait {
				t.Errorf("it is gone: %v, %+v", err, result)
			}
		})
	}
}
