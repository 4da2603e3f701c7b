package bootimages_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
)

var _ = Describe("On GCP", func() {
	const (
		disks = `[{boot: false, image: projects/mine/global/images/data, sizeGb: 10}, {boot: true, image: '%s', sizeGb: 128, type: pd-ssd}]`
		boot  = providerSpec + ".disks.1.image"
	)

	It("the disks that machines start from are moved, and no others", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.GCPPlatformType})
		short := create(ctx, machineSet("short", onGCP(fmt.Sprintf(disks, gcpImage(0)))))
		long := create(ctx, machineSet("long", onGCP(fmt.Sprintf(disks, "https://www.googleapis.com/compute/v1/"+gcpImage(0)))))
		right := create(ctx, machineSet("right", onGCP(fmt.Sprintf(disks, "https://www.googleapis.com/compute/v1/"+gcpImage(1)))))
		s.operate(ctx, both)
		for _, set := range []*object{short, long} {
			same(set, becomes(ctx, set, boot, gcpImage(1)), boot)
			s.writtenOnce(ctx, set)
		}
		s.targets(ctx, "Current", 3)
		untouched(ctx, right)
	})

	It("an image of one's own is skipped, and moved when it is adopted", func(ctx SpecContext) {
		const own = "projects/mine/global/images/golden"
		s := on(ctx, inPlace{platform: configv1.GCPPlatformType})
		set := create(ctx, machineSet("worker", onGCP(fmt.Sprintf(disks, own))))
		s.operate(ctx, both)
		s.skipped(ctx, set, "Foreign", own, adopt)
		annotate(ctx, set, adopt, own)
		becomes(ctx, set, boot, gcpImage(1))
	})
})

var _ = Describe("On Azure", func() {
	const image = providerSpec + ".image"
	intel := with(architecture, "kubernetes.io/arch=amd64")
	upload := func(name string) string {
		return "/resourceGroups/shop/providers/Microsoft.Compute/galleries/gallery_shop/images/" + name + "/versions/latest"
	}
	reference := func(publisher, offer, sku string, release int, kind string) map[string]any {
		golden := marketplace(release, publisher, offer, sku)
		return map[string]any{"publisher": golden.Publisher, "offer": golden.Offer, "sku": golden.SKU, "version": golden.Version, "resourceID": "", "type": kind}
	}

	It("what the installer has uploaded becomes the image of the marketplace of its generation", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AzurePlatformType})
		second := create(ctx, machineSet("second", onAzure(fmt.Sprintf(`{resourceID: %s, publisher: "", offer: "", sku: "", version: ""}`, upload(infrastructureName+"-gen2")), ""), intel))
		first := create(ctx, machineSet("first", onAzure(fmt.Sprintf(`{resourceID: %s, publisher: "", offer: "", sku: "", version: ""}`, upload(infrastructureName)), ""), intel))
		s.operate(ctx, both)
		same(second, becomes(ctx, second, image, reference("azureopenshift", "aro4", "422-v2", 1, "MarketplaceNoPlan")), image)
		same(first, becomes(ctx, first, image, reference("azureopenshift", "aro4", "aro_422", 1, "MarketplaceNoPlan")), image)
		s.writtenOnce(ctx, second)
		s.writtenOnce(ctx, first)
	})

	It("an image with a plan stays with that plan", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AzurePlatformType})
		set := create(ctx, machineSet("worker", onAzure("{publisher: redhat, offer: rh-opp-worker, sku: rh-opp-worker-gen1, version: 4.14.1, resourceID: '', type: MarketplaceWithPlan}", ""), intel))
		s.operate(ctx, both)
		same(set, becomes(ctx, set, image, reference("redhat", "rh-opp-worker", "rh-opp-worker-gen1", 1, "MarketplaceWithPlan")), image)
		s.writtenOnce(ctx, set)
	})

	It("a machine with a security type is left alone, and does not count", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AzurePlatformType})
		set := create(ctx, machineSet("worker", onAzure(fmt.Sprintf(`{resourceID: %s, publisher: "", offer: "", sku: "", version: ""}`, upload(infrastructureName+"-gen2")),
			"securityProfile: {settings: {securityType: TrustedLaunch}}"), intel))
		s.operate(ctx, both)
		s.targets(ctx, "Skipped", 1)
		told(ctx, updateSkipped, "False")
		told(ctx, "BootImageUpdateProgressing", "False", "0 of 0")
		untouched(ctx, set)
		s.nothingWritten(ctx)
		skewed(ctx, "Automatic", s.version(1))
	})
})

var _ = Describe("On vSphere", func() {
	It("templates have to be made in vCenter, and sets are enrolled on request only", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.VSpherePlatformType})
		set := create(ctx, machineSet("worker", onVSphere))
		s.operate(ctx, both)
		resolved(ctx, "None", "None")
		s.targets(ctx, "Unenrolled", 1)
		configure(ctx, manages("machinesets: All"))
		s.skipped(ctx, set, "NeedsVCenter")
		Expect(field(live(ctx, set), providerSpec+".template")).NotTo(BeNil())
	})
})
