package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// send makes a request when it is its turn.
func (f *floorGuest) send(ctx context.Context, request func() error) error {
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-f.slots }()
	return request()
}

func (f *floorGuest) create(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		if err := f.send(ctx, func() error { return f.client.Create(ctx, o, harness.Administrator) }); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// tell changes the status of an object.
func (f *floorGuest) tell(ctx context.Context, o client.Object, status any) error {
	return f.patch(ctx, o, types.MergePatchType, map[string]any{"status": status}, func(p client.Patch) error { return f.client.Status().Patch(ctx, o, p) })
}

// note changes the metadata of an object.
func (f *floorGuest) note(ctx context.Context, o client.Object, metadata any) error {
	return f.patch(ctx, o, types.MergePatchType, map[string]any{"metadata": metadata}, func(p client.Patch) error { return f.client.Patch(ctx, o, p) })
}

// patch has a patch of a kind sent that changes an object.
func (f *floorGuest) patch(ctx context.Context, o client.Object, kind types.PatchType, content any, send func(client.Patch) error) error {
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("writing a patch of %T %s: %w", o, o.GetName(), err)
	}
	if err := f.send(ctx, func() error { return send(client.RawPatch(kind, body)) }); err != nil {
		return fmt.Errorf("changing %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

// in is an object of the sample as it is of this cluster, whose owners are this one's.
func (f *floorGuest) in(one *unstructured.Unstructured) *unstructured.Unstructured {
	made := one.DeepCopy()
	made.SetNamespace(f.asked.Key.Namespace)
	owners := made.GetOwnerReferences()
	for i := range owners {
		owners[i].UID = f.asked.ControlPlane.GetUID()
		if owners[i].Kind == clusterKind.Kind {
			owners[i].UID = f.asked.Cluster.GetUID()
		}
	}
	made.SetOwnerReferences(owners)
	return made
}

func (f *floorGuest) named(of schema.GroupVersionKind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(of)
	o.SetNamespace(f.asked.Key.Namespace)
	o.SetName(name)
	return o
}
