package rewrite_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// values are documents made of the words that matter.
func values(depth int) *rapid.Generator[any] {
	words := rapid.SampledFrom([]string{
		"cluster.x-k8s.io", "cluster.x-k8s.io/v1beta1", "cluster.hypershift.openshift.io/v1beta1", "infrastructure.cluster.hypershift.openshift.io",
		"platform-native.cluster.x-k8s.io/v1", "machines.cluster.x-k8s.io", "machines.ipam.cluster.hypershift.openshift.io", "v1", "operator.cluster.x-k8s.io/v1",
		"apiextensions.k8s.io", "customresourcedefinitions", "a <b> \"c\" \n",
	})
	keys := rapid.SampledFrom([]string{
		"apiVersion", "apiGroup", "apiGroups", "labels", "annotations", "fieldsV1", "metadata", "name", "ownerReferences", "managedFields", "spec", "status",
		"group", "items", "object", "rows", "resourceAttributes", "resource", "resourceRules", "resources", "resourceNames", "webhooks", "rules", "matchConstraints",
		"matchResources", "excludeResourceRules", "paramKind", "involvedObject", "related", "regarding", "scaleTargetRef", "other",
	})
	leaf := rapid.OneOf(rapid.Map(words, toAny), rapid.Just[any](json.Number("1.50")), rapid.Just[any](nil), rapid.Just[any](true))
	if depth == 0 {
		return leaf
	}
	below := values(depth - 1)
	return rapid.OneOf(
		leaf,
		rapid.Map(rapid.SliceOfN(below, 0, 3), func(items []any) any { return items }),
		rapid.Map(rapid.MapOfN(keys, below, 1, 5), func(members map[string]any) any { return members }),
		rapid.Map(rapid.MapOfN(keys, below, 1, 5), func(members map[string]any) any { return members }),
	)
}

func toAny(text string) any { return text }

func TestEveryDocumentComesBackAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.OneOf(values(5), shaped()).Draw(rt, "value")
		text, err := json.Marshal(value)
		if err != nil {
			rt.Fatal(err)
		}
		class, shape := classAt(rapid.Byte().Draw(rt, "class"))
		checkLaw(t, class, shape, text)
	})
}

// shaped are documents whose places are there.
func shaped() *rapid.Generator[any] {
	seed := rapid.SampledFrom(seeds)
	return rapid.Custom(func(t *rapid.T) any {
		decoded, err := decodeAll([]byte(seed.Draw(t, "seed")))
		if err != nil || len(decoded) == 0 {
			return nil
		}
		object, is := decoded[0].(map[string]any)
		if !is {
			return decoded[0]
		}
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 0:
			return map[string]any{"items": []any{object, values(2).Draw(t, "item")}}
		case 1:
			return map[string]any{"type": "ADDED", "object": object}
		}
		return object
	})
}

func TestEveryJSONPatchComesBackAsItWas(t *testing.T) {
	t.Parallel()
	paths := rapid.SampledFrom([]string{
		"", "/apiVersion", "/metadata", "/metadata/labels", "/metadata/labels/apiVersion", "/metadata/ownerReferences", "/metadata/ownerReferences/0",
		"/metadata/ownerReferences/-/apiVersion", "/spec/ref", "/spec/ref/apiGroup", "/spec/list/3/apiVersion", "/spec/annotations/a/b", "/a~1b", "/spec/group",
	})
	rapid.Check(t, func(rt *rapid.T) {
		var operations []any
		for range rapid.IntRange(0, 4).Draw(rt, "operations") {
			operation := map[string]any{
				"op":   rapid.SampledFrom([]string{"add", "replace", "test", "copy", "move", "remove"}).Draw(rt, "op"),
				"path": paths.Draw(rt, "path"), "from": paths.Draw(rt, "from"),
			}
			if rapid.Bool().Draw(rt, "valued") {
				operation["value"] = values(3).Draw(rt, "value")
			}
			operations = append(operations, operation)
		}
		text, err := json.Marshal(operations)
		if err != nil {
			rt.Fatal(err)
		}
		class, _ := classAt(rapid.Byte().Draw(rt, "class"))
		checkPatch(t, class, text)
	})
}

func TestEveryMessageNamesTheStandardGroups(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"cluster.hypershift.openshift.io", "infrastructure.", "machines.", ".", " ", "\n", "\"", "cluster.x-k8s.io", "ü", "x", "/", "-"})
	rapid.Check(t, func(rt *rapid.T) {
		text := ""
		for _, word := range rapid.SliceOfN(words, 0, 6).Draw(rt, "words") {
			text += word
		}
		checkMessage(t, text)
	})
}
