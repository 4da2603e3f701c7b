package private_test

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// other is the core group of the other world.
func (w *world) other() string {
	if w.group == standardGroup {
		return privateGroup
	}
	return standardGroup
}

// stored are all objects of the kinds whose groups are within a core group, and the Secrets, as an administrator sees them.
func stored(ctx context.Context, core string) ([]unstructured.Unstructured, error) {
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := api.List(ctx, definitions); err != nil {
		return nil, fmt.Errorf("listing definitions: %w", err)
	}
	kinds := []schema.GroupVersionKind{{Version: "v1", Kind: "SecretList"}}
	for _, definition := range definitions.Items {
		if within(definition.Spec.Group, core) {
			kinds = append(kinds, schema.GroupVersionKind{Group: definition.Spec.Group, Version: "v1beta2", Kind: definition.Spec.Names.ListKind})
		}
	}
	var all []unstructured.Unstructured
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := api.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %s: %w", kind.Kind, err)
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// misplaced tells of objects of the world's groups that lie in namespaces of another one, and of objects in the world's namespaces
// that name a group of the other. There has to be something to look at.
func (w *world) misplaced(ctx context.Context) ([]string, error) {
	objects, err := stored(ctx, w.group)
	if err != nil {
		return nil, err
	}
	var wrong []string
	looked := 0
	for _, object := range objects {
		id := object.GetAPIVersion() + " " + object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		switch ours := strings.HasPrefix(object.GetNamespace(), w.name+"-"); {
		case ours:
			looked++
			for _, place := range namesGroup(object.Object, "", w.other()) {
				wrong = append(wrong, id+" names a group of the other world at "+place)
			}
		case object.GetKind() != "Secret":
			wrong = append(wrong, id+" lies outside of the namespaces of its world")
		}
	}
	if looked == 0 {
		return nil, fmt.Errorf("the %s world has no object", w.name)
	}
	return wrong, nil
}

// namesGroup are the places at which an object names a group within a core group: the values of apiVersion and apiGroup at any
// depth, but for labels and annotations, which are their owner's text.
func namesGroup(value any, at, core string) []string {
	var places []string
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			text, isText := inner.(string)
			group, _, _ := strings.Cut(text, "/")
			switch {
			case key == "labels" || key == "annotations":
			case (key == "apiVersion" || key == "apiGroup") && isText && within(group, core):
				places = append(places, at+"."+key+"="+text)
			default:
				places = append(places, namesGroup(inner, at+"."+key, core)...)
			}
		}
	case []any:
		for i, inner := range value {
			places = append(places, namesGroup(inner, fmt.Sprintf("%s[%d]", at, i), core)...)
		}
	}
	return places
}
