package migration_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/capstan-capi/capstan/e2e/hostedworld"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// shape is a kind of a provider, and what objects of it say.
type shape struct{ kind, spec, status string }

func (s shape) resource() string { return strings.ToLower(s.kind) + "s" }

// platform is a provider's kinds in the version that it stores. Those that are of a component have the schema of its module; of the
// others no module can be had, or none is pinned, and their definitions keep whatever fields they are given.
type platform struct {
	component, version string
	shapes             []shape
}

var platforms = map[string]platform{
	"aws": {"infrastructure-aws", "v1beta2", []shape{
		{"AWSCluster", `{"region":"us-east-1","controlPlaneEndpoint":{"host":"api.example.com","port":6443}}`, `{"ready":true}`},
		{"AWSMachineTemplate", `{"template":{"spec":{"instanceType":"m5.large","ami":{"id":"ami-1"},"uncompressedUserData":true}}}`, ""},
		{"AWSMachine", `{"instanceType":"m5.large","ami":{"id":"ami-1"},"providerID":"aws:///us-east-1a/i-1","subnet":{"id":"subnet-1"}}`, `{"ready":true,"instanceState":"running"}`},
	}},
	"vsphere": {"infrastructure-vsphere", "v1beta1", []shape{
		{"VSphereCluster", `{"server":"vcenter.example.com","thumbprint":"AA","controlPlaneEndpoint":{"host":"api.example.com","port":6443}}`, `{"ready":true}`},
		{"VSphereMachineTemplate", `{"template":{"spec":{"template":"rhcos","numCPUs":4,"network":{"devices":[{"networkName":"n","dhcp4":true}]}}}}`, ""},
		{"VSphereMachine", `{"template":"rhcos","numCPUs":4,"network":{"devices":[{"networkName":"n","dhcp4":true}]},"providerID":"vsphere://1"}`, `{"ready":true}`},
	}},
	"powervs": {"infrastructure-powervs", "v1beta2", []shape{
		{"IBMPowerVSCluster", `{"serviceInstanceID":"s","network":{"name":"n"},"zone":"dal10"}`, `{"ready":true}`},
		{"IBMPowerVSMachineTemplate", `{"template":{"spec":{"serviceInstanceID":"s","network":{"name":"n"},"processors":"0.5","memoryGiB":32}}}`, ""},
		{"IBMPowerVSMachine", `{"serviceInstanceID":"s","network":{"name":"n"},"processors":4,"imageRef":{"name":"rhcos"},"providerID":"ibmpowervs://1"}`, `{"ready":true,"region":"dal"}`},
	}},
	"azure": {"", version, []shape{
		{"AzureCluster", `{"location":"westus","identityRef":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AzureClusterIdentity","name":"i"}}`, `{"ready":true}`},
		{"AzureMachine", `{"vmSize":"Standard_D2s_v3","osDisk":{"diskSizeGB":128},"providerID":"azure:///1"}`, `{"ready":true,"vmState":"Succeeded"}`},
	}},
	"gcp": {"", version, []shape{
		{"GCPCluster", `{"project":"p","region":"us-east1","network":{"name":"n"}}`, `{"ready":true}`},
		{"GCPMachine", `{"instanceType":"n2-standard-4","image":"projects/p/i","providerID":"gce://p/z/1"}`, `{"ready":true}`},
	}},
	"kubevirt": {"", version, []shape{
		{"KubevirtCluster", `{"infraClusterSecretRef":{"apiVersion":"v1","kind":"Secret","name":"s"}}`, `{"ready":true}`},
		{"KubevirtMachine", `{"virtualMachineTemplate":{"metadata":{"labels":{"apiVersion":"cluster.x-k8s.io/v1beta1"}},"spec":{"running":true}},"providerID":"kubevirt://1"}`, `{"ready":true}`},
	}},
	"openstack": {"", version, []shape{
		{"OpenStackCluster", `{"identityRef":{"kind":"Secret","name":"s","cloudName":"c"},"managedSubnets":[{"cidr":"10.0.0.0/16"}]}`, `{"ready":true}`},
		{"OpenStackMachine", `{"flavor":"m1.large","image":{"filter":{"name":"rhcos"}},"providerID":"openstack:///1"}`, `{"ready":true}`},
	}},
}

// agents are the group of a platform that is on neither side: its objects stay what they are, and belong to what is moved.
const agents = "capi-provider.agent-install.openshift.io"

var agentShapes = []shape{
	{"AgentCluster", `{"controlPlaneEndpoint":{"host":"api.example.com","port":6443}}`, `{"ready":true}`},
	{"AgentMachine", `{"agentLabelSelector":{"matchLabels":{"apiVersion":"cluster.x-k8s.io/v1beta2"}},"providerID":"agent://1"}`, `{"ready":true}`},
}

// names are those of the platforms, in their order.
func names() []string {
	all := []string{"agent"}
	for name := range platforms {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// platformKinds are all kinds of providers on a side.
func platformKinds(base string) (all []schema.GroupVersionResource) {
	for _, name := range names() {
		for _, s := range platforms[name].shapes {
			all = append(all, schema.GroupVersionResource{Group: provider + base, Version: platforms[name].version, Resource: s.resource()})
		}
	}
	return all
}

// platformDefinitions are those of all platforms on both sides.
func platformDefinitions(ctx context.Context) (all []*apiextensionsv1.CustomResourceDefinition) {
	GinkgoHelper()
	built, err := providers.Build(ctx, providers.Options{Release: providers.ReleaseOne, Dir: filepath.Join(bin, "providers"), ManifestsGen: filepath.Join(bin, "manifests-gen")})
	Expect(err).NotTo(HaveOccurred())
	for _, name := range names() {
		p := platforms[name]
		at := slices.IndexFunc(built, func(b providers.Profile) bool { return b.Component == p.component })
		if at < 0 {
			for _, s := range p.shapes {
				all = append(all, hostedworld.Loose(provider+standard, p.version, s.resource(), s.kind), hostedworld.Loose(provider+private, p.version, s.resource(), s.kind))
			}
			continue
		}
		files, err := filepath.Glob(filepath.Join(built[at].Folder, "*", "manifests.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(files).To(HaveLen(1))
		upstream, err := os.ReadFile(files[0])
		Expect(err).NotTo(HaveOccurred())
		made, err := exec.CommandContext(ctx, filepath.Join(bin, "capstan"), "private-capi", "manifests", "--file", p.component+"="+files[0], "--definitions", "-o", "yaml").Output() //nolint:gosec // our own binary
		Expect(err).NotTo(HaveOccurred())
		found := append(definitionsIn(upstream, p), definitionsIn(made, p)...)
		Expect(found).To(HaveLen(2 * len(p.shapes)))
		all = append(all, found...)
	}
	for _, s := range agentShapes {
		all = append(all, hostedworld.Loose(agents, version, s.resource(), s.kind))
	}
	return all
}

// installPlatforms brings the definitions of all platforms, and waits until they are served.
func installPlatforms(ctx context.Context) {
	GinkgoHelper()
	for _, crd := range platformDefinitions(ctx) {
		Expect(env.Client.Create(ctx, crd)).To(Succeed())
	}
	served := append(platformKinds(standard), platformKinds(private)...)
	for _, s := range agentShapes {
		served = append(served, schema.GroupVersionResource{Group: agents, Version: version, Resource: s.resource()})
	}
	for _, gvr := range served {
		eventually(ctx, gvr.String(), func(ctx context.Context) error {
			_, err := objects.Resource(gvr).List(ctx, metav1.ListOptions{Limit: 1})
			return err
		})
	}
}

// definitionsIn are those of a platform's kinds in a file, in the version that is stored and no other: nobody converts here.
func definitionsIn(text []byte, p platform) (found []*apiextensionsv1.CustomResourceDefinition) {
	GinkgoHelper()
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		if !bytes.Contains(document, []byte("\nkind: CustomResourceDefinition\n")) {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(yaml.Unmarshal(document, crd)).To(Succeed())
		base, mapped := strings.CutPrefix(crd.Spec.Group, provider)
		if !mapped || base != standard && base != private || !slices.ContainsFunc(p.shapes, func(s shape) bool { return s.kind == crd.Spec.Names.Kind }) {
			continue
		}
		crd.Spec.Conversion = nil
		crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name != p.version })
		found = append(found, crd)
	}
	return found
}

// createPlatforms makes for each platform a Machine, and what the provider has for it and for the Cluster.
func createPlatforms(ctx context.Context, top, set *unstructured.Unstructured) {
	GinkgoHelper()
	for _, name := range names() {
		p, group, kinds := platforms[name], provider+standard, platforms[name].shapes
		if name == "agent" {
			p, group, kinds = platform{version: version}, agents, agentShapes
		}
		m := createMachine(ctx, hostedName+"-"+name, group, kinds[len(kinds)-1].kind, set, map[string]any{"phase": "Running"})
		for _, s := range kinds {
			owner := top
			if strings.HasSuffix(s.kind, "Machine") {
				owner = m
			}
			createShape(ctx, schema.GroupVersionResource{Group: group, Version: p.version, Resource: s.resource()}, s, m.GetName(), owner)
		}
	}
}

func createShape(ctx context.Context, gvr schema.GroupVersionResource, s shape, name string, owner *unstructured.Unstructured) {
	GinkgoHelper()
	fields := func(text string) map[string]any {
		made := map[string]any{}
		Expect(json.Unmarshal([]byte(text), &made)).To(Succeed())
		return made
	}
	var status map[string]any
	if s.status != "" {
		status = fields(s.status)
	}
	createIn(ctx, gvr, s.kind, namespace, name, owner, fields(s.spec), status)
}

// createMachine makes a Machine with what it boots from, which belongs to it.
func createMachine(ctx context.Context, name, group, kind string, set *unstructured.Unstructured, status map[string]any) *unstructured.Unstructured {
	GinkgoHelper()
	m := create(ctx, standard, "machines", "Machine", namespace, name, set, map[string]any{
		"clusterName": hostedName, "bootstrap": map[string]any{"dataSecretName": "data-" + name},
		"infrastructureRef": map[string]any{"apiGroup": group, "kind": kind, "name": name},
	}, status)
	Expect(env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "data-" + name, OwnerReferences: []metav1.OwnerReference{ownedBy(m)},
	}})).To(Succeed())
	return m
}
