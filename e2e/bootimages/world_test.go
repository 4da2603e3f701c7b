package bootimages_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/bootworld"
)

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
	s := &stage{}
	DeferCleanup(func() { s.end() })
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	s.world, err = bootworld.Begin(bounded, env, bootworld.World{Platform: w.platform, Minor: w.minor, Config: w.config})
	Expect(err).NotTo(HaveOccurred())
	return s
}

// version is how a release is called.
func (s *stage) version(release int) string { return s.world.Version(release) }

// history makes the ClusterVersion say which releases there were, the newest first, in this state.
func (s *stage) history(ctx context.Context, newest configv1.UpdateState, versions ...string) {
	GinkgoHelper()
	Expect(s.world.History(ctx, newest, versions...)).To(Succeed())
}

// golden makes the golden ConfigMap that of a release.
func (s *stage) golden(ctx context.Context, release int) {
	GinkgoHelper()
	s.goldenStream(ctx, golden(release), s.version(release))
}

// goldenStream makes the golden ConfigMap hold a stream.
func (s *stage) goldenStream(ctx context.Context, text, version string) {
	GinkgoHelper()
	Expect(s.world.SetGoldenStream(ctx, text, version)).To(Succeed())
}

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
