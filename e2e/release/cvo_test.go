package release_test

import (
	"context"
	"fmt"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy"
)

// release plays the cluster-version operator with one release.
type release struct {
	version string
	// images are what the release has for each reference of the payload.
	images map[string]string
}

// install applies the files of a payload one after the other, and waits for what
// it waits for: each Deployment, and in the end the version of the ClusterOperator.
// An upgrade takes away what is marked so.
func (r release) install(ctx context.Context, files map[string][]byte, upgrade bool) {
	GinkgoHelper()
	for _, name := range ordered(files) {
		if name == "image-references" {
			continue
		}
		objects, err := deploy.Parse([]byte(r.replaced(string(files[name]))))
		Expect(err).NotTo(HaveOccurred(), name)
		for _, object := range objects {
			annotations := object.GetAnnotations()
			Expect(annotations).To(HaveKeyWithValue("include.release.openshift.io/self-managed-high-availability", "true"), name)
			if annotations["release.openshift.io/delete"] == "true" {
				if upgrade {
					Expect(client.IgnoreNotFound(env.Client.Delete(ctx, object))).To(Succeed(), "taking away %s", object.GetName())
				}
				continue
			}
			Expect(put(ctx, object)).To(Succeed(), "%s: %s %s", name, object.GetKind(), object.GetName())
			r.await(ctx, object)
		}
	}
}

// replaced is a file in which the release has written what is its own.
func (r release) replaced(text string) string {
	text = strings.ReplaceAll(text, "0.0.1-snapshot", r.version)
	for reference, image := range r.images {
		text = strings.ReplaceAll(text, reference+"\n", image+"\n")
	}
	Expect(text).NotTo(ContainSubstring("registry.ci.openshift.org"), "a reference is left that no release replaces")
	return text
}

// put creates an object, or makes it what the release says, unless it is to be
// created only. Labels, annotations and the data of a ConfigMap are merged: what
// another release wrote under a name that this one does not have, stays.
func put(ctx context.Context, object *unstructured.Unstructured) error {
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(object.GroupVersionKind())
	err := env.Client.Get(ctx, client.ObjectKeyFromObject(object), there)
	switch {
	case apierrors.IsNotFound(err):
		return env.Client.Create(ctx, object.DeepCopy())
	case err != nil:
		return err
	case object.GetAnnotations()["release.openshift.io/create-only"] == "true" || object.GetKind() == "ClusterOperator":
		return nil
	}
	wanted := object.DeepCopy()
	wanted.SetResourceVersion(there.GetResourceVersion())
	wanted.SetLabels(merged(there.GetLabels(), object.GetLabels()))
	wanted.SetAnnotations(merged(there.GetAnnotations(), object.GetAnnotations()))
	if object.GetKind() == "ConfigMap" {
		if err := mergeData(wanted, there); err != nil {
			return err
		}
	}
	return env.Client.Update(ctx, wanted)
}

func mergeData(wanted, there *unstructured.Unstructured) error {
	was, _, err := unstructured.NestedStringMap(there.Object, "data")
	if err != nil {
		return err
	}
	is, _, err := unstructured.NestedStringMap(wanted.Object, "data")
	if err != nil {
		return err
	}
	return unstructured.SetNestedStringMap(wanted.Object, merged(was, is), "data")
}

func merged(there, wanted map[string]string) map[string]string {
	all := maps.Clone(there)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, wanted)
	return all
}

func (r release) await(ctx context.Context, object *unstructured.Unstructured) {
	GinkgoHelper()
	switch object.GetKind() {
	case "Deployment":
		eventually(ctx, "Deployment "+object.GetName()+" to be available", func(ctx context.Context) error { return available(ctx, object) })
	case "ClusterOperator":
		wanted := &configv1.ClusterOperator{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, wanted)).To(Succeed())
		Expect(wanted.Status.Versions).NotTo(BeEmpty(), "nothing is waited for")
		eventually(ctx, "ClusterOperator "+object.GetName()+" to be done", func(ctx context.Context) error { return done(ctx, wanted) })
	}
}

func available(ctx context.Context, object *unstructured.Unstructured) error {
	deployment := &appsv1.Deployment{}
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(object), deployment); err != nil {
		return err
	}
	status, replicas := deployment.Status, *deployment.Spec.Replicas
	if status.ObservedGeneration < deployment.Generation || status.UpdatedReplicas < replicas || status.AvailableReplicas < replicas || status.Replicas > replicas {
		return fmt.Errorf("of %d replicas %d are there, %d of them updated and %d available", replicas, status.Replicas, status.UpdatedReplicas, status.AvailableReplicas)
	}
	return nil
}

func done(ctx context.Context, wanted *configv1.ClusterOperator) error {
	operator := &configv1.ClusterOperator{}
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(wanted), operator); err != nil {
		return err
	}
	reported := map[string]string{}
	for _, version := range operator.Status.Versions {
		reported[version.Name] = version.Version
	}
	for _, version := range wanted.Status.Versions {
		if reported[version.Name] != version.Version {
			return fmt.Errorf("%s is %q, and %s is waited for: %v", version.Name, reported[version.Name], version.Version, operator.Status.Conditions)
		}
	}
	for kind, status := range map[configv1.ClusterStatusConditionType]configv1.ConditionStatus{
		configv1.OperatorAvailable: configv1.ConditionTrue, configv1.OperatorDegraded: configv1.ConditionFalse,
	} {
		if !has(operator.Status.Conditions, kind, status) {
			return fmt.Errorf("%s is not %s: %v", kind, status, operator.Status.Conditions)
		}
	}
	return nil
}

func has(conditions []configv1.ClusterOperatorStatusCondition, kind configv1.ClusterStatusConditionType, status configv1.ConditionStatus) bool {
	for _, condition := range conditions {
		if condition.Type == kind {
			return condition.Status == status
		}
	}
	return false
}

// gone says that an object is not there.
func gone(ctx context.Context, version, kind, namespace, name string) error {
	_, err := read(ctx, version, kind, namespace, name)
	if err == nil {
		return fmt.Errorf("%s %s is there", kind, name)
	}
	return client.IgnoreNotFound(err)
}
