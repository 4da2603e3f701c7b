package main

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
	"time"

	"github.com/coreos/stream-metadata-go/arch"
	"github.com/coreos/stream-metadata-go/stream"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// Where the cluster of boot images is, and what its release keeps boot images in.
const (
	infrastructureName = "bench-x7k2p"
	region             = "us-east-1"
	goldenName         = "coreos-bootimages"
	stubName           = "worker-user-data"
)

// bootImagesOf is the argument that turns boot images on, and enrolment what enrols every target of Cluster API; the Machine
// API's are, on AWS, where nobody has said otherwise.
const bootImagesOf = "--boot-images=MachineAPI,ClusterAPI"

var enrolment = map[string]any{
	"capi-operator.openshift.io/boot-images-machinesets":        "All",
	"capi-operator.openshift.io/boot-images-machinedeployments": "All",
}

// goldenRegions are those that each architecture has an image in.
const goldenRegions = 30

// bootDefinitions are those of Cluster API and of its provider for AWS that boot images have to do with, by module.
var bootDefinitions = map[string][]string{
	"sigs.k8s.io/cluster-api":                 {"cluster.x-k8s.io_clusters", "cluster.x-k8s.io_machinedeployments", "cluster.x-k8s.io_machinepools", "cluster.x-k8s.io_machines", "cluster.x-k8s.io_machinesets"},
	"sigs.k8s.io/cluster-api-provider-aws/v2": {"infrastructure.cluster.x-k8s.io_awsmachines", "infrastructure.cluster.x-k8s.io_awsmachinetemplates"},
}

// definitions reads the modules' own, which say nothing of conversion: nobody runs the webhooks of providers here.
func (b *bench) definitions(ctx context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for module, names := range bootDefinitions {
		command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
		command.Dir = b.source("e2e")
		dir, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("finding module %s: %w", module, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases", name+".yaml"))
			if err != nil {
				return nil, fmt.Errorf("reading a definition of %s: %w", module, err)
			}
			definition, err := crds.Parse(text)
			if err != nil {
				return nil, fmt.Errorf("reading definition %s of %s: %w", name, module, err)
			}
			all = append(all, definition)
		}
	}
	return all, nil
}

// source is a folder of the sources, which the folder of binaries lies in.
func (b *bench) source(folder string) string { return filepath.Join(filepath.Dir(b.bin), folder) }

// bootWorld is how many targets a cluster has of each API.
type bootWorld struct{ machineAPI, clusterAPI int }

func (w bootWorld) targets() int { return w.machineAPI + w.clusterAPI }

// onBootImages runs a measurement on a fresh control plane on AWS whose release is complete, and whose targets have the boot
// image of release 1. There is no operator yet.
func (b *bench) onBootImages(ctx context.Context, w bootWorld, measure func(*stage) error) error {
	definitions, err := b.definitions(ctx)
	if err != nil {
		return err
	}
	return b.on(ctx, definitions, func(s *stage) error {
		if err := s.Begin(ctx, harness.World{Platform: configv1.AWSPlatformType, NoClusterAPI: true}); err != nil {
			return err
		}
		if err := s.bootImages(ctx, w); err != nil {
			return fmt.Errorf("putting targets of boot images in place: %w", err)
		}
		return measure(s)
	})
}

func (s *stage) bootImages(ctx context.Context, w bootWorld) error {
	if err := s.applyRights(ctx); err != nil {
		return err
	}
	infrastructure := &configv1.Infrastructure{}
	if err := s.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure); err != nil {
		return err
	}
	infrastructure.Status.InfrastructureName = infrastructureName
	infrastructure.Status.PlatformStatus.AWS = &configv1.AWSPlatformStatus{Region: region}
	if err := s.Client.Status().Update(ctx, infrastructure); err != nil {
		return err
	}
	for _, o := range []client.Object{
		untyped("config.openshift.io/v1", "ClusterVersion", "version", nil, map[string]any{"clusterID": "11111111-2222-4333-8444-555555555555"}),
		untyped("operator.openshift.io/v1", "MachineConfiguration", harness.Singleton, enrolment, map[string]any{"managementState": "Managed"}),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.MCONamespace, Name: goldenName}},
		stubOf(harness.MachineAPINamespace, "userData"), stubOf(harness.CAPINamespace, "value"),
	} {
		if err := s.Client.Create(ctx, o); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	if err := errors.Join(s.setGolden(ctx, 1), s.setHistory(ctx, configv1.CompletedUpdate, 1)); err != nil {
		return err
	}
	return s.makeTargets(ctx, w)
}

// untyped is an object with no other fields: Go types would write some that must not be empty, or that nobody knows here.
func untyped(version, kind, name string, annotations, spec map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": name}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}}
}

// applyRights gives the operator what a cluster whose boot images of the Machine API it manages has to give it.
func (s *stage) applyRights(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(s.bench.source("deploy"), "bootimages.yaml"))
	if err != nil {
		return err
	}
	objects, err := deploy.Parse(text)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("deploy"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// stubOf is a Secret with an Ignition stub that every boot image can read.
func stubOf(namespace, field string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: stubName},
		StringData: map[string]string{field: `{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"https://api-int.bench:22623/config/worker"}]}}}`},
	}
}

// bootVersion is how a release is called, and ami its golden image for the cluster's Nodes and region.
func bootVersion(release int) string { return fmt.Sprintf("4.22.%d", release) }

func ami(release int) string { return amiOf(release, arch.RpmArch(runtime.GOARCH), region) }

func amiOf(release int, architecture, region string) string {
	return fmt.Sprintf("ami-%016x", hashOf(release, architecture, region))
}

// setGolden makes the golden ConfigMap that of a release.
func (s *stage) setGolden(ctx context.Context, release int) error {
	golden := stream.Stream{Stream: "rhel-9", Metadata: stream.Metadata{LastModified: "2026-01-01T00:00:00Z"}, Architectures: map[string]stream.Arch{}}
	for _, architecture := range []string{"x86_64", "aarch64", "ppc64le", "s390x"} {
		regions := map[string]stream.SingleImage{}
		for i := range goldenRegions {
			name := region
			if i > 0 {
				name = fmt.Sprintf("made-up-%d", i)
			}
			regions[name] = stream.SingleImage{Release: fmt.Sprintf("9.8.2026010%d-0", release%10), Image: amiOf(release, architecture, name)}
		}
		golden.Architectures[architecture] = stream.Arch{Images: stream.Images{Aws: &stream.AwsImage{Regions: regions}}}
	}
	text, err := json.Marshal(golden)
	if err != nil {
		return fmt.Errorf("encoding the golden stream: %w", err)
	}
	version := bootVersion(release)
	return s.Client.Update(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.MCONamespace, Name: goldenName},
		Data:       map[string]string{"stream": string(text), "releaseVersion": version, "MCOReleaseImageVersion": version},
	})
}

// setHistory has the cluster be at a release, or on its way to it.
func (s *stage) setHistory(ctx context.Context, state configv1.UpdateState, release int) error {
	version := &configv1.ClusterVersion{}
	if err := s.Client.Get(ctx, client.ObjectKey{Name: "version"}, version); err != nil {
		return err
	}
	now := metav1.Now()
	for i := release; i > 0; i-- {
		entry := configv1.UpdateHistory{State: configv1.CompletedUpdate, StartedTime: now, CompletionTime: &now, Version: bootVersion(i), Image: "example.com/release:" + bootVersion(i)}
		if i == release {
			version.Status.History = nil
			if entry.State = state; state != configv1.CompletedUpdate {
				entry.CompletionTime = nil
			}
		}
		version.Status.History = append(version.Status.History, entry)
	}
	version.Status.Desired = configv1.Release{Version: bootVersion(release), Image: "example.com/release:" + bootVersion(release)}
	version.Status.VersionHash, version.Status.ObservedGeneration, version.Status.AvailableUpdates = "bench", version.Generation, []configv1.Release{}
	return s.Client.Status().Update(ctx, version)
}

// operateBootImages starts the operator and waits until every target is Current, by its metrics, from a moment on.
func (s *stage) operateBootImages(ctx context.Context, metrics *harness.Metrics, w bootWorld) error {
	if err := s.operate(append(metrics.Arguments(), bootImagesOf)...); err != nil {
		return err
	}
	return s.allCurrent(ctx, metrics, w)
}

// askEvery is how often the operator is asked how many targets are Current.
const askEvery = time.Second / 5

func (s *stage) allCurrent(ctx context.Context, metrics *harness.Metrics, w bootWorld) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not all targets are Current after %s", patience))
	defer cancel()
	ctx, stop := s.operator.Context(ctx)
	defer stop()
	for {
		text, err := metrics.Text(ctx)
		if err == nil && int(sumOf(text, "capstan_boot_image_targets", `state="Current"`)) == w.targets() {
			return nil
		}
		if err := wait(ctx, askEvery); err != nil {
			return err
		}
	}
}
