package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine"
)

// memory is what a history has to remember in order to judge. Slots are named as in slots.
type memory struct {
	uids     map[string]types.UID                      // at the last convergence
	excused  map[string]bool                           // deleted by hand since
	tampered map[string]bool                           // lost or changed a mark since, by hand
	repairs  map[string]int                            // that the present engine had to make or will have to
	foreign  map[engine.Key]*unstructured.Unstructured // as hands left them: nobody else may touch them
	obstacle map[string]bool                           // slots whose object is foreign
	given    map[string]bool                           // slots whose object was dropped while it was tampered with: it may stay
}

func newMemory() memory {
	return memory{
		map[string]types.UID{},
		map[string]bool{},
		map[string]bool{},
		map[string]int{},
		map[engine.Key]*unstructured.Unstructured{},
		map[string]bool{},
		map[string]bool{},
	}
}

// bystanders are foreign objects from the beginning.
func (m *memory) bystanders(ctx context.Context, w *world) error {
	neighbour := annotated(w.configMap("neighbour", "key", "theirs"), engine.OwnerAnnotation, "else")
	neighbour = with(annotated(neighbour, engine.RevisionAnnotation, "1"), "core", "metadata", "labels", engine.ManagedByLabel)
	for _, o := range []*unstructured.Unstructured{w.configMap("bystander", "key", "theirs"), neighbour} {
		if err := w.client.Create(ctx, o, administrator); err != nil {
			return err
		}
		m.foreign[engine.KeyOf(o)] = o
	}
	return nil
}

// contested says that one more repair might make a contest, in which the engine takes its time.
func (m *memory) contested() bool {
	for _, n := range m.repairs {
		if n > 3 {
			return true
		}
	}
	return false
}

// inTheWay are the slots of a content whose objects are foreign.
func (m *memory) inTheWay(c content) []string {
	var found []string
	for _, name := range slotNames {
		if _, wanted := c[name]; wanted && m.obstacle[name] {
			found = append(found, name)
		}
	}
	return found
}

// full says that a slot is a definition of which a user has an instance.
func (m *memory) full(w *world, name string) bool {
	return slots[name].defines && m.foreign[engine.KeyOf(w.users(name))] != nil
}

// drop books that the next revision does not have a slot any more.
func (m *memory) drop(name string) {
	if m.tampered[name] && !m.obstacle[name] {
		m.given[name] = true
	}
	delete(m.uids, name)
	delete(m.tampered, name)
	delete(m.repairs, name)
}

// lost books that a definition was deleted by hand, and all its instances with it.
func (m *memory) lost(w *world, crd string) {
	for _, name := range slotNames {
		if slots[name].of == crd {
			m.excused[name] = true
			delete(m.obstacle, name)
			delete(m.given, name)
		}
	}
	kind, _ := field(slots[crd].make(w, 0), "spec", "names", "kind").(string)
	for key := range m.foreign {
		if key.Kind == kind {
			delete(m.foreign, key)
		}
	}
}

// check says nil when nothing foreign was touched.
func (m *memory) check(ctx context.Context, w *world) error {
	for key, known := range m.foreign {
		found, err := w.get(ctx, known)
		if err != nil {
			return fmt.Errorf("%s is foreign: %w", key, err)
		}
		if touched(found, known) {
			return fmt.Errorf("%s is foreign and was touched: %v, was %v", key, found, known)
		}
	}
	return nil
}

// judge says nil when what a prune left or retained was not to be removed.
func (m *memory) judge(ctx context.Context, w *world, report *engine.TeardownReport) error {
	may := map[engine.Key]bool{}
	for name := range m.given {
		may[engine.KeyOf(slots[name].make(w, 0))] = true
	}
	for _, o := range report.Left {
		if m.foreign[o.Key] == nil && !may[o.Key] {
			return fmt.Errorf("%s was left: %s", o.Key, o.Why)
		}
	}
	for _, o := range report.Retained {
		if n, err := w.instances(ctx, o.Key); err != nil || n == 0 {
			return fmt.Errorf("%s was retained and has %d instances, %w", o.Key, n, err)
		}
	}
	return nil
}

// converged says nil when the content is there, under its number and the same identities, and nothing else of the
// installation; all that happened before is history then.
func (m *memory) converged(ctx context.Context, w *world, c content, number int64) error {
	expected := map[engine.Key]bool{{Version: "v1", Kind: "ConfigMap", Namespace: w.namespace, Name: fmt.Sprintf("capstan-inventory-%d", number)}: true}
	for name := range m.given {
		expected[engine.KeyOf(slots[name].make(w, 0))] = true
	}
	uids := map[string]types.UID{}
	for name := range c {
		wanted := c.object(w, name)
		expected[engine.KeyOf(wanted)] = true
		found, err := w.get(ctx, wanted)
		if err != nil {
			return err
		}
		if err := errors.Join(isAs(found, wanted, slots[name].path), w.isMarked(found, number)); err != nil {
			return fmt.Errorf("%s: %w", engine.KeyOf(found), err)
		}
		if was := m.uids[name]; was != "" && was != found.GetUID() && !m.excused[name] {
			return fmt.Errorf("%s is another object than before", engine.KeyOf(found))
		}
		uids[name] = found.GetUID()
	}
	if err := w.noOrphans(ctx, expected); err != nil {
		return err
	}
	m.uids = uids
	clear(m.excused)
	for name := range c {
		delete(m.tampered, name)
		delete(m.given, name)
	}
	return nil
}

// isMarked says nil when an object carries the marks of the installation.
func (w *world) isMarked(o *unstructured.Unstructured, revision int64) error {
	if number(o) != fmt.Sprint(revision) || o.GetAnnotations()[engine.OwnerAnnotation] != w.owner || o.GetLabels()[engine.ManagedByLabel] == "" {
		return fmt.Errorf("its marks are %v and %v", o.GetLabels(), o.GetAnnotations())
	}
	return nil
}

// isAs says nil when an object has what is wanted at a path, and beyond it only what others hold.
func isAs(found, wanted *unstructured.Unstructured, path []string) error {
	there, want := field(found, path...), field(wanted, path...)
	values, granular := there.(map[string]any)
	if !granular || found.GetKind() != "ConfigMap" {
		if want == nil && there != nil && heldByOthers(found, path[len(path)-1]) || reflect.DeepEqual(there, want) {
			return nil
		}
		return fmt.Errorf("%v is %v, want %v", path, there, want)
	}
	for key, value := range want.(map[string]any) {
		if values[key] != value {
			return fmt.Errorf("%s is %v, want %v", key, values[key], value)
		}
	}
	for key := range values {
		if _, ours := want.(map[string]any)[key]; !ours && !heldByOthers(found, key) {
			return fmt.Errorf("%s is there, nobody holds it and nobody wants it", key)
		}
	}
	return nil
}

func heldByOthers(o *unstructured.Unstructured, key string) bool {
	for _, e := range o.GetManagedFields() {
		if e.Manager != fieldManager && holds(o, e.Manager, `"f:`+key+`"`) {
			return true
		}
	}
	return false
}

// installable are the kinds of all slots.
func (w *world) installable() []schema.GroupVersionKind {
	kinds := map[schema.GroupVersionKind]bool{}
	var all []schema.GroupVersionKind
	for _, name := range slotNames {
		if gvk := slots[name].make(w, 0).GroupVersionKind(); !kinds[gvk] {
			kinds[gvk] = true
			all = append(all, gvk)
		}
	}
	return all
}

// list are the objects of a kind; none when the kind is not served.
func (w *world) list(ctx context.Context, gvk schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	if err := w.client.List(ctx, list); err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return nil, err
	}
	return list.Items, nil
}

// noOrphans says nil when the installation has nothing but what is expected and definitions that have instances.
func (w *world) noOrphans(ctx context.Context, expected map[engine.Key]bool) error {
	for _, gvk := range w.installable() {
		objects, err := w.list(ctx, gvk)
		if err != nil {
			return err
		}
		for i := range objects {
			o := &objects[i]
			if o.GetAnnotations()[engine.OwnerAnnotation] != w.owner || expected[engine.KeyOf(o)] {
				continue
			}
			if n, err := w.instances(ctx, engine.KeyOf(o)); err != nil || n == 0 {
				return errors.Join(fmt.Errorf("%s is an orphan", engine.KeyOf(o)), err)
			}
		}
	}
	return nil
}

// instances counts the objects of a definition, 0 for what is none.
func (w *world) instances(ctx context.Context, key engine.Key) (int, error) {
	for _, name := range slotNames {
		crd := slots[name].make(w, 0)
		if engine.KeyOf(crd) != key || crd.GetKind() != "CustomResourceDefinition" {
			continue
		}
		kind, _ := field(crd, "spec", "names", "kind").(string)
		objects, err := w.list(ctx, schema.GroupVersionKind{Group: w.group, Version: "v1", Kind: kind})
		return len(objects), err
	}
	return 0, nil
}
