package see

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"strings"

	"github.com/tidwall/gjson"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// Object is what is kept of an object of the cluster: its metadata without what nobody here reads, and all of it
// packed. It is never changed once it was made, so that the same pointer means the same content.
type Object struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Bare     bool          // nobody wanted its content, which was dropped
	packed   decide.Packed // nil when only the metadata was asked for
	SpecHash uint64        // a hash of all but the version, the status and who wrote that: what decisions are taken on
}

var hashSeed = maphash.MakeSeed()

// observe reads an object from its JSON without making a tree of it.
func observe(text []byte) (*Object, error) {
	if err := valid(text); err != nil {
		return nil, err
	}
	return observedIn(gjson.ParseBytes(text), text)
}

// ObjectFrom does the same from a tree.
func ObjectFrom(obj *unstructured.Unstructured) *Object {
	o, err := observe(decide.ToJSON(obj.Object))
	if err != nil {
		panic(fmt.Sprintf("reading %s: %v", decide.KeyOf(obj), err)) // an object of the API server has a time where one belongs
	}
	return o
}

// valid says what is wrong with a text that is not JSON.
func valid(text []byte) error {
	if gjson.ValidBytes(text) {
		return nil
	}
	var nothing any
	return fmt.Errorf("reading an object of the API server: %w", json.Unmarshal(text, &nothing))
}

// observedIn is observe for an object that was parsed already; text is all of it.
func observedIn(root gjson.Result, text []byte) (*Object, error) {
	if !root.IsObject() {
		return nil, fmt.Errorf("reading an object of the API server: %.40q is none", root.Raw)
	}
	o := &Object{}
	var err error
	var shape maphash.Hash
	shape.SetSeed(hashSeed)
	root.ForEach(func(field, value gjson.Result) bool {
		switch field.Str {
		case "kind":
			o.Kind = value.Str
		case "apiVersion":
			o.APIVersion = value.Str
		case "metadata":
			err = o.describe(value, &shape)
		case "status":
		default:
			write(&shape, field, value)
		}
		return err == nil
	})
	o.SpecHash = shape.Sum64()
	if err != nil {
		return nil, fmt.Errorf("reading an object of the API server: %w", err)
	}
	// What was read so far shares the memory of the whole text.
	for _, text := range []*string{&o.Kind, &o.APIVersion, &o.Name, &o.Namespace, (*string)(&o.UID), &o.ResourceVersion} {
		*text = strings.Clone(*text)
	}
	if o.Kind != "PartialObjectMetadata" {
		o.packed = decide.Pack(text)
	}
	return o, nil
}

// describe takes over the metadata that is not read from the whole object only.
func (o *Object) describe(metadata gjson.Result, shape *maphash.Hash) (err error) {
	metadata.ForEach(func(field, value gjson.Result) bool {
		switch field.Str {
		case "resourceVersion":
			o.ResourceVersion = value.Str
			return true
		case "managedFields":
			for _, entry := range value.Array() {
				if !ofStatus(entry) {
					write(shape, field, entry)
				}
			}
			return true
		case "name":
			o.Name = value.Str
		case "namespace":
			o.Namespace = value.Str
		case "uid":
			o.UID = types.UID(value.Str)
		case "generation":
			o.Generation = value.Int()
		case "deletionTimestamp":
			err = json.Unmarshal([]byte(value.Raw), &o.DeletionTimestamp)
		case "finalizers":
			for _, finalizer := range value.Array() {
				o.Finalizers = append(o.Finalizers, strings.Clone(finalizer.Str))
			}
		case "labels":
			o.Labels = ourMarks(value)
		case "annotations":
			o.Annotations = ourMarks(value)
		}
		write(shape, field, value)
		return err == nil
	})
	return err
}

func write(shape *maphash.Hash, field, value gjson.Result) {
	_, _ = shape.WriteString(field.Raw) // never fails
	_, _ = shape.WriteString(value.Raw)
}

// ofStatus says that an entry of managedFields has nothing but the status.
func ofStatus(entry gjson.Result) bool {
	fields := entry.Get("fieldsV1").Map()
	_, status := fields["f:status"]
	return status && len(fields) == 1
}

func ourMarks(all gjson.Result) map[string]string {
	var kept map[string]string
	all.ForEach(func(key, value gjson.Result) bool {
		if strings.HasPrefix(key.Str, "capi-operator.openshift.io/") || key.Str == metav1.InitialEventsAnnotationKey {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[strings.Clone(key.Str)] = strings.Clone(value.Str)
		}
		return true
	})
	return kept
}

// Tree is the whole object as a tree that nobody else has; nil for none. Items of a list do not say of what kind
// they are, so the caller does.
func (o *Object) Tree(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	if o == nil {
		return nil
	}
	obj := o.packed.Unpack()
	obj.SetGroupVersionKind(gvk)
	return obj
}

// Probed is as much of the object as probes look at: of a CustomResourceDefinition not the schemas, which are most of it.
func (o *Object) Probed(m *decide.Manifest) *unstructured.Unstructured {
	if !m.Key.IsCRD() || m.OwnGate {
		return o.Tree(m.Key.GVK())
	}
	parts := gjson.GetManyBytes(o.packed.Text(), "metadata.generation", "spec.names", "status")
	text := fmt.Sprintf(`{"metadata":{"generation":%s},"spec":{"names":%s},"status":%s}`,
		cmp.Or(parts[0].Raw, "null"), cmp.Or(parts[1].Raw, "null"), cmp.Or(parts[2].Raw, "null"))
	return &unstructured.Unstructured{Object: decide.FromJSON([]byte(text))}
}

// Version is the resourceVersion, empty for none.
func (o *Object) Version() string {
	if o == nil {
		return ""
	}
	return o.ResourceVersion
}

// NamespacedName is where the object is.
func (o *Object) NamespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// DeepCopyObject makes it an object for reflectors. It gives back the same one, which nobody changes.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// objectList is the answer to a list.
type objectList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Object
}

// DeepCopyObject makes it an object for reflectors.
func (l *objectList) DeepCopyObject() runtime.Object { return l }

// observer decodes what lists and watches send: objects, lists of them, and the Status of an error.
type observer struct{}

// Decode reads JSON; the kinds and the target that are proposed have no say.
func (observer) Decode(text []byte, _ *schema.GroupVersionKind, _ runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if err := valid(text); err != nil {
		return nil, nil, err
	}
	root := gjson.ParseBytes(text)
	gvk := schema.FromAPIVersionAndKind(root.Get("apiVersion").String(), root.Get("kind").String())
	switch {
	case gvk.Kind == "Status" && gvk.Group == "":
		status := &metav1.Status{}
		err := json.Unmarshal(text, status)
		return status, &gvk, err
	case !strings.HasSuffix(gvk.Kind, "List"):
		o, err := observedIn(root, text)
		return o, &gvk, err
	}
	list := &objectList{TypeMeta: metav1.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}}
	if err := json.Unmarshal([]byte(cmp.Or(root.Get("metadata").Raw, "{}")), &list.ListMeta); err != nil {
		return nil, &gvk, fmt.Errorf("reading a list of the API server: %w", err)
	}
	for _, item := range root.Get("items").Array() {
		o, err := observedIn(item, []byte(item.Raw))
		if err != nil {
			return nil, &gvk, err
		}
		list.Items = append(list.Items, *o)
	}
	return list, &gvk, nil
}

// Encode refuses: nothing is written through it.
func (observer) Encode(obj runtime.Object, _ io.Writer) error {
	return fmt.Errorf("encoding %T: only answers are read", obj)
}

// Identifier names the codec.
func (observer) Identifier() runtime.Identifier { return "capstan-observer" }
