package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// observed is what is kept of an object of the cluster: its metadata without what nobody here reads, and all of it
// packed. It is never changed once it was made, so that the same pointer means the same content.
type observed struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	packed packed // nil when only the metadata was asked for
}

// observe reads an object from its JSON without making a tree of it.
func observe(text []byte) (*observed, error) {
	o := &observed{}
	head := struct {
		*metav1.TypeMeta `json:",inline"`
		Metadata         *metav1.ObjectMeta `json:"metadata"`
	}{&o.TypeMeta, &o.ObjectMeta}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("reading an object of the API server: %w", err)
	}
	o.slim()
	if o.Kind != "PartialObjectMetadata" {
		o.packed = pack(text)
	}
	return o, nil
}

// observedFrom does the same from a tree, such as the answer to a write.
func observedFrom(obj *unstructured.Unstructured) *observed {
	o := &observed{packed: packObject(obj)}
	o.SetGroupVersionKind(obj.GroupVersionKind())
	o.Name, o.Namespace, o.UID = obj.GetName(), obj.GetNamespace(), obj.GetUID()
	o.ResourceVersion, o.Generation = obj.GetResourceVersion(), obj.GetGeneration()
	o.DeletionTimestamp, o.Finalizers = obj.GetDeletionTimestamp(), obj.GetFinalizers()
	o.Labels, o.Annotations = obj.GetLabels(), obj.GetAnnotations()
	o.slim()
	return o
}

// slim drops the metadata that is read from the whole object only.
func (o *observed) slim() {
	o.ManagedFields, o.OwnerReferences = nil, nil
	o.Labels, o.Annotations = ourMarks(o.Labels), ourMarks(o.Annotations)
}

func ourMarks(all map[string]string) map[string]string {
	var kept map[string]string
	for key, value := range all {
		if strings.HasPrefix(key, "capi-operator.openshift.io/") || key == metav1.InitialEventsAnnotationKey {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// object is the whole object as a tree that nobody else has; nil for none. Items of a list do not say of what kind
// they are, so the caller does.
func (o *observed) object(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	if o == nil {
		return nil
	}
	obj := o.packed.unpack()
	obj.SetGroupVersionKind(gvk)
	return obj
}

// version is the resourceVersion, empty for none.
func (o *observed) version() string {
	if o == nil {
		return ""
	}
	return o.ResourceVersion
}

func (o *observed) name() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// DeepCopyObject makes it an object for reflectors. It gives back the same one, which nobody changes.
func (o *observed) DeepCopyObject() runtime.Object { return o }

// observedList is the answer to a list.
type observedList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []observed
}

// DeepCopyObject makes it an object for reflectors.
func (l *observedList) DeepCopyObject() runtime.Object { return l }

// observer decodes what lists and watches send: objects, lists of them, and the Status of an error.
type observer struct{}

// Decode reads JSON; the kinds and the target that are proposed have no say.
func (observer) Decode(text []byte, _ *schema.GroupVersionKind, _ runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	o, err := observe(text)
	if err != nil {
		return nil, nil, err
	}
	gvk := o.GroupVersionKind()
	if gvk.Kind == "Status" && gvk.Group == "" {
		status := &metav1.Status{}
		err := json.Unmarshal(text, status)
		return status, &gvk, err
	}
	if !strings.HasSuffix(gvk.Kind, "List") {
		return o, &gvk, nil
	}
	var head struct {
		metav1.TypeMeta `json:",inline"`
		metav1.ListMeta `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, nil, fmt.Errorf("reading a list of the API server: %w", err)
	}
	list := &observedList{TypeMeta: head.TypeMeta, ListMeta: head.ListMeta, Items: make([]observed, len(head.Items))}
	for i, item := range head.Items {
		o, err := observe(item)
		if err != nil {
			return nil, &gvk, err
		}
		list.Items[i] = *o
	}
	return list, &gvk, nil
}

// Encode refuses: nothing is written through it.
func (observer) Encode(obj runtime.Object, _ io.Writer) error {
	return fmt.Errorf("encoding %T: only answers are read", obj)
}

// Identifier names the codec.
func (observer) Identifier() runtime.Identifier { return "capstan-observer" }
