package bootimages_test

import (
	. "github.com/onsi/ginkgo/v2"
	configv1 "github.com/openshift/api/config/v1"
)

var _ = Describe("What is said by a flag of the operator", func() {
	It("is the project of GCP whose images are releases' own", func(ctx SpecContext) {
		const image = "projects/mine/global/images/rhcos"
		s := on(ctx, inPlace{platform: configv1.GCPPlatformType})
		ours := create(ctx, machineSet("ours", onGCP(`[{boot: true, image: `+image+`}]`)))
		foreign := create(ctx, machineSet("foreign", onGCP(`[{boot: true, image: `+gcpImage(0)+`}]`)))
		s.operate(ctx, both, "--boot-image-gcp-project=mine")
		becomes(ctx, ours, providerSpec+".disks.0.image", gcpImage(1))
		told(ctx, updateSkipped, "True", "foreign", "Foreign", gcpImage(0))
		s.nothingWrittenOf(ctx, foreign)
	})

	It("is the stream of operating systems whose sets are moved", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		trusting(ctx, ami(0))
		ten := create(ctx, machineSet("ten", onAWS(ami(0)), labelled("machineconfiguration.openshift.io/osstream", "rhel-10")))
		nine := create(ctx, machineSet("nine", onAWS(ami(0)), labelled("machineconfiguration.openshift.io/osstream", "rhel-9")))
		s.operate(ctx, both, "--boot-image-os-stream=rhel-10")
		becomes(ctx, ten, amiID, ami(1))
		s.targets(ctx, "Excluded", 1)
		untouched(ctx, nine)
	})

	It("is the release from which on a ControlPlaneMachineSet replaces no machine for its boot image", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: manages("controlplanemachinesets: All")})
		trusting(ctx, ami(0))
		set := create(ctx, controlPlaneSet(onAWS(ami(0))))
		s.operate(ctx, both, "--boot-image-cpms-rolls-out-before=4.23")
		s.skipped(ctx, set, "WouldRollOut", allowRollout)
	})

	It("is the age of boot images that holds up upgrades", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		s.operate(ctx, both, "--boot-image-skew-limits=4.14.0,9.7")
		configure(ctx, "spec: {bootImageSkewEnforcement: {mode: Manual, manual: {mode: RHCOSVersion, rhcosVersion: 9.6.20251023-0}}}")
		operatorTells(ctx, "Upgradeable", "False", "ClusterBootImageSkewError", "9.6.20251023-0")
		configure(ctx, "spec: {bootImageSkewEnforcement: {mode: Manual, manual: {mode: OCPVersion, ocpVersion: 4.14.0, rhcosVersion: null}}}")
		operatorTells(ctx, "Upgradeable", "True", "AsExpected")
	})
})
