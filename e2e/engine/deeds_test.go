package engine_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/engine"
)

// marks are changes of what the engine knows its objects by.
var marks = map[string]string{
	"unlabel":  `{"metadata":{"labels":{"` + engine.ManagedByLabel + `":null}}}`,
	"relabel":  `{"metadata":{"labels":{"` + engine.ManagedByLabel + `":"theirs"}}}`,
	"disown":   `{"metadata":{"annotations":{"` + engine.OwnerAnnotation + `":null}}}`,
	"unnumber": `{"metadata":{"annotations":{"` + engine.RevisionAnnotation + `":null}}}`,
	"garble":   `{"metadata":{"annotations":{"` + engine.RevisionAnnotation + `":"abc"}}}`,
	"raise":    `{"metadata":{"annotations":{"` + engine.RevisionAnnotation + `":"999999"}}}`,
	"lower":    `{"metadata":{"annotations":{"` + engine.RevisionAnnotation + `":"1"}}}`,
	"wipe":     `{"metadata":{"managedFields":[{}]}}`,
	"steal":    `{"metadata":{"annotations":{"` + engine.OwnerAnnotation + `":"else"}}}`,
}

// deed lets somebody else do something. What comes to nothing, because the object or its kind is not there, is none.
func (l *trial) deed(ctx context.Context) error {
	kinds := append([]string{"apply", "put", "add", "delete", "replace", "obstruct", "instantiate", "instantiate", "instantiate", "free"}, slices.Sorted(maps.Keys(marks))...)
	kind := rapid.SampledFrom(kinds).Draw(l.t, "deed")
	names := slotNames
	if installed := slices.Sorted(maps.Keys(l.memory.uids)); kind != "obstruct" && len(installed) > 0 {
		names = installed
	}
	if kind == "instantiate" {
		names = []string{"crd-1", "crd-2"}
	}
	name := rapid.SampledFrom(names).Draw(l.t, "of")
	_, installed := l.memory.uids[name]
	ours := installed && !l.memory.obstacle[name]
	var err error
	switch {
	case kind == "obstruct":
		if !installed && slots[name].of == "" && !strings.HasPrefix(name, "crd") && name != "manager" && name != "hook" {
			l.t.Logf("%s %s", kind, name)
			err = l.create(ctx, name, slots[name].make(l.world, 0))
		}
	case !ours:
		return nil
	default:
		l.t.Logf("%s %s", kind, name)
		err = l.harm(ctx, kind, name)
	}
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || meta.IsNoMatchError(err) || apierrors.IsMethodNotSupported(err) {
		l.t.Logf("which comes to nothing: %v", err)
		return nil
	}
	return err
}

// harm does something to an object of the installation.
func (l *trial) harm(ctx context.Context, kind, name string) error {
	here := slots[name].make(l.world, 0)
	switch kind {
	case "apply", "put":
		return l.edit(ctx, kind, name)
	case "add":
		if here.GetKind() != "ConfigMap" {
			return nil
		}
		added := client.ApplyConfigurationFromUnstructured(l.configMap(here.GetName(), "added", "theirs"))
		return l.client.Apply(ctx, added, client.FieldOwner("another"))
	case "delete":
		return l.erase(ctx, name)
	case "replace":
		if here.GetKind() != "ConfigMap" {
			return nil
		}
		if err := l.erase(ctx, name); err != nil {
			return err
		}
		return l.create(ctx, name, here)
	case "instantiate", "free":
		return l.instantiate(ctx, kind, name)
	}
	return l.mark(ctx, kind, name)
}

// edit puts another value into the field that variants differ in.
func (l *trial) edit(ctx context.Context, how, name string) error {
	here := slots[name].make(l.world, 0)
	if slots[name].theirs == nil {
		return nil
	}
	l.memory.repairs[name]++
	if how == "apply" {
		if here.GetKind() == "CustomResourceDefinition" { // its names make sense together only
			return l.edit(ctx, "put", name)
		}
		bare := &unstructured.Unstructured{}
		bare.SetGroupVersionKind(here.GroupVersionKind())
		bare.SetNamespace(here.GetNamespace())
		bare.SetName(here.GetName())
		bare = with(bare, slots[name].theirs, slots[name].path...)
		if err := l.exists(ctx, here); err != nil { // an apply would create it
			return err
		}
		return l.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(bare), client.FieldOwner("another"), client.ForceOwnership)
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		found, err := l.get(ctx, here)
		if err != nil {
			return err
		}
		return l.client.Update(ctx, with(found, slots[name].theirs, slots[name].path...), client.FieldOwner("somebody"))
	})
}

func (l *trial) exists(ctx context.Context, o *unstructured.Unstructured) error {
	_, err := l.get(ctx, o)
	return err
}

// erase deletes the object of a slot, with the instances if it is a definition, and waits until it is gone.
func (l *trial) erase(ctx context.Context, name string) error {
	here := slots[name].make(l.world, 0)
	if err := l.client.Delete(ctx, here.DeepCopy()); err != nil {
		return err
	}
	if err := wait(ctx, name+" to be gone", func(ctx context.Context) error { return l.isGone(ctx, here) }); err != nil {
		return err
	}
	l.memory.excused[name] = true
	delete(l.memory.tampered, name)
	delete(l.memory.obstacle, name)
	delete(l.memory.foreign, engine.KeyOf(here))
	if strings.HasPrefix(name, "crd") {
		l.memory.lost(l.world, name)
	}
	return nil
}

// create puts a foreign object into a slot.
func (l *trial) create(ctx context.Context, name string, o *unstructured.Unstructured) error {
	if err := l.client.Create(ctx, o, administrator); err != nil {
		return err
	}
	l.memory.obstacle[name], l.memory.foreign[engine.KeyOf(o)] = true, o
	return nil
}

// instantiate creates or deletes an instance of a definition, which is a user's.
func (l *trial) instantiate(ctx context.Context, how, name string) error {
	kind, is := field(slots[name].make(l.world, 0), "spec", "names", "singular").(string)
	if !is || l.memory.excused[name] {
		return nil
	}
	mine := l.instance(kind, "mine")
	if how == "free" {
		delete(l.memory.foreign, engine.KeyOf(mine))
		return l.client.Delete(ctx, mine)
	}
	if err := l.client.Create(ctx, mine, administrator); err != nil {
		return err
	}
	l.memory.foreign[engine.KeyOf(mine)] = mine
	return nil
}

// mark changes a mark. An object that has lost all of them, or has another installation's, is foreign from now on.
func (l *trial) mark(ctx context.Context, how, name string) error {
	if how == "steal" && name == "manager" {
		return nil // its status changes when it likes
	}
	found := slots[name].make(l.world, 0)
	if err := l.client.Patch(ctx, found, client.RawPatch(types.MergePatchType, []byte(marks[how])), client.FieldOwner("another")); err != nil {
		return err
	}
	l.memory.tampered[name] = true
	l.memory.repairs[name]++
	n, err := strconv.ParseInt(number(found), 10, 64)
	identity := found.GetAnnotations()[engine.OwnerAnnotation]
	known := identity == l.owner || identity == "" && (err == nil && n > 0 || managedByEngine(found))
	if !known {
		l.memory.obstacle[name], l.memory.foreign[engine.KeyOf(found)] = true, found
	}
	return nil
}

func managedByEngine(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == engine.FieldManager })
}

// removeObstacles does by hand what the engine asks people to do.
func (l *trial) removeObstacles(ctx context.Context) error {
	for _, name := range l.memory.inTheWay(l.current) {
		l.t.Logf("remove %s, which is in the way", name)
		if err := l.erase(ctx, name); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
