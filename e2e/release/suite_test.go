// Package release_test is the end-to-end suite of what installs the operator: the
// payload as a cluster-version operator applies it, and deploy as kustomize does.
// The operator's pods are run as a kubelet would run them, as processes with the
// arguments, environment, volumes, token and probes of the pod, and with no other
// access than the pod's. Paths in arguments lead to folders that stand for the
// volumes, and ports are those of an address of the pod's own.
package release_test

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/deploy/payload"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

const (
	// bin is what make build and make controlplane fill.
	bin = "../../bin"
	// patience bounds every wait of the suite.
	patience = 60 * time.Second
)

var (
	//go:embed testdata/platform.yaml
	platform []byte
	//go:embed testdata/former.yaml
	former []byte
)

var env *harness.Environment

func TestRelease(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "A release")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(bin)).To(Succeed())
	var err error
	env, err = harness.Start(ctx, harness.Options{Bin: bin, ServiceCA: true, Bare: true})
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(2*time.Minute))

var _ = AfterSuite(func() {
	if env != nil {
		Expect(draining.Wait()).To(Succeed())
		Expect(env.Stop()).To(Succeed())
	}
})

// A ReplicaSet that cannot make pods says why.
var _ = AfterEach(func(ctx SpecContext) {
	if !CurrentSpecReport().Failed() {
		return
	}
	sets := &appsv1.ReplicaSetList{}
	Expect(env.Client.List(ctx, sets, client.InNamespace(harness.OperatorNamespace))).To(Succeed())
	for _, set := range sets.Items {
		AddReportEntry(set.Name, set.Status.Conditions)
	}
	GinkgoWriter.Print(env.Account(ctx))
}, NodeTimeout(10*time.Second))

// begin brings a cluster without the operator, and a kubelet for its pods, which may
// mount these images: files by reference.
func begin(ctx context.Context, images map[string]map[string][]byte) *kubelet {
	GinkgoHelper()
	Expect(env.Begin(ctx, harness.World{Platform: configv1.AWSPlatformType, NoClusterAPI: true})).To(Succeed())
	apply(ctx, platform)
	return startKubelet(images)
}

// apply creates the objects of a file. The API server refuses objects of a kind
// that it has just been told of, so each is tried until it is taken.
func apply(ctx context.Context, file []byte) {
	GinkgoHelper()
	objects, err := deploy.Parse(file)
	Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		eventually(ctx, "creating "+object.GetName(), func(ctx context.Context) error {
			return client.IgnoreAlreadyExists(env.Client.Create(ctx, object.DeepCopy()))
		})
	}
}

// images are small provider images, and what stands for the operator's own, for
// each reference of the payload.
func images(ctx context.Context) map[string]string {
	GinkgoHelper()
	files, err := payload.Files()
	Expect(err).NotTo(HaveOccurred())
	var stream struct {
		Spec struct {
			Tags []struct {
				Name string `json:"name"`
				From struct {
					Name string `json:"name"`
				} `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	Expect(yaml.Unmarshal(files["image-references"], &stream)).To(Succeed())
	found := map[string]string{}
	for _, tag := range stream.Spec.Tags {
		reference, err := env.PushFiles(ctx, tag.Name, content(tag.Name))
		Expect(err).NotTo(HaveOccurred())
		found[tag.From.Name] = reference
	}
	return found
}

// content is what a small provider image has.
func content(name string) map[string][]byte {
	return map[string][]byte{
		providers.ManifestsDir + "/default/metadata.yaml": fmt.Appendf(nil, "{name: %s, installOrder: 10}", name),
		providers.ManifestsDir + "/default/manifests.yaml": fmt.Appendf(nil,
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: openshift-cluster-api}, data: {from: image}}", name),
	}
}

func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(harness.Eventually(ctx, what, attempt)).To(Succeed())
}

// read is an object of the cluster.
func read(ctx context.Context, version, kind, namespace, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	return object, env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
}

// ordered are the names of a payload's files in the order of their application.
func ordered(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }
