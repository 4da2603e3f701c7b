package faults_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// worker is the one target of the matrix of boot images, firstTemplate the template that its administrator made for it, and
// workerStub the Secret that its machines start from.
const worker, firstTemplate, workerStub = "worker", "first", "worker-stub"

// defineBoot creates the definitions that are not there, and waits until they are served.
func defineBoot(ctx context.Context) {
	GinkgoHelper()
	definitions, _, err := bootworld.Definitions(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, definition := range definitions {
		eventually(ctx, definition.Name+" to be there, and no former one on its way out", func(ctx context.Context) error {
			there := &apiextensionsv1.CustomResourceDefinition{}
			if err := env.Client.Get(ctx, client.ObjectKeyFromObject(definition), there); err == nil {
				if there.DeletionTimestamp != nil {
					return errors.New("it is being deleted")
				}
				return nil
			}
			return env.Client.Create(ctx, definition.DeepCopy())
		})
	}
	eventually(ctx, "the kinds of Cluster API to be served", func(ctx context.Context) error {
		return errors.Join(listsBoot(ctx, bootSet()), listsBoot(ctx, bootTemplate(firstTemplate, 0)))
	})
}

// listsBoot is nil when the API server lists a kind.
func listsBoot(ctx context.Context, o *unstructured.Unstructured) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(o.GroupVersionKind().GroupVersion().WithKind(o.GetKind() + "List"))
	return env.Client.List(ctx, list, client.InNamespace(o.GetNamespace()))
}

// bootVersion is how a release is called.
func bootVersion(release int) string { return fmt.Sprintf("4.22.%d", release) }

// bootSet is the target, on its administrator's own template.
func bootSet() *unstructured.Unstructured {
	return parsed(fmt.Sprintf(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata: {name: %[1]s, namespace: openshift-cluster-api, labels: {cluster.x-k8s.io/cluster-name: %[2]s}}
spec:
  clusterName: %[2]s
  replicas: 1
  selector: {matchLabels: {set: %[1]s}}
  template:
    metadata: {labels: {set: %[1]s, cluster.x-k8s.io/cluster-name: %[2]s}}
    spec:
      clusterName: %[2]s
      bootstrap: {dataSecretName: %[4]s}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: %[3]s}
`, worker, bootworld.InfrastructureName, firstTemplate, workerStub))
}

// bootTemplate is a template with the AMI of a release.
func bootTemplate(name string, release int) *unstructured.Unstructured {
	return parsed(fmt.Sprintf(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: %s, namespace: openshift-cluster-api, labels: {cluster.x-k8s.io/cluster-name: %s}}
spec: {template: {spec: {ami: {id: %s}, instanceType: m6i.xlarge}}}
`, name, bootworld.InfrastructureName, bootworld.AMI(release)))
}

// bootSecret is the stub of the target.
func bootSecret(stub string) *unstructured.Unstructured {
	return parsed(fmt.Sprintf(`
{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: openshift-cluster-api}, stringData: {value: '%s', format: ignition}}
`, workerStub, stub))
}

// bootConfiguration opts all of the Cluster API in.
func bootConfiguration() *unstructured.Unstructured {
	return parsed(`
apiVersion: operator.openshift.io/v1
kind: MachineConfiguration
metadata: {name: cluster, annotations: {capi-operator.openshift.io/boot-images-machinesets: All}}
spec: {managementState: Managed}
`)
}

// beginBoot begins a world of release 1 with the target, without an operator.
func beginBoot(ctx context.Context) {
	GinkgoHelper()
	atNeed = nil
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, NoClusterAPI: true})
	rights, err := deploy.BootImages()
	Expect(err).NotTo(HaveOccurred())
	for _, o := range rights {
		Expect(env.Client.Create(ctx, o)).To(Succeed())
	}
	defineBoot(ctx)
	infrastructure := &configv1.Infrastructure{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure)).To(Succeed())
	infrastructure.Status.InfrastructureName = bootworld.InfrastructureName
	infrastructure.Status.PlatformStatus.AWS = &configv1.AWSPlatformStatus{Region: bootworld.Region}
	Expect(env.Client.Status().Update(ctx, infrastructure)).To(Succeed())
	for _, o := range []*unstructured.Unstructured{
		parsed(`{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: {clusterID: 11111111-2222-4333-8444-555555555555}}`),
		parsed(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: ` + bootworld.InfrastructureName + `, namespace: openshift-cluster-api}, spec: {controlPlaneEndpoint: {host: api, port: 6443}}}`),
		bootSecret(bootworld.Stub), bootConfiguration(), bootTemplate(firstTemplate, 1), bootSet(),
	} {
		Expect(env.Client.Create(ctx, o, administrator)).To(Succeed())
	}
	release(ctx, 1, configv1.CompletedUpdate)
	goldenOf(ctx, 1, 1)
}

// release makes the ClusterVersion say that a release is in this state.
func release(ctx context.Context, number int, state configv1.UpdateState) {
	GinkgoHelper()
	now := metav1.NewTime(env.Now())
	newest := configv1.UpdateHistory{State: state, StartedTime: now, Version: bootVersion(number), Image: "example.com/release:" + bootVersion(number)}
	if state == configv1.CompletedUpdate {
		newest.CompletionTime = &now
	}
	v := &configv1.ClusterVersion{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: "version"}, v)).To(Succeed())
	v.Status.ObservedGeneration, v.Status.VersionHash = v.Generation, "x"
	v.Status.Desired = configv1.Release{Version: newest.Version, Image: newest.Image}
	v.Status.History = []configv1.UpdateHistory{newest}
	Expect(env.Client.Status().Update(ctx, v, administrator)).To(Succeed())
}

// goldenOf makes the golden ConfigMap have the boot image of one release, and say that it is of another.
func goldenOf(ctx context.Context, number, says int) {
	GinkgoHelper()
	text, err := bootworld.Golden(number)
	Expect(err).NotTo(HaveOccurred())
	wanted := shape("v1", "ConfigMap", harness.MCONamespace, bootworld.GoldenName)
	wanted.Object["data"] = map[string]any{"stream": text, "releaseVersion": bootVersion(says), "MCOReleaseImageVersion": bootVersion(says)}
	err = env.Client.Update(ctx, wanted, administrator)
	if client.IgnoreNotFound(err) == nil && err != nil {
		err = env.Client.Create(ctx, wanted, administrator)
	}
	Expect(err).NotTo(HaveOccurred())
}

// starts makes the target's Secret hold a stub.
func starts(ctx context.Context, stub string) {
	GinkgoHelper()
	eventually(ctx, "the stub to be written", func(ctx context.Context) error {
		wanted := bootSecret(stub)
		err := env.Client.Update(ctx, wanted, administrator)
		if client.IgnoreNotFound(err) == nil && err != nil {
			err = env.Client.Create(ctx, wanted, administrator)
		}
		return err
	})
}

// reverts has somebody give the target its first template back.
func reverts(ctx context.Context) {
	GinkgoHelper()
	patch(ctx, bootSet(), `{"spec":{"template":{"spec":{"infrastructureRef":{"name":"`+firstTemplate+`"}}}}}`)
}
