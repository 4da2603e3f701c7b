package shim_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	privateCore           = "cluster.hypershift.openshift.io"
	privateInfrastructure = "infrastructure.cluster.hypershift.openshift.io"
	privateBootstrap      = "bootstrap.cluster.hypershift.openshift.io"
)

func encoded(text []byte) string { return base64.StdEncoding.EncodeToString(text) }

func isEstablished(ctx context.Context, name string) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := admin.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return err
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("%s is not Established: %v", name, crd.Status.Conditions)
}

// namespace makes one that goes when the spec has ended.
func namespace(ctx context.Context) *corev1.Namespace {
	GinkgoHelper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "hosted-"}}
	Expect(admin.Create(ctx, made)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(admin.Delete(ctx, made)) })
	return made
}

// old is a private Machine in version v1beta1, as a client of that version writes it by way of the proxy.
func old(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": privateCore + "/v1beta1", "kind": "Machine",
		"metadata": map[string]any{"namespace": namespace, "name": name, "labels": map[string]any{"cluster.x-k8s.io/cluster-name": "c"}},
		"spec": map[string]any{
			"clusterName": "c", "nodeDrainTimeout": "10s", "version": "v1.36.3",
			"infrastructureRef": map[string]any{"apiVersion": privateInfrastructure + "/v1beta2", "kind": "AWSMachine", "name": name, "namespace": namespace},
			"bootstrap":         map[string]any{"configRef": map[string]any{"apiVersion": privateBootstrap + "/v1beta2", "kind": "KubeadmConfig", "name": name, "namespace": namespace}},
		},
	}}
}

// in is an object of a private kind in a version, to read into.
func in(version, kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(privateCore + "/" + version)
	object.SetKind(kind)
	return object
}

func at(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

// gone is nil once an object is not there any more.
func gone(ctx context.Context, object client.Object) error {
	err := admin.Get(ctx, at(object), object)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil {
		return errors.New("it is still there")
	}
	return nil
}
