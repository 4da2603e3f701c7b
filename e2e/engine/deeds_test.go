package engine_test

import (
	"context"
	"maps"
	"slices"
	"strconv"

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
	kind, name := l.drawDeed()
	if kind == "" {
		return nil
	}
	l.t.Logf("%s %s", kind, name)
	var err error
	if kind == "obstruct" {
		err = l.create(ctx, name, slots[name].make(l.world, 0))
	} else {
		err = l.harm(ctx, kind, name)
	}
	if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || meta.IsNoMatchError(err) || apierrors.IsMethodNotSupported(err) {
		l.t.Logf("which comes to nothing: %v", err)
		return nil
	}
	l.touched[name] = true
	return err
}

// drawDeed draws a deed and the slot that it is done to. Nothing is drawn that cannot be done there.
func (l *trial) drawDeed() (kind, name string) {
	var ours, full, free []string
	for _, name := range slotNames {
		_, installed := l.memory.uids[name]
		switch {
		case installed && !l.memory.obstacle[name]:
			ours = append(ours, name)
		case !installed && obstructible[name]:
			free = append(free, name)
		}
		if l.memory.full(l.world, name) {
			full = append(full, name)
		}
	}
	switch whose := rapid.IntRange(0, 9).Draw(l.t, "whose"); {
	case whose == 0 && len(free) > 0:
		return "obstruct", rapid.SampledFrom(free).Draw(l.t, "of")
	case whose == 1 && len(full) > 0:
		return "free", rapid.SampledFrom(full).Draw(l.t, "of")
	case len(ours) == 0:
		return "", ""
	}
	name = rapid.SampledFrom(ours).Draw(l.t, "of")
	kinds := append([]string{"delete", "delete", "mark", "steal", "steal"}, slots[name].deeds()...)
	if l.memory.tampered[name] { // whose marks are not ours any more cannot be imitated
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "imitate" })
	}
	if kind = rapid.SampledFrom(kinds).Draw(l.t, "deed"); kind == "mark" {
		kind = rapid.SampledFrom(slices.Sorted(maps.Keys(marks))).Draw(l.t, "mark")
	}
	return kind, name
}

// obstructible are the slots that a foreign object can be in the way of without standing in its own.
var obstructible = map[string]bool{"map-a": true, "map-b": true, "map-c": true, "role": true, "secret": true, "service": true}

// deeds are what can be done to the object of a slot, besides what can be done to any.
func (s slot) deeds() []string {
	switch {
	case s.theirs == nil:
		return nil
	case s.defines:
		return []string{"put", "imitate", "instantiate", "instantiate", "instantiate", "instantiate"}
	case s.of == "" && s.path[0] == "data" && s.theirs.(map[string]any)["key"] != nil:
		return []string{"apply", "put", "imitate", "add", "replace", "replace", "replace"}
	}
	return []string{"apply", "put", "imitate"}
}

// harm does something to an object of the installation.
func (l *trial) harm(ctx context.Context, kind, name string) error {
	here := slots[name].make(l.world, 0)
	switch kind {
	case "apply", "put", "imitate":
		l.memory.repairs[name]++
		return l.edit(ctx, kind, name)
	case "add":
		if err := l.exists(ctx, here); err != nil { // an apply would create it
			return err
		}
		added := client.ApplyConfigurationFromUnstructured(l.configMap(here.GetName(), "added", "theirs"))
		return l.client.Apply(ctx, added, client.FieldOwner("another"))
	case "delete":
		return l.erase(ctx, name)
	case "replace":
		if err := l.erase(ctx, name); err != nil {
			return err
		}
		return l.create(ctx, name, here)
	case "instantiate", "free":
		return l.instantiate(ctx, kind, name)
	}
	return l.mark(ctx, kind, name)
}

// edit puts another value into the field that variants differ in: as another manager, or in the name of the engine's,
// which leaves no trace in managedFields but the value.
func (l *trial) edit(ctx context.Context, how, name string) error {
	here, path := slots[name].make(l.world, 0), slots[name].path
	switch how {
	case "apply":
		bare := &unstructured.Unstructured{}
		bare.SetGroupVersionKind(here.GroupVersionKind())
		bare.SetNamespace(here.GetNamespace())
		bare.SetName(here.GetName())
		if err := l.exists(ctx, here); err != nil {
			return err
		}
		bare = with(bare, slots[name].theirs, path...)
		return l.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(bare), client.FieldOwner("another"), client.ForceOwnership)
	case "imitate":
		found, err := l.get(ctx, here)
		if err != nil {
			return err
		}
		here.SetLabels(found.GetLabels())
		here.SetAnnotations(found.GetAnnotations())
		theirs := with(here, slots[name].theirs, path...)
		return l.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(theirs), client.FieldOwner(fieldManager), client.ForceOwnership)
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		found, err := l.get(ctx, here)
		if err != nil {
			return err
		}
		return l.client.Update(ctx, with(found, slots[name].theirs, path...), client.FieldOwner("somebody"))
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
	if slots[name].defines {
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
	mine := l.users(name)
	if how == "free" {
		delete(l.memory.foreign, engine.KeyOf(mine))
		return l.client.Delete(ctx, mine)
	}
	// With a kind that is new, the API server lets creations wait for two seconds, and applies not.
	if err := l.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(mine.DeepCopy()), administrator); err != nil {
		return err
	}
	mine, err := l.get(ctx, mine)
	if err != nil {
		return err
	}
	l.memory.foreign[engine.KeyOf(mine)] = mine
	return nil
}

// users is the instance of a definition that a user has.
func (w *world) users(crd string) *unstructured.Unstructured {
	singular, _ := field(slots[crd].make(w, 0), "spec", "names", "singular").(string)
	return w.instance(singular, "mine")
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
	identity := found.GetAnnotations()[engine.OwnerAnnotation]
	if known := identity == l.owner || identity == "" && managedByEngine(found); !known {
		l.memory.obstacle[name], l.memory.foreign[engine.KeyOf(found)] = true, found
	}
	return nil
}

func managedByEngine(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == fieldManager })
}

// explain does by hand what the engine asks people to do with a number that is higher than the newest revision's where nobody
// can tell any more who wrote it: it is taken away.
func (l *trial) explain(ctx context.Context) error {
	for name := range l.current {
		found, err := l.get(ctx, slots[name].make(l.world, 0))
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return err
		}
		if n, err := strconv.ParseInt(number(found), 10, 64); err != nil || n <= l.number || managedByEngine(found) || l.memory.obstacle[name] {
			continue
		}
		l.t.Logf("take away the number of %s, which nobody can tell the writer of", name)
		if err := l.mark(ctx, "unnumber", name); err != nil {
			return err
		}
	}
	return nil
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
