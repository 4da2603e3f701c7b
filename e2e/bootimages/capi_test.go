package bootimages_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// Where objects of Cluster API hold what they start machines from.
const (
	templateName = "spec.template.spec.infrastructureRef.name"
	templateAMI  = "spec.template.spec.ami.id"
)

// cloneOf is the label of clones.
const cloneOf = "capi-operator.openshift.io/boot-image-clone-of"

// awsTemplate is a user's own, with labels of others beside those of Cluster API.
func awsTemplate(name, image string, changes ...func(*object)) *object {
	GinkgoHelper()
	template := parse(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata:
  name: %s
  namespace: openshift-cluster-api
  labels: {cluster.x-k8s.io/cluster-name: %s, argocd.argoproj.io/instance: shop}
spec:
  template:
    spec:
      ami: {id: %s}
      instanceType: m6i.xlarge
      iamInstanceProfile: worker
      rootVolume: {size: 120, type: gp3, encrypted: true}
`, name, infrastructureName, image)
	for _, change := range changes {
		change(template)
	}
	return template
}

// capiSet is a MachineSet of Cluster API with a template.
func capiSet(name string, template *object, changes ...func(*object)) *object {
	return capi("MachineSet", name, template, changes...)
}

// deployment is a MachineDeployment of Cluster API with a template.
func deployment(name, strategy string, template *object, changes ...func(*object)) *object {
	rollout := func(o *object) { put(o, "{strategy: {type: "+strategy+"}}", "spec", "rollout") }
	return capi("MachineDeployment", name, template, append(changes, rollout)...)
}

func capi(kind, name string, template *object, changes ...func(*object)) *object {
	GinkgoHelper()
	o := parse(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: %[1]s
metadata:
  name: %[2]s
  namespace: openshift-cluster-api
  labels: {cluster.x-k8s.io/cluster-name: %[3]s}
spec:
  clusterName: %[3]s
  replicas: 1
  selector: {matchLabels: {set: %[2]s}}
  template:
    metadata: {labels: {set: %[2]s, cluster.x-k8s.io/cluster-name: %[3]s}}
    spec:
      clusterName: %[3]s
      bootstrap: {dataSecretName: worker-user-data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: %[4]s, name: %[5]s}
`, kind, name, infrastructureName, template.GetKind(), template.GetName())
	for _, change := range changes {
		change(o)
	}
	return o
}

// owned gives a new object an owner.
func owned(by *object) func(*object) {
	return func(o *object) {
		put(o, fmt.Sprintf("[{apiVersion: %s, kind: %s, name: %s, uid: %s, controller: true}]", by.GetAPIVersion(), by.GetKind(), by.GetName(), by.GetUID()),
			"metadata", "ownerReferences")
	}
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
