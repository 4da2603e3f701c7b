package bootimages_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
)

// skewed waits until the status says how the age of boot images is watched, and what is recorded of it.
func skewed(ctx context.Context, mode operatorv1.BootImageSkewEnforcementModeStatus, recorded string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("the skew status to be %s %s", mode, recorded), func(ctx context.Context) error {
		now, err := config(ctx)
		if err != nil {
			return err
		}
		is := now.Status.BootImageSkewEnforcementStatus
		return unless(is.Mode == mode && is.Automatic.OCPVersion+is.Manual.OCPVersion+is.Manual.RHCOSVersion == recorded, "it is %+v", is)
	})
}

var _ = Describe("Skew", func() {
	It("is that of the release once all targets are Current, and of the installation with one that is skipped", func(ctx SpecContext) {
		s, sets := standing(ctx, 2)
		skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusAutomatic, s.version(1))
		s.upgrade(ctx, 2)
		for _, set := range sets {
			becomes(ctx, set, amiID, ami(2))
		}
		skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusAutomatic, s.version(2))
		operatorTells(ctx, "Upgradeable", "True", "AsExpected")
		reverts(ctx, sets[0], "ami-0123456789abcdef0")
		told(ctx, updateSkipped, "True", "worker-0", "Foreign")
		skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusAutomatic, installed)
		reverts(ctx, sets[0], ami(2))
		skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusAutomatic, s.version(2))
	})

	It("keeps clusters from upgrades by what is recorded by hand, of which the older form tells RHEL's version", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		manual := func(version string) {
			configure(ctx, "spec: {bootImageSkewEnforcement: {mode: Manual, manual: {mode: RHCOSVersion, rhcosVersion: "+version+"}}}")
			skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusManual, version)
		}
		s.operate(ctx, both)
		manual("48.84.202208021106-0")
		operatorTells(ctx, "Upgradeable", "False", "ClusterBootImageSkewError", "48.84.202208021106-0")
		manual("9.6.20251023-0")
		operatorTells(ctx, "Upgradeable", "True", "AsExpected")
		configure(ctx, "spec: {bootImageSkewEnforcement: {mode: Manual, manual: {mode: OCPVersion, ocpVersion: 4.12.9, rhcosVersion: null}}}")
		operatorTells(ctx, "Upgradeable", "False", "ClusterBootImageSkewError", "4.12.9")
	})

	It("is not watched under None, which is counted", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		s.operate(ctx, both)
		s.counts(ctx, "capstan_boot_image_skew", 1, `mode="Automatic"`)
		configure(ctx, "spec: {bootImageSkewEnforcement: {mode: None}}")
		skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusNone, "")
		s.counts(ctx, "capstan_boot_image_skew", 1, `mode="None"`)
		s.counts(ctx, "capstan_boot_image_skew", 0, `mode="Automatic"`)
		operatorTells(ctx, "Upgradeable", "True", "AsExpected")
	})
})
