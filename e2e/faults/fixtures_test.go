package faults_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// administrator is who the suite says it is when it changes things.
const administrator = harness.Administrator

// goodObjects are a provider of nearly every kind that real ones are made of.
// People edit the ConfigMaps edited-0 to edited-19, and nobody touches ConfigMap kept.
const goodObjects = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.faults.cluster.x-k8s.io}
spec:
  group: faults.cluster.x-k8s.io
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Namespace
metadata: {name: faults-extra}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: worker, namespace: openshift-cluster-api}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: faults-worker
  labels: {capi-operator.openshift.io/aggregate-to-installer: "true"}
rules:
- {apiGroups: [faults.cluster.x-k8s.io], resources: [things], verbs: [get, list, watch, create, update, patch, delete]}
---
apiVersion: faults.cluster.x-k8s.io/v1
kind: Thing
metadata: {name: thing, namespace: openshift-cluster-api}
spec: {setting: right}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: inside, namespace: faults-extra}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: openshift-cluster-api}
data: {setting: right}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: replaced, namespace: openshift-cluster-api}
data: {setting: right}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: contested, namespace: openshift-cluster-api}
data: {setting: right}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: openshift-cluster-api}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker, version: VERSION}}
    spec:
      serviceAccountName: worker
      containers: [{name: manager, image: "registry.example/self:good"}]
`

// goodProvider is an image of goodObjects whose pods are of a version, and of more objects.
func goodProvider(ctx context.Context, version string, more ...string) string {
	GinkgoHelper()
	manifests := strings.ReplaceAll(goodObjects, "VERSION", version) + strings.Join(more, "")
	for i := range targets {
		manifests += setting(fmt.Sprintf("edited-%d", i))
	}
	return pushFiles(ctx, "good", map[string][]byte{
		providers.ManifestsDir + "/default/metadata.yaml": fmt.Appendf(nil,
			"{name: good, installOrder: 20, selfImageRef: registry.example/self:good, attributes: {type: synthetic, version: %s}}", version),
		providers.ManifestsDir + "/default/manifests.yaml": []byte(manifests),
	})
}

// setting is the manifest of a ConfigMap.
func setting(name string) string { return extra(name, "right") }

// targets are objects that are edited in turn: an object that the same people
// edit again and again is contested, and put right less and less often.
const targets = 20

// target is the ConfigMap that was edited last.
var target, edits = "edited-0", 0

// shape is an object of a kind and name, without content.
func shape(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func configMap(name string) *unstructured.Unstructured {
	return shape("v1", "ConfigMap", harness.CAPINamespace, name)
}

// patch changes an object as an administrator would.
func patch(ctx context.Context, o *unstructured.Unstructured, merge string) {
	GinkgoHelper()
	Expect(env.Client.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(merge)), administrator)).To(Succeed())
}

// patchStatus changes the status of an object as an administrator would.
func patchStatus(ctx context.Context, o *unstructured.Unstructured, merge string) {
	GinkgoHelper()
	Expect(env.Client.Status().Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(merge)), administrator)).To(Succeed())
}

// remove deletes an object as an administrator would.
func remove(ctx context.Context, o *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(env.Client.Delete(ctx, o.DeepCopy())).To(Succeed())
}

// next chooses another ConfigMap to edit.
func next() string {
	edits++
	target = fmt.Sprintf("edited-%d", edits%targets)
	return target
}

// edit breaks the setting of the target.
func edit(ctx context.Context) {
	GinkgoHelper()
	patch(ctx, configMap(target), `{"data":{"setting":"wrong"}}`)
}

// isRight is nil when the target has been put right.
func isRight(ctx context.Context) error { return hasSetting(ctx, target, "right") }

// hasSetting is nil when a ConfigMap has a setting.
func hasSetting(ctx context.Context, name, want string) error {
	found := configMap(name)
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
		return err
	}
	return holdsSetting(found, want)
}

// holdsSetting is hasSetting of an object that was read.
func holdsSetting(o *unstructured.Unstructured, want string) error {
	if setting, _, _ := unstructured.NestedString(o.Object, "data", "setting"); setting != want {
		return fmt.Errorf("ConfigMap %s has the setting %q, want %q", o.GetName(), setting, want)
	}
	return nil
}

// exists is nil when there is such an object that was not made before, and
// that nobody is deleting.
func exists(ctx context.Context, o *unstructured.Unstructured, not types.UID) error {
	found := o.DeepCopy()
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
		return err
	}
	if found.GetUID() == not || found.GetDeletionTimestamp() != nil {
		return fmt.Errorf("%s %s is still the old one", o.GetKind(), o.GetName())
	}
	return nil
}

// uidOf is the identity of an object that must exist.
func uidOf(ctx context.Context, o *unstructured.Unstructured) types.UID {
	GinkgoHelper()
	found := o.DeepCopy()
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(found), found)).To(Succeed())
	return found.GetUID()
}

func theInfrastructure() *unstructured.Unstructured {
	return shape("config.openshift.io/v1", "Infrastructure", "", harness.Singleton)
}

// theClusterAPI and theClusterOperator are the objects that the operator reports in.
func theClusterAPI() *unstructured.Unstructured {
	return shape("operator.openshift.io/v1alpha1", "ClusterAPI", "", harness.Singleton)
}

func theClusterOperator() *unstructured.Unstructured {
	return shape("config.openshift.io/v1", "ClusterOperator", "", harness.ClusterOperatorName)
}
