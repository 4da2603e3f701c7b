package clusterapi

import (
	"slices"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

func TestRelated_lists_all_instances_of_each_definition_and_no_namespaced_object_by_name(t *testing.T) {
	object := func(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(apiVersion)
		o.SetKind(kind)
		o.SetNamespace(namespace)
		o.SetName(name)
		return o
	}
	p := &Phases{OperatorNamespace: "ops", CAPINamespace: "capi"}
	before := []configv1.ObjectReference{{Resource: "namespaces", Name: "told-before"}}
	if got := p.related(before); !slices.Equal(got, before) {
		t.Errorf("nothing is desired yet, and it lists %v", got)
	}
	p.memory.desired = &engine.Revision{Components: []engine.Component{{Objects: []*unstructured.Unstructured{
		object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "machines.cluster.x-k8s.io"),
		object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "manager"),
		object("v1", "ConfigMap", "capi", "settings"),
	}}}}
	got := p.related(nil)
	if len(got) != 8 {
		t.Errorf("it lists %v", got)
	}
	for _, want := range []configv1.ObjectReference{
		{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "machines.cluster.x-k8s.io"},
		{Group: "cluster.x-k8s.io", Resource: "machines"},
		{Group: "rbac.authorization.k8s.io", Resource: "clusterroles", Name: "manager"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("it does not list %+v", want)
		}
	}
}
