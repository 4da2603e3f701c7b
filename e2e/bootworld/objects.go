package bootworld

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Object is any object.
type Object = unstructured.Unstructured

// Parse reads an object, in which %s and the like stand for arguments. It panics over what is no YAML, since the caller has
// written it.
func Parse(text string, arguments ...any) *Object {
	o := &Object{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, text, arguments...), &o.Object); err != nil {
		panic(fmt.Sprintf("an object is no YAML: %v", err))
	}
	return o
}

// Put sets a field of an object to what a text says, and panics as Parse does.
func Put(o *Object, text string, path ...string) {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		panic(fmt.Sprintf("a field is no YAML: %v", err))
	}
	at := o.Object
	for _, key := range path[:len(path)-1] {
		at = at[key].(map[string]any)
	}
	at[path[len(path)-1]] = value
}

// Field is what an object has at a path with dots, such as spec.replicas or disks.0.image; nil for nothing.
func Field(o *Object, path string) any {
	var at any = o.Object
	for key := range strings.SplitSeq(path, ".") {
		at = Within(at, key)
	}
	return at
}

// Within is a field of an object, or an item of a list.
func Within(of any, key string) any {
	switch of := of.(type) {
	case map[string]any:
		return of[key]
	case []any:
		if index, err := strconv.Atoi(key); err == nil && index < len(of) {
			return of[index]
		}
	}
	return nil
}

// With puts an annotation on a new object.
func With(annotation, value string) func(*Object) {
	return func(o *Object) { o.SetAnnotations(map[string]string{annotation: value}) }
}

// Labelled puts a label on a new object.
func Labelled(label, value string) func(*Object) {
	return func(o *Object) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[label] = value
		o.SetLabels(labels)
	}
}

// Owned gives a new object an owner.
func Owned(by *Object) func(*Object) {
	return func(o *Object) {
		Put(o, fmt.Sprintf("[{apiVersion: %s, kind: %s, name: %s, uid: %s, controller: true}]", by.GetAPIVersion(), by.GetKind(), by.GetName(), by.GetUID()),
			"metadata", "ownerReferences")
	}
}
