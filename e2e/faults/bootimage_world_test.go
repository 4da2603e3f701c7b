package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/coreos/stream-metadata-go/arch"
	"github.com/coreos/stream-metadata-go/stream"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	bootCluster = "shop-x7k2p"
	bootRegion  = "us-east-1"
	// worker is the one target of the matrix of boot images, firstTemplate the template that its administrator made for it, and
	// workerStub the Secret that its machines start from.
	worker, firstTemplate, workerStub = "worker", "first", "worker-stub"
)

// A stub that every boot image of today can read, and one that none can.
const (
	newStub = `{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"https://api-int.shop:22623/config/worker"}]}}}`
	oldStub = `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://api-int.shop:22623/config/worker"}]}}}`
)

// bootDefinitions are those that a target of the Cluster API on AWS has to do with, by module.
var bootDefinitions = map[string][]string{
	"sigs.k8s.io/cluster-api":                 {"clusters", "machinedeployments", "machinepools", "machines", "machinesets"},
	"sigs.k8s.io/cluster-api-provider-aws/v2": {"awsmachines", "awsmachinetemplates"},
}

// contracts are the labels by which Cluster API finds the version of a kind that it can read.
var contracts = map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1_v1beta2", "cluster.x-k8s.io/v1beta2": "v1beta2"}

// defineBoot creates the definitions that are not there, and waits until they are served.
func defineBoot(ctx context.Context) {
	GinkgoHelper()
	for module, names := range bootDefinitions {
		out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		Expect(err).NotTo(HaveOccurred())
		group := "cluster.x-k8s.io"
		if strings.Contains(module, "provider") {
			group = "infrastructure." + group
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "config", "crd", "bases", group+"_"+name+".yaml"))
			Expect(err).NotTo(HaveOccurred())
			defineBootKind(ctx, text)
		}
	}
	eventually(ctx, "the kinds of Cluster API to be served", func(ctx context.Context) error {
		return errors.Join(listsBoot(ctx, bootSet()), listsBoot(ctx, bootTemplate(firstTemplate, 0)))
	})
}

func defineBootKind(ctx context.Context, text []byte) {
	GinkgoHelper()
	definition, err := crds.Parse(text)
	Expect(err).NotTo(HaveOccurred())
	definition.Labels = contracts
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

// listsBoot is nil when the API server lists a kind.
func listsBoot(ctx context.Context, o *unstructured.Unstructured) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(o.GroupVersionKind().GroupVersion().WithKind(o.GetKind() + "List"))
	return env.Client.List(ctx, list, client.InNamespace(o.GetNamespace()))
}

// bootAMI is the golden AMI of a release.
func bootAMI(release int) string { return fmt.Sprintf("ami-%017x", 0xb007+release) }

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
`, worker, bootCluster, firstTemplate, workerStub))
}

// bootTemplate is a template with the AMI of a release.
func bootTemplate(name string, release int) *unstructured.Unstructured {
	return parsed(fmt.Sprintf(`
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: %s, namespace: openshift-cluster-api, labels: {cluster.x-k8s.io/cluster-name: %s}}
spec: {template: {spec: {ami: {id: %s}, instanceType: m6i.xlarge}}}
`, name, bootCluster, bootAMI(release)))
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
	text, err := os.ReadFile("../../deploy/bootimages.yaml")
	Expect(err).NotTo(HaveOccurred())
	rights, err := deploy.Parse(text)
	Expect(err).NotTo(HaveOccurred())
	for _, o := range rights {
		Expect(env.Client.Create(ctx, o)).To(Succeed())
	}
	defineBoot(ctx)
	infrastructure := &configv1.Infrastructure{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure)).To(Succeed())
	infrastructure.Status.InfrastructureName = bootCluster
	infrastructure.Status.PlatformStatus.AWS = &configv1.AWSPlatformStatus{Region: bootRegion}
	Expect(env.Client.Status().Update(ctx, infrastructure)).To(Succeed())
	for _, o := range []*unstructured.Unstructured{
		parsed(`{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: {clusterID: 11111111-2222-4333-8444-555555555555}}`),
		parsed(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: ` + bootCluster + `, namespace: openshift-cluster-api}, spec: {controlPlaneEndpoint: {host: api, port: 6443}}}`),
		bootSecret(newStub), bootConfiguration(), bootTemplate(firstTemplate, 1), bootSet(),
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
	image := stream.SingleImage{Release: fmt.Sprintf("9.8.202601%02d-0", number%31+1), Image: bootAMI(number)}
	text, err := json.Marshal(&stream.Stream{
		Stream: "rhel-9", Metadata: stream.Metadata{LastModified: "2026-01-01T00:00:00Z"},
		Architectures: map[string]stream.Arch{
			arch.RpmArch(runtime.GOARCH): {Images: stream.Images{Aws: &stream.AwsImage{Regions: map[string]stream.SingleImage{bootRegion: image}}}},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	wanted := shape("v1", "ConfigMap", harness.MCONamespace, "coreos-bootimages")
	wanted.Object["data"] = map[string]any{"stream": string(text), "releaseVersion": bootVersion(says), "MCOReleaseImageVersion": bootVersion(says)}
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
