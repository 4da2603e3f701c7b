package bootimage

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/golden"
)

// inMemory is an API server whose caches are never late. What is written is told to who watches.
type inMemory struct {
	client.Client
	mu sync.Mutex
	by map[string]*unstructured.Unstructured
	// index are the names of sets by values of the index.
	index    map[string]map[string]bool
	version  int
	changed  func(*unstructured.Unstructured)
	requests int
}

func placeOf(kind, name string) string { return kind + "/" + name }

// put stores an object in a new version.
func (m *inMemory) put(o *unstructured.Unstructured) {
	m.mu.Lock()
	m.version++
	o.SetResourceVersion(strconv.Itoa(m.version))
	before := m.by[placeOf(o.GetKind(), o.GetName())]
	m.by[placeOf(o.GetKind(), o.GetName())] = o
	if o.GetKind() == phases.MachineSetKind.Kind {
		m.indexes(before, false)
		m.indexes(o, true)
	}
	m.mu.Unlock()
	m.changed(o)
}

// everySet is the value of all sets.
const everySet = ""

func (m *inMemory) indexes(o *unstructured.Unstructured, is bool) {
	if o == nil {
		return
	}
	for _, value := range append(phases.IndexOf(o), everySet) {
		if m.index[value] == nil {
			m.index[value] = map[string]bool{}
		}
		if m.index[value][o.GetName()] = is; !is {
			delete(m.index[value], o.GetName())
		}
	}
}

func (m *inMemory) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *metav1.PartialObjectMetadata:
		if key.Namespace == "capi" {
			into.ResourceVersion = "1"
			return nil
		}
	case *corev1.Secret:
		into.ResourceVersion, into.Data = "1", map[string][]byte{"value": []byte(`{"ignition":{"version":"3.2.0"}}`)}
		return nil
	case *unstructured.Unstructured:
		m.mu.Lock()
		defer m.mu.Unlock()
		if o := m.by[placeOf(into.GetKind(), key.Name)]; o != nil {
			into.Object = o.Object
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

// List finds sets by the index.
func (m *inMemory) List(_ context.Context, into client.ObjectList, how ...client.ListOption) error {
	list, is := into.(*unstructured.UnstructuredList)
	if !is || list.GetKind() != phases.MachineSetKind.Kind+"List" {
		return nil
	}
	options := (&client.ListOptions{}).ApplyOptions(how)
	m.mu.Lock()
	defer m.mu.Unlock()
	value := everySet
	if options.FieldSelector != nil {
		value, _ = options.FieldSelector.RequiresExactMatch(phases.Index)
	}
	for name := range m.index[value] {
		list.Items = append(list.Items, *m.by[placeOf(phases.MachineSetKind.Kind, name)])
	}
	return nil
}

func (m *inMemory) sent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
}

func (m *inMemory) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	m.sent()
	if clone, is := o.(*unstructured.Unstructured); is {
		m.put(clone.DeepCopy())
	}
	return nil
}

func (m *inMemory) Update(context.Context, client.Object, ...client.UpdateOption) error {
	m.sent()
	return nil
}

// Patch names another template, or claims one.
func (m *inMemory) Patch(ctx context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	m.sent()
	if patch.Type() == types.MergePatchType {
		return m.Get(ctx, client.ObjectKeyFromObject(o), o)
	}
	text, err := patch.Data(o)
	if err != nil {
		return err
	}
	var edits []golden.Operation
	if err := json.Unmarshal(text, &edits); err != nil {
		return err
	}
	set, is := o.(*unstructured.Unstructured)
	name, named := edits[len(edits)-1].Value.(string)
	if !is || !named {
		return fmt.Errorf("%T gets %s", o, text)
	}
	if err := m.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	changed := set.DeepCopy()
	if err := unstructured.SetNestedField(changed.Object, name, "spec", "template", "spec", "infrastructureRef", "name"); err != nil {
		return err
	}
	m.put(changed)
	set.Object = changed.Object
	return nil
}
