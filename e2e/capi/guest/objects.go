package guest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds are those of OpenShift that a guest serves, all of them cluster-scoped, by their resource.
var kinds = map[schema.GroupVersionResource]string{
	config.WithResource("clusterversions"):  "ClusterVersion",
	config.WithResource("clusteroperators"): "ClusterOperator",
	config.WithResource("infrastructures"):  "Infrastructure",
	operator.WithResource("etcds"):          "Etcd",
}

var (
	config   = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	operator = schema.GroupVersion{Group: "operator.openshift.io", Version: "v1"}
)

// objects are those of OpenShift in one guest. Its methods may be called from several goroutines; what they take and give is a copy.
type objects struct {
	mu      sync.Mutex
	version int
	stored  map[schema.GroupVersionResource]map[string]*unstructured.Unstructured
}

func (o *objects) get(of schema.GroupVersionResource, name string) (*unstructured.Unstructured, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := o.stored[of][name]
	if found == nil {
		return nil, apierrors.NewNotFound(of.GroupResource(), name)
	}
	return found.DeepCopy(), nil
}

// list has the objects of a kind by their names.
func (o *objects) list(of schema.GroupVersionResource) *unstructured.UnstructuredList {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{}}
	all.SetGroupVersionKind(of.GroupVersion().WithKind(kinds[of] + "List"))
	all.SetResourceVersion(strconv.Itoa(o.version))
	for _, name := range slices.Sorted(maps.Keys(o.stored[of])) {
		all.Items = append(all.Items, *o.stored[of][name].DeepCopy())
	}
	return all
}

// put stores an object, whether there was one or not, unless it names another version than the stored one. What is stored is what comes
// back: a guest does not keep status and spec apart.
func (o *objects) put(of schema.GroupVersionResource, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.store(of, object)
}

func (o *objects) store(of schema.GroupVersionResource, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	name := object.GetName()
	if before := o.stored[of][name]; before != nil && object.GetResourceVersion() != "" && object.GetResourceVersion() != before.GetResourceVersion() {
		return nil, apierrors.NewConflict(of.GroupResource(), name, fmt.Errorf("it is of version %s", before.GetResourceVersion()))
	}
	o.version++
	kept := object.DeepCopy()
	kept.SetGroupVersionKind(of.GroupVersion().WithKind(kinds[of]))
	kept.SetResourceVersion(strconv.Itoa(o.version))
	if o.stored == nil {
		o.stored = map[schema.GroupVersionResource]map[string]*unstructured.Unstructured{}
	}
	if o.stored[of] == nil {
		o.stored[of] = map[string]*unstructured.Unstructured{}
	}
	o.stored[of][name] = kept
	return kept.DeepCopy(), nil
}

// patch merges a JSON merge patch into an object that exists.
func (o *objects) patch(of schema.GroupVersionResource, name string, patch []byte) (*unstructured.Unstructured, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.stored[of][name]
	if before == nil {
		return nil, apierrors.NewNotFound(of.GroupResource(), name)
	}
	text, err := before.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing %s %s: %w", of.Resource, name, err)
	}
	merged, err := jsonpatch.MergePatch(text, patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after := &unstructured.Unstructured{}
	if err := after.UnmarshalJSON(merged); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return o.store(of, after)
}

// remove deletes an object.
func (o *objects) remove(of schema.GroupVersionResource, name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stored[of][name] == nil {
		return apierrors.NewNotFound(of.GroupResource(), name)
	}
	o.version++
	delete(o.stored[of], name)
	return nil
}

// resources is what discovery says of a group.
func resources(of schema.GroupVersion) *metav1.APIResourceList {
	all := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: of.String()}
	for resource, kind := range kinds {
		if resource.GroupVersion() == of {
			all.APIResources = append(all.APIResources, metav1.APIResource{
				Name: resource.Resource, Kind: kind, Verbs: metav1.Verbs{"create", "delete", "get", "list", "patch", "update"},
			})
		}
	}
	slices.SortFunc(all.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	return all
}
