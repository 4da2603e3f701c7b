package bootimages_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// capiSet is a MachineSet of Cluster API with a template.
func capiSet(name string, template *object, changes ...func(*object)) *object {
	return bootworld.Set("MachineSet", name, template, changes...)
}

// deployment is a MachineDeployment of Cluster API with a template.
func deployment(name, strategy string, template *object, changes ...func(*object)) *object {
	rollout := func(o *object) { put(o, "{strategy: {type: "+strategy+"}}", "spec", "rollout") }
	return bootworld.Set("MachineDeployment", name, template, append(changes, rollout)...)
}

// clones are the templates with the label of clones of a set.
func clones(ctx context.Context, set string) []unstructured.Unstructured {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta2")
	list.SetKind("AWSMachineTemplateList")
	Expect(env.Client.List(ctx, list, client.InNamespace(harness.CAPINamespace), client.MatchingLabels{cloneOf: set})).To(Succeed())
	return list.Items
}

// cloned waits until a set names a clone that has the golden AMI of a release, and returns it.
func cloned(ctx context.Context, set *object, release int) *object {
	GinkgoHelper()
	clone := awsTemplate("", "")
	eventually(ctx, fmt.Sprintf("%s %s to name a clone of release %d", set.GetKind(), set.GetName(), release), func(ctx context.Context) error {
		name, _ := field(live(ctx, set), templateName).(string)
		found := &object{}
		found.SetGroupVersionKind(clone.GroupVersionKind())
		if err := env.Client.Get(ctx, client.ObjectKey{Namespace: set.GetNamespace(), Name: name}, found); err != nil {
			return err
		}
		clone = found
		return unless(field(found, templateAMI) == ami(release), "%s has %v", name, field(found, templateAMI))
	})
	return clone
}

// clusterReference is the owner of templates.
func clusterReference(ctx context.Context) map[string]any {
	GinkgoHelper()
	cluster := live(ctx, parse(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: %s, namespace: openshift-cluster-api}}`, infrastructureName))
	return map[string]any{"apiVersion": cluster.GetAPIVersion(), "kind": "Cluster", "name": cluster.GetName(), "uid": string(cluster.GetUID())}
}
