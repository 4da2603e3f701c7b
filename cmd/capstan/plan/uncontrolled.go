package plan

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/capstan-capi/capstan/phases/engine"
)

// countedAtMost is how many instances of a definition are looked at for finalizers.
const countedAtMost = 5000

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Uncontrolled names the definitions that stay for what they hold although the components that control it go, with their
// instances, and how many of these have finalizers that nobody takes off then.
func Uncontrolled(ctx context.Context, p *Plan, access *Access) ([]string, error) {
	objects, err := dynamic.NewForConfig(access.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	names, err := metadata.NewForConfig(access.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	var stays []string
	for _, o := range p.Removals {
		if o.Verdict != engine.WouldRetain || o.Object.Kind != "CustomResourceDefinition" {
			continue
		}
		crd, err := objects.Resource(definitions).Get(ctx, o.Object.Name, metav1.GetOptions{})
		if err != nil {
			stays = append(stays, fmt.Sprintf("%s: %s; what it is cannot be read: %v", o.Object.text, o.Holds, err))
			continue
		}
		count, bound, err := finalized(ctx, names, crd)
		switch {
		case err != nil:
			stays = append(stays, fmt.Sprintf("%s: %s; how many have finalizers cannot be read: %v", o.Object.text, o.Holds, err))
		default:
			stays = append(stays, fmt.Sprintf("%s: %s, of which %d%s have finalizers: deleted, they wait for a controller that is gone", o.Object.text, o.Holds, count, bound))
		}
	}
	return stays, nil
}

// finalized counts the instances of a definition that have finalizers; bound is " or more" if there are too many to look at all.
func finalized(ctx context.Context, names metadata.Interface, crd *unstructured.Unstructured) (count int, bound string, err error) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	version := ""
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if v, is := v.(map[string]any); is && v["served"] == true {
			version, _ = v["name"].(string)
		}
	}
	resource := names.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural})
	options, looked := metav1.ListOptions{Limit: 500}, 0
	for {
		list, err := resource.List(ctx, options)
		if apierrors.IsNotFound(err) {
			return count, "", nil
		}
		if err != nil {
			return 0, "", err
		}
		for i := range list.Items {
			if looked++; len(list.Items[i].Finalizers) > 0 {
				count++
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return count, "", nil
		}
		if looked >= countedAtMost {
			return count, " or more", nil
		}
	}
}
