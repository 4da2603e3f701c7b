package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// photo is what there is of managed objects, by kind, namespace and name.
type photo map[string]*unstructured.Unstructured

// photographed are the kinds of which providers of the suite have objects.
var photographed = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Namespace"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"},
}

// photograph is what there is now, of these kinds and others.
func photograph(ctx context.Context, others ...schema.GroupVersionKind) photo {
	GinkgoHelper()
	p := photo{}
	for _, gvk := range slices.Concat(photographed, others) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		Expect(client.IgnoreNotFound(env.Client.List(ctx, list, client.HasLabels{harness.ManagedByLabel}))).To(Succeed())
		for i := range list.Items {
			o := &list.Items[i]
			p[keyed(gvk.Group, gvk.Kind, o.GetNamespace(), o.GetName())] = o
		}
	}
	return p
}

func keyed(group, kind, namespace, name string) string {
	return kind + "." + group + " " + namespace + "/" + name
}

// cameTrue expects that what was planned has become of the objects that a photo showed before, and of no others.
func cameTrue(ctx context.Context, p planned, before photo, others ...schema.GroupVersionKind) {
	GinkgoHelper()
	after, told := photograph(ctx, others...), map[string]bool{}
	var wrong []string
	for _, o := range p.all() {
		key := keyed(o.Object.Group, o.Object.Kind, o.Object.Namespace, o.Object.Name)
		told[key] = true
		if why := o.differs(before[key], after[key]); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s was to be %s (%s): %s", key, o.Verdict, o.How, why))
		}
	}
	for key := range after {
		if !told[key] && before[key] == nil {
			wrong = append(wrong, key+" was not planned, and is there")
		}
	}
	for key := range before {
		if !told[key] && after[key] == nil {
			wrong = append(wrong, key+" was not planned, and is gone")
		}
	}
	slices.Sort(wrong)
	Expect(wrong).To(BeEmpty())
}

// differs says how what became of an object is not what was planned, empty if it is.
func (o plannedObject) differs(before, after *unstructured.Unstructured) string {
	if before == nil && after == nil && o.Verdict == "leave" {
		return ""
	}
	var is string
	switch {
	case before == nil && after == nil:
		is = "nothing"
	case before == nil:
		is = "create"
	case after == nil:
		is = "remove"
	case before.GetUID() != after.GetUID():
		is = "replace"
	default:
		is = "change"
	}
	changes := changed(before, after)
	switch {
	case is == "change" && len(changes) == 0:
		if o.Verdict != "mark" && o.Verdict != "leave" && o.Verdict != "retain" && !(o.Verdict == "change" && o.How == "later") {
			return "it is as it was"
		}
		return ""
	case is != o.Verdict:
		return fmt.Sprintf("it is %s: %q", is, changes)
	case is == "change" && o.How != "later":
		return o.differsIn(changes)
	}
	return ""
}

// differsIn compares the fields that changed with those that were told: each of the ones is in, or around, one of the others.
func (o plannedObject) differsIn(changes []string) string {
	var told []string
	for _, f := range o.Fields {
		told = append(told, f.Path)
	}
	near := func(a string, all []string) bool {
		return slices.ContainsFunc(all, func(b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) })
	}
	for _, path := range changes {
		if !near(path, told) {
			return fmt.Sprintf("%s changed, and only of these it was told: %q", path, told)
		}
	}
	for _, path := range told {
		if !near(path, changes) {
			return fmt.Sprintf("%s did not change, only these: %q", path, changes)
		}
	}
	return ""
}

// changed are the paths at which two copies differ, without what nobody plans.
func changed(before, after *unstructured.Unstructured) []string {
	if before == nil || after == nil {
		return nil
	}
	was, is := map[string]string{}, map[string]string{}
	flatten("", spoken(before), was)
	flatten("", spoken(after), is)
	var paths []string
	for path := range maps.Keys(was) {
		if is[path] != was[path] {
			paths = append(paths, path)
		}
	}
	for path := range is {
		if _, had := was[path]; !had {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// spoken is an object without status and what the API server, controllers and the operator's marks say.
func spoken(o *unstructured.Unstructured) map[string]any {
	o = o.DeepCopy()
	delete(o.Object, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	for _, annotation := range []string{"capi-operator.openshift.io/revision", "capi-operator.openshift.io/owner", "deployment.kubernetes.io/revision"} {
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", annotation)
	}
	unstructured.RemoveNestedField(o.Object, "metadata", "labels", harness.ManagedByLabel)
	for _, field := range []string{"annotations", "labels"} {
		if left, _, _ := unstructured.NestedMap(o.Object, "metadata", field); len(left) == 0 {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
	}
	return o.Object
}

// flatten writes the leaves of a tree by their paths; a list whose items have no names is one.
func flatten(path string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, inside := range v {
			flatten(path+"."+name, inside, into)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		named := len(v) > 0
		for _, item := range v {
			fields, _ := item.(map[string]any)
			_, has := fields["name"].(string)
			named = named && has
		}
		if named {
			for _, item := range v {
				fields, _ := item.(map[string]any)
				flatten(fmt.Sprintf("%s[name=%q]", path, fields["name"]), item, into)
			}
			return
		}
	}
	text, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	into[path] = string(text)
}
