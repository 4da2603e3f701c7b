package bootimages_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// infrastructureName is that of the cluster, and of its Cluster.
const infrastructureName = "shop-x7k2p"

// installed is the release that the cluster was installed with.
const installed = "4.14.0"

// stub is an Ignition stub that every boot image of today can read.
const stub = `{"ignition":{"version":"3.1.0","config":{"merge":[{"source":"https://api-int.shop:22623/config/worker"}]}}}`

// inPlace is what most specs find: a cluster on a platform, of release 1, with the boot images of that.
type inPlace struct {
	platform configv1.PlatformType
	// minor is of the release, 22 unless it is set.
	minor int
	// config are fields of the MachineConfiguration beside its name, in YAML.
	config string
}

// on empties the cluster and puts in place what every spec needs. There is no operator yet.
func on(ctx context.Context, w inPlace) *stage {
	GinkgoHelper()
	s := &stage{minor: 22}
	if w.minor != 0 {
		s.minor = w.minor
	}
	DeferCleanup(func() { s.end() })
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(env.Begin(bounded, harness.World{Platform: w.platform, NoClusterAPI: true})).To(Succeed())
	applyRights(ctx)
	nameInfrastructure(ctx, w.platform)
	s.createRelease(ctx)
	for _, text := range []string{
		`{apiVersion: v1, kind: Secret, metadata: {name: worker-user-data, namespace: openshift-machine-api}, stringData: {userData: '%s', disableTemplating: "true"}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: worker-user-data, namespace: openshift-cluster-api}, stringData: {value: '%s', format: ignition}}`,
	} {
		create(ctx, parse(text, stub))
	}
	create(ctx, parse(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: %s, namespace: openshift-cluster-api}, spec: {controlPlaneEndpoint: {host: api, port: 6443}}}`, infrastructureName))
	config := machineConfiguration()
	if w.config != "" {
		Expect(yaml.Unmarshal([]byte(w.config), &config.Object)).To(Succeed())
		config.SetName(harness.Singleton)
	}
	create(ctx, config)
	return s
}

// machineConfiguration is one without an opinion.
func machineConfiguration() *object {
	return parse(`{apiVersion: operator.openshift.io/v1, kind: MachineConfiguration, metadata: {name: cluster}, spec: {managementState: Managed}}`)
}

// nameInfrastructure fills in what installers write.
func nameInfrastructure(ctx context.Context, platform configv1.PlatformType) {
	GinkgoHelper()
	infrastructure := &configv1.Infrastructure{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure)).To(Succeed())
	infrastructure.Status.InfrastructureName = infrastructureName
	switch platform {
	case configv1.AWSPlatformType:
		infrastructure.Status.PlatformStatus.AWS = &configv1.AWSPlatformStatus{Region: region}
	case configv1.AzurePlatformType:
		infrastructure.Status.PlatformStatus.Azure = &configv1.AzurePlatformStatus{CloudName: configv1.AzurePublicCloud}
	}
	Expect(env.Client.Status().Update(ctx, infrastructure)).To(Succeed())
}

// version is how a release is called.
func (s *stage) version(release int) string { return fmt.Sprintf("4.%d.%d", s.minor, release) }

// createRelease puts release 1 in place, with its boot images.
func (s *stage) createRelease(ctx context.Context) {
	GinkgoHelper()
	create(ctx, parse(`{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: {clusterID: 11111111-2222-4333-8444-555555555555}}`))
	s.history(ctx, configv1.CompletedUpdate, s.version(1), installed)
	s.golden(ctx, 1)
}

// history makes the ClusterVersion say which releases there were, the newest first, in this state.
func (s *stage) history(ctx context.Context, newest configv1.UpdateState, versions ...string) {
	GinkgoHelper()
	release := func(version string) string {
		return fmt.Sprintf("{version: %s, image: 'example.com/release:%[1]s'}", version)
	}
	now := env.Now().UTC().Format(time.RFC3339)
	var entries []string
	for i, version := range versions {
		state, completed := configv1.CompletedUpdate, "'"+now+"'"
		if i == 0 && newest != configv1.CompletedUpdate {
			state, completed = newest, "null"
		}
		entries = append(entries, fmt.Sprintf("{state: %s, startedTime: '%s', completionTime: %s, verified: false, version: %s, image: 'example.com/release:%[4]s'}",
			state, now, completed, version))
	}
	v := live(ctx, parse(`{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}}`))
	put(v, fmt.Sprintf("{observedGeneration: %d, versionHash: %s, availableUpdates: [], desired: %s, history: [%s]}",
		v.GetGeneration(), made(8, versions), release(versions[0]), strings.Join(entries, ", ")), "status")
	Expect(env.Client.Status().Update(ctx, v)).To(Succeed())
}

// golden makes the golden ConfigMap that of a release.
func (s *stage) golden(ctx context.Context, release int) {
	GinkgoHelper()
	s.goldenStream(ctx, golden(release), s.version(release))
}

// goldenStream makes the golden ConfigMap hold a stream.
func (s *stage) goldenStream(ctx context.Context, text, version string) {
	GinkgoHelper()
	configMap(ctx, harness.MCONamespace, goldenName, map[string]string{"stream": text, "releaseVersion": version, "MCOReleaseImageVersion": version})
}

// goldenName is the ConfigMap that has the release's boot images.
const goldenName = "coreos-bootimages"

// upgrade brings the cluster to a release, as its operators do.
func (s *stage) upgrade(ctx context.Context, release int) {
	GinkgoHelper()
	s.history(ctx, configv1.PartialUpdate, s.version(release), s.version(1), installed)
	s.golden(ctx, release)
	s.history(ctx, configv1.CompletedUpdate, s.version(release), s.version(1), installed)
}

// configure changes the MachineConfiguration as an administrator does.
func configure(ctx context.Context, patch string) {
	GinkgoHelper()
	Expect(merge(ctx, machineConfiguration(), "%s", patch)).To(Succeed())
}

// manages are fields of a MachineConfiguration that say which targets of the Machine API are enrolled, such as
// "machinesets: All".
func manages(entries ...string) string {
	var managers []string
	for _, entry := range entries {
		resource, mode, _ := strings.Cut(entry, ": ")
		managers = append(managers, fmt.Sprintf("{resource: %s, apiGroup: machine.openshift.io, selection: {mode: %s}}", resource, mode))
	}
	return fmt.Sprintf("{spec: {managedBootImages: {machineManagers: [%s]}}}", strings.Join(managers, ", "))
}
