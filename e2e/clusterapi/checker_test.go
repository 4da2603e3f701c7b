package clusterapi_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// judge keeps the status of all requirements as a checker would, until the spec ends or stop is called. It compares the
// fields of spec in the stored version alone.
func judge(ctx context.Context) (stop func()) {
	judging, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			judgeAll(judging)
			select {
			case <-judging.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	DeferCleanup(stop)
	return stop
}

func judgeAll(ctx context.Context) {
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(apiextensionsv1alpha1.GroupVersion.WithKind("CompatibilityRequirementList"))
	if err := env.Client.List(ctx, all); err != nil {
		return // its kind may not be served
	}
	for i := range all.Items {
		if err := judgeOne(ctx, &all.Items[i]); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			GinkgoWriter.Println("judging", all.Items[i].GetName(), err)
		}
	}
}

func judgeOne(ctx context.Context, o *unstructured.Unstructured) error {
	data, _, _ := unstructured.NestedString(o.Object, "spec", "compatibilitySchema", "customResourceDefinition", "data")
	need := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(data), need); err != nil {
		return err
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	condition := func(of string, is metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: of, Status: is, Reason: reason, Message: message, ObservedGeneration: o.GetGeneration()}
	}
	status := apiextensionsv1alpha1.CompatibilityRequirementStatus{CRDName: need.Name}
	fits := condition("Compatible", metav1.ConditionTrue, "Compatible", "")
	switch err := env.Client.Get(ctx, client.ObjectKey{Name: need.Name}, live); {
	case apierrors.IsNotFound(err):
		fits = condition("Compatible", metav1.ConditionFalse, "CRDNotFound", "there is none")
	case err != nil:
		return err
	default:
		status.ObservedCRD = apiextensionsv1alpha1.ObservedCRD{UID: string(live.GetUID()), Generation: live.GetGeneration()}
		if missing := missingIn(live, need); len(missing) > 0 {
			fits = condition("Compatible", metav1.ConditionFalse, "RequirementsNotMet", strings.Join(missing, "; "))
		}
	}
	before := &apiextensionsv1alpha1.CompatibilityRequirement{}
	if err := yaml.Unmarshal([]byte(mustYAML(o.Object)), before); err != nil {
		return err
	}
	status.Conditions = slices.Clone(before.Status.Conditions)
	for _, c := range []metav1.Condition{
		condition("Progressing", metav1.ConditionFalse, "UpToDate", ""), condition("Admitted", metav1.ConditionTrue, "Admitted", ""), fits,
	} {
		meta.SetStatusCondition(&status.Conditions, c)
	}
	if fmt.Sprint(before.Status) == fmt.Sprint(status) {
		return nil
	}
	after := o.DeepCopy()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(mustYAML(map[string]any{"status": status})), &content); err != nil {
		return err
	}
	after.Object["status"] = content["status"]
	return env.Client.Status().Update(ctx, after)
}

func mustYAML(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// missingIn are the fields of spec that the stored version of a definition needs and another copy lacks.
func missingIn(live *unstructured.Unstructured, need *apiextensionsv1.CustomResourceDefinition) (missing []string) {
	has := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(mustYAML(live.Object)), has); err != nil {
		return []string{err.Error()}
	}
	for _, v := range need.Spec.Versions {
		if !v.Storage {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(v.Schema.OpenAPIV3Schema.Properties["spec"].Properties)) {
			if !slices.ContainsFunc(has.Spec.Versions, func(other apiextensionsv1.CustomResourceDefinitionVersion) bool {
				_, is := other.Schema.OpenAPIV3Schema.Properties["spec"].Properties[name]
				return other.Name == v.Name && is
			}) {
				missing = append(missing, fmt.Sprintf("%s: spec.%s is missing", v.Name, name))
			}
		}
	}
	return missing
}

// requirements are the names of those that there are, sorted.
func requirements(ctx context.Context) []string {
	GinkgoHelper()
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(apiextensionsv1alpha1.GroupVersion.WithKind("CompatibilityRequirementList"))
	Expect(env.Client.List(ctx, all)).To(Succeed())
	names := []string{}
	for _, o := range all.Items {
		names = append(names, o.GetName())
	}
	slices.Sort(names)
	return names
}

// withField gives the definition of a provider one more field of spec.
func (p *provider) withField(name string) *provider {
	GinkgoHelper()
	return p.set("CustomResourceDefinition", p.name+"s.test.cluster.x-k8s.io", fieldsOf(name), "spec", "versions")
}

// fieldsOf is the stored version of a definition whose spec has these fields.
func fieldsOf(names ...string) any {
	fields := map[string]any{}
	for _, name := range names {
		fields[name] = map[string]any{"type": "string"}
	}
	return []any{map[string]any{
		"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
			"spec": map[string]any{"type": "object", "properties": fields},
		}}},
	}}
}
