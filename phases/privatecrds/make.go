package privatecrds

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Options say where the private objects lead.
type Options struct {
	// Route is the name by which the shim's route file knows the webhooks of these objects.
	Route string
	// Service is the shim's.
	Service types.NamespacedName
	// Spared is the user whom no webhook is asked about: the account of the migration, which copies objects while those who
	// serve their webhooks are away.
	Spared string
}

// Made is what has become of upstream objects.
type Made struct {
	// Objects are the private ones: definitions, roles, webhook configurations, each sorted by name.
	Objects []*unstructured.Unstructured
	// LeftOut are the upstream objects that no private one stands for, as Kind name, sorted.
	LeftOut []string
}

// makers are the kinds of which there is a private form, in the order in which they are to be applied.
var makers = []struct {
	kind string
	// make changes a copy. False says that the object is not about a group of Cluster API.
	make func(*unstructured.Unstructured, Options) (bool, ProblemsError)
}{
	{"CustomResourceDefinition", makeDefinition},
	{"ClusterRole", makeRole},
	{"Role", makeRole},
	{"MutatingWebhookConfiguration", makeWebhooks},
	{"ValidatingWebhookConfiguration", makeWebhooks},
}

// Make returns the private objects for upstream ones, which it leaves as they are. Its error is [ProblemsError]: all that is wrong.
func Make(upstream []*unstructured.Unstructured, o Options) (Made, error) {
	var made Made
	var wrong ProblemsError
	ranks := map[string]int{}
	for i, m := range makers {
		ranks[m.kind] = i
	}
	for _, object := range upstream {
		rank, is := ranks[object.GetKind()]
		if !is {
			made.LeftOut = append(made.LeftOut, nameOf(object))
			continue
		}
		private := object.DeepCopy()
		about, problems := makers[rank].make(private, o)
		wrong = append(wrong, problems.of(nameOf(object))...)
		switch {
		case !about:
			made.LeftOut = append(made.LeftOut, nameOf(object))
		case len(problems) == 0:
			made.Objects = append(made.Objects, private)
		}
	}
	slices.SortStableFunc(made.Objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(ranks[a.GetKind()], ranks[b.GetKind()]), cmp.Compare(a.GetName(), b.GetName()))
	})
	slices.Sort(made.LeftOut)
	if wrong = append(wrong, twice(made.Objects)...); len(wrong) > 0 {
		return Made{}, wrong
	}
	return made, nil
}

// twice are the objects that come more than once.
func twice(objects []*unstructured.Unstructured) (wrong ProblemsError) {
	seen := map[string]bool{}
	for _, object := range objects {
		key := object.GetNamespace() + " " + nameOf(object)
		if seen[key] {
			wrong = append(wrong, Problem{Object: nameOf(object), Cause: "it is there twice; give each provider once"})
		}
		seen[key] = true
	}
	return wrong
}

func nameOf(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s", object.GetKind(), object.GetName())
}
