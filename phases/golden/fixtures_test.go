package golden_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/stream-metadata-go/stream"
	"github.com/coreos/stream-metadata-go/stream/rhcos"
	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/phases/golden"
)

const adopt = "capi-operator.openshift.io/boot-image-adopt"

// fixture is the stream that the stream library is tested with: Fedora's.
func fixture(tb testing.TB) string {
	tb.Helper()
	dir, err := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/coreos/stream-metadata-go").Output()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "stream", "fixtures", "fcos-stream.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// fatal is what tests and properties have in common.
type fatal interface {
	Helper()
	Fatal(args ...any)
}

func read(t fatal, of *stream.Stream) *golden.Golden {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	g, err := golden.Read(map[string]string{golden.StreamKey: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func image(publisher, offer, sku, version string) *rhcos.AzureMarketplaceImage {
	return &rhcos.AzureMarketplaceImage{Publisher: publisher, Offer: offer, SKU: sku, Version: version}
}

// made is a small stream with an image for everything that tests ask for.
func made() *stream.Stream {
	arch := func(name string, azure *rhcos.AzureMarketplace) stream.Arch {
		return stream.Arch{
			Images: stream.Images{
				Aws: &stream.AwsImage{Regions: map[string]stream.SingleImage{"us-east-1": {Image: "ami-new-" + name}, "eu-west-1": {Image: "ami-eu-" + name}}},
				Gcp: &stream.GcpImage{Project: "rhcos-cloud", Name: "new-" + name},
			},
			Artifacts:            map[string]stream.PlatformArtifacts{"vmware": {Release: "9.8"}},
			RHELCoreOSExtensions: &rhcos.Extensions{Marketplace: &rhcos.Marketplace{Azure: azure}},
		}
	}
	return &stream.Stream{Stream: "made", Architectures: map[string]stream.Arch{
		"x86_64": arch("x86_64", &rhcos.AzureMarketplace{
			NoPurchasePlan: &rhcos.AzureMarketplaceImages{Gen1: image("azureopenshift", "aro4", "aro_421", "421.1"), Gen2: image("azureopenshift", "aro4", "421-v2", "421.2")},
			OCP:            &rhcos.AzureMarketplaceImages{Gen1: image("redhat", "rh-ocp-worker", "rh-ocp-worker-gen1", "4.21.1"), Gen2: image("redhat", "rh-ocp-worker", "rh-ocp-worker", "4.21.2")},
			OKEEMEA:        &rhcos.AzureMarketplaceImages{Gen2: image("redhat-limited", "rh-oke-worker", "rh-oke-worker", "4.21.3")},
		}),
		"aarch64": arch("aarch64", &rhcos.AzureMarketplace{
			NoPurchasePlan: &rhcos.AzureMarketplaceImages{Gen2: image("azureopenshift", "aro4", "421-arm", "421.4")},
		}),
	}}
}

// on is a cluster of x86_64 on a platform.
func on(platform configv1.PlatformType) *golden.Cluster {
	return &golden.Cluster{
		Platform: platform, InfrastructureName: "shop-x7k2p", Region: "us-east-1", GCPProject: "rhcos-cloud",
		ControlPlaneArchitectures: []string{"amd64", "amd64", "amd64"},
		Provenance:                golden.Listed(map[string]string{"1": "ami-old\nami-older\n"}),
	}
}

func machineSet(spec string) *machinev1beta1.MachineSet {
	set := &machinev1beta1.MachineSet{ObjectMeta: metav1.ObjectMeta{Name: "worker-a", Namespace: "openshift-machine-api", UID: "u-1"}}
	if spec != "" {
		set.Spec.Template.Spec.ProviderSpec.Value = &runtime.RawExtension{Raw: []byte(spec)}
	}
	return set
}

func controlPlane(spec string, strategy machinev1.ControlPlaneMachineSetStrategyType) *machinev1.ControlPlaneMachineSet {
	set := &machinev1.ControlPlaneMachineSet{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Namespace: "openshift-machine-api", UID: "u-2"}}
	set.Spec.Strategy.Type = strategy
	set.Spec.Template.OpenShiftMachineV1Beta1Machine = &machinev1.OpenShiftMachineV1Beta1MachineTemplate{}
	set.Spec.Template.OpenShiftMachineV1Beta1Machine.Spec.ProviderSpec.Value = &runtime.RawExtension{Raw: []byte(spec)}
	return set
}

// parsed is an object out of JSON.
func parsed(t fatal, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func capiSet(t fatal, kind, template string) *unstructured.Unstructured {
	t.Helper()
	return parsed(t, `{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet", "metadata": {"name": "worker-a", "namespace": "openshift-cluster-api", "uid": "u-3"},
		"spec": {"replicas": 3, "template": {"spec": {"bootstrap": {"dataSecretName": "worker-user-data"},
		"infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "`+kind+`", "name": "`+template+`"}}}}}`)
}

func template(t fatal, kind, machine string) *unstructured.Unstructured {
	t.Helper()
	return parsed(t, `{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "`+kind+`", "metadata": {"name": "first", "namespace": "openshift-cluster-api",
		"labels": {"cluster.x-k8s.io/cluster-name": "shop-x7k2p", "argocd.argoproj.io/instance": "shop"}, "annotations": {"note": "keep"}},
		"spec": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": `+machine+`}}}`)
}

// apply does to an object what the API server does with a patch.
func apply(t fatal, object any, patch golden.Patch) (string, error) {
	t.Helper()
	before, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	text, err := patch.JSON()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jsonpatch.DecodePatch(text)
	if err != nil {
		t.Fatal(err)
	}
	after, err := decoded.Apply(before)
	return string(after), err
}

func decode[T any](t fatal, text string) *T {
	t.Helper()
	object := new(T)
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	return object
}
