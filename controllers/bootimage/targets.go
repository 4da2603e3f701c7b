package bootimage

import (
	"context"
	"reflect"

	"github.com/go-logr/logr"
	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/golden"
)

// targets finds those that an object matters to, in the caches.
type targets struct {
	*phases.Phases
	log logr.Logger
}

// itself is the target that an object is.
func itself(kind golden.Kind) func(client.Object) []machine.Key {
	return func(o client.Object) []machine.Key { return []machine.Key{phases.KeyOf(kind, o.GetName())} }
}

// set is a MachineSet of either API, and its twin in the other one, which looks at who has the authority. Most sets have none; one that
// comes later is an event of its own.
func (t targets) set(kind golden.Kind) func(client.Object) []machine.Key {
	return func(o client.Object) []machine.Key {
		var keys []machine.Key
		own := phases.KeyOf(kind, o.GetName())
		if t.MachineAPI || kind != golden.MachineSets {
			keys = append(keys, own)
		}
		if twin, is := t.Twin(context.Background(), own); is {
			keys = append(keys, twin)
		}
		return keys
	}
}

// all are the targets that are there.
func (t targets) all(ctx context.Context) []machine.Key {
	if t.Blind() != "" {
		return nil // once they can be looked at, the gate has news for all of them
	}
	keys, err := t.Keys(ctx)
	if err != nil {
		t.log.Error(err, "Targets are looked at again with their next events only")
	}
	return keys
}

// startFrom are the targets whose machines start from a Secret, or from a copy of it. Of those that stand nowhere yet, the
// first pass looks for it.
func (t targets) startFrom(secret client.Object) []machine.Key {
	return t.Board.StartFrom(client.ObjectKeyFromObject(secret).String())
}

// ofCluster are the targets of a Cluster.
func (t targets) ofCluster(cluster client.Object) []machine.Key {
	return t.clusterAPI(func(ctx context.Context) ([]machine.Key, error) { return t.KeysOfCluster(ctx, cluster.GetName()) })
}

// ofTemplate are the targets that name a template, or for which it was cloned.
func (t targets) ofTemplate(template client.Object) []machine.Key {
	return t.clusterAPI(func(ctx context.Context) ([]machine.Key, error) { return t.KeysOfTemplate(ctx, template) })
}

func (t targets) clusterAPI(which func(context.Context) ([]machine.Key, error)) []machine.Key {
	if t.Blind() != "" {
		return nil
	}
	keys, err := which(context.Background())
	if err != nil {
		t.log.Error(err, "Targets of Cluster API are looked at again with their next events only")
	}
	return keys
}

// matters lets through what comes, goes, or changes in what is kept of it, see keepTarget: more than how many machines it has and
// what is told of them.
var matters = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return !sameMetadata(e.ObjectOld, e.ObjectNew) || !same(judged(e.ObjectOld), judged(e.ObjectNew))
}}

// same says that nothing is to be told apart. Most often nothing differs at all, which is found ten times as fast where there are
// bytes, as in a providerSpec.
func same(a, b any) bool { return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b) }

// judged is what matters of an object beside its metadata.
func judged(o client.Object) any {
	switch o := o.(type) {
	case *machinev1beta1.MachineSet:
		return []any{o.Spec, o.Status}
	case *machinev1.ControlPlaneMachineSet:
		return o.Spec
	case *unstructured.Unstructured:
		return o.Object["spec"]
	}
	return nil
}

func sameMetadata(a, b client.Object) bool {
	return a.GetUID() == b.GetUID() && (a.GetDeletionTimestamp() == nil) == (b.GetDeletionTimestamp() == nil) &&
		equality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) && equality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations()) &&
		equality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
}
