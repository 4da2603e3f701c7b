package house

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

func TestKinds_cache_keeps_what_any_machine_reads_and_nothing_else(t *testing.T) {
	maps := func(keys ...client.ObjectKey) Kind {
		return Kind{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true, Only: keys}
	}
	nodes := func(keys ...client.ObjectKey) Kind {
		return Kind{Version: corev1.SchemeGroupVersion, Object: &corev1.Node{}, List: &corev1.NodeList{}, Only: keys}
	}
	uncached := maps()
	uncached.Uncached = true
	one, two, other := client.ObjectKey{Namespace: "a", Name: "one"}, client.ObjectKey{Namespace: "a", Name: "two"}, client.ObjectKey{Namespace: "b", Name: "one"}
	for name, row := range map[string]struct {
		kinds Kinds
		want  string
	}{
		"one object":                          {Kinds{maps(one)}, "a metadata.name=one"},
		"the same object of two machines":     {Kinds{maps(one), maps(one)}, "a metadata.name=one"},
		"two objects of a namespace":          {Kinds{maps(one), maps(two)}, "a "},
		"objects of two namespaces":           {Kinds{maps(one), maps(other)}, "a metadata.name=one, b metadata.name=one"},
		"all for one machine":                 {Kinds{maps(one), maps()}, ""},
		"written by one and read by another":  {Kinds{uncached, maps(one)}, "a metadata.name=one"},
		"written only":                        {Kinds{uncached}, ""},
		"one object without a namespace":      {Kinds{nodes(client.ObjectKey{Name: "n"})}, "metadata.name=n"},
		"several objects without a namespace": {Kinds{nodes(client.ObjectKey{Name: "n"}), nodes(client.ObjectKey{Name: "m"})}, ""},
	} {
		var got []string
		for _, by := range row.kinds.Cache(nil).ByObject {
			for namespace, config := range by.Namespaces {
				got = append(got, fmt.Sprintf("%s %s", namespace, config.FieldSelector))
			}
			if by.Field != nil && by.Field.String() != "" {
				got = append(got, by.Field.String())
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != row.want {
			t.Errorf("%s: limited to %q, want %q", name, text, row.want)
		}
	}
	if cached := (Kinds{uncached, maps(one)}).cached(); len(cached) != 1 || len(cached[0].Only) != 1 {
		t.Errorf("cached are %+v", cached)
	}
}

func TestKinds_of_one_kind_one_is_watched_by_its_metadata_and_the_whole_is_read_live(t *testing.T) {
	node := corev1.SchemeGroupVersion.WithKind("Node")
	watched := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}}
	kinds := Kinds{
		{Version: corev1.SchemeGroupVersion, Object: &corev1.Node{}, List: &corev1.NodeList{}, Uncached: true},
		{Version: corev1.SchemeGroupVersion, Object: watched, List: &metav1.PartialObjectMetadataList{}, Keep: func(o client.Object) { o.SetManagedFields(nil) }},
	}
	mapper, err := kinds.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if mapping, err := mapper.RESTMapping(node.GroupKind()); err != nil || mapping.Resource.Resource != "nodes" {
		t.Errorf("it is %+v, %v", mapping, err)
	}
	for _, o := range []client.Object{&corev1.Node{}, watched} {
		if kind, err := apiutil.GVKForObject(o, kinds.Scheme()); err != nil || kind != node {
			t.Errorf("%T is %s, %v", o, kind, err)
		}
	}
	by, is := kinds.Cache(nil).ByObject[client.Object(watched)]
	if cached := kinds.cached(); len(cached) != 1 || !is || by.Transform == nil {
		t.Fatalf("cached are %+v", cached)
	}
	kept, err := by.Transform(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{}}}})
	if o, is := kept.(client.Object); err != nil || !is || len(o.GetManagedFields()) > 0 {
		t.Errorf("kept is %+v, %v", kept, err)
	}
}

func TestKinds_without_a_type_are_told_apart_by_what_they_are_called(t *testing.T) {
	of := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "x.example.com/v1", "kind": kind}}
	}
	version := schema.GroupVersion{Group: "x.example.com", Version: "v1"}
	kinds := Kinds{
		{Version: version, Object: of("A"), List: &unstructured.UnstructuredList{}, Namespaced: true, Only: []client.ObjectKey{{Namespace: "n"}}},
		{Version: version, Object: of("B"), List: &unstructured.UnstructuredList{}, Optional: true},
	}
	mapper, err := kinds.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for kind, namespaced := range map[string]bool{"A": true, "B": false} {
		if is, err := apiutil.IsObjectNamespaced(of(kind), kinds.Scheme(), mapper); err != nil || is != namespaced {
			t.Errorf("%s: namespaced is %t, %v", kind, is, err)
		}
	}
	if cached := kinds.cached(); len(cached) != 2 || cached[0].is(of("B")) || !cached[1].is(of("B")) || cached[1].is(&metav1.PartialObjectMetadata{}) {
		t.Errorf("cached are %+v", cached)
	}
	if name := called(of("A")); name != "A" {
		t.Errorf("it is called %s", name)
	}
}

func TestKinds_a_first_list_that_does_not_come_to_its_end_is_logged(t *testing.T) {
	listed, logged := false, []string{}
	begins := awaits("Node", func() bool { return listed }, funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	for range 3 {
		begins()
	}
	listed = true
	begins()
	if len(logged) != 2 || !strings.Contains(logged[1], `"kind"="Node" "tries"=3`) || !strings.Contains(logged[1], "kube-apiserver and etcd") {
		t.Errorf("logged is %q", logged)
	}
}

func TestKinds_lists_from_a_cache_of_some_namespaces_as_from_a_whole_one(t *testing.T) {
	kinds := Kinds{{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true}}
	mapper, err := kinds.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []runtime.Object{&corev1.ConfigMap{}, &corev1.ConfigMapList{}} {
		if namespaced, err := apiutil.IsObjectNamespaced(o, kinds.Scheme(), mapper); err != nil || !namespaced {
			t.Errorf("%T: namespaced is %t, %v", o, namespaced, err)
		}
	}
}

func TestKinds_scheme_knows_no_kind_that_nobody_has_named(t *testing.T) {
	scheme := Kinds{{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true}}.Scheme()
	if _, _, err := scheme.ObjectKinds(&corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
	if _, _, err := scheme.ObjectKinds(&corev1.Secret{}); err == nil {
		t.Error("a Secret could be read")
	}
}
