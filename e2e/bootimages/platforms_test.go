package bootimages_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
)

// unknown is an AMI that no release ever had.
const unknown = "ami-0123456789abcdef0"

// skipped expects that one target is skipped, is named with a reason, and stays as it is.
func (s *stage) skipped(ctx context.Context, set *object, texts ...string) {
	GinkgoHelper()
	s.targets(ctx, "Skipped", 1)
	told(ctx, updateSkipped, "True", append(texts, set.GetName())...)
	untouched(ctx, set)
	s.nothingWritten(ctx)
	operatorTells(ctx, "Degraded", "False", "AsExpected")
}

var _ = Describe("On AWS", func() {
	It("an AMI that is found by filters is skipped", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		set := create(ctx, machineSet("worker", onAWSIn(region, `{filters: [{name: name, values: [rhcos]}]}`)))
		s.operate(ctx, both)
		s.skipped(ctx, set, "NoImageID")
		eventOn(ctx, set, "Skipped: ")
		eventOn(ctx, set, "NoImageID")
	})

	It("a region of which the release has no image is skipped", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		trusting(ctx, unknown)
		set := create(ctx, machineSet("worker", onAWSIn("elsewhere-1", "{id: "+unknown+"}")))
		s.operate(ctx, both)
		s.skipped(ctx, set, "NoImageHere", "elsewhere-1")
	})

	It("an unknown AMI is skipped, and moves by annotation, by list, or once it was golden", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		byAnnotation := create(ctx, machineSet("by-annotation", onAWS(unknown)))
		byList := create(ctx, machineSet("by-list", onAWS(ami(100))))
		onceGolden := create(ctx, machineSet("once-golden", onAWS(ami(7))))
		s.operate(ctx, both)
		s.targets(ctx, "Skipped", 3)
		told(ctx, updateSkipped, "True", "by-annotation", "by-list", "once-golden", "Foreign")
		s.nothingWritten(ctx)

		annotate(ctx, byAnnotation, adopt, ami(100))
		trusting(ctx, "ami-other", ami(100))
		becomes(ctx, byList, amiID, ami(1))
		s.nothingWrittenOf(ctx, byAnnotation, onceGolden)
		annotate(ctx, byAnnotation, adopt, unknown)
		becomes(ctx, byAnnotation, amiID, ami(1))
		s.nothingWrittenOf(ctx, onceGolden)

		s.upgrade(ctx, 7)
		becomes(ctx, byList, amiID, ami(7))
		s.targets(ctx, "Current", 3)
		s.nothingWrittenOf(ctx, onceGolden)
		s.upgrade(ctx, 8)
		becomes(ctx, onceGolden, amiID, ami(8))
		told(ctx, updateSkipped, "False")
	})

	It("an architecture that cannot be read fails its set, and the others go on", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		trusting(ctx, ami(0), amiOf(0, "aarch64", region), amiOf(0, "x86_64", region))
		bad := create(ctx, machineSet("bad", onAWS(ami(0)), with(architecture, "kubernetes.io/arch=mips,a=b")))
		arm := create(ctx, machineSet("arm", onAWS(amiOf(0, "aarch64", region)), with(architecture, "a=b,kubernetes.io/arch=arm64")))
		intel := create(ctx, machineSet("intel", onAWS(amiOf(0, "x86_64", region)), with(architecture, "kubernetes.io/arch=amd64")))
		s.operate(ctx, both)
		becomes(ctx, arm, amiID, amiOf(1, "aarch64", region))
		becomes(ctx, intel, amiID, amiOf(1, "x86_64", region))
		s.targets(ctx, "Failed", 1)
		told(ctx, updateDegraded, "True", "bad", "mips")
		untouched(ctx, bad)
		annotate(ctx, bad, architecture, "kubernetes.io/arch=amd64")
		becomes(ctx, bad, amiID, amiOf(1, "x86_64", region))
	})

	It("an older golden image is followed, which is told", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		s.upgrade(ctx, 2)
		becomes(ctx, sets[0], amiID, ami(2))
		s.targets(ctx, "Current", 1)
		s.upgrade(ctx, 1)
		becomes(ctx, sets[0], amiID, ami(1))
		config := bootworld.MachineConfiguration()
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		eventOn(ctx, config, "the golden boot images are older than those before them")
		Expect(s.writesOf(ctx, sets[0])).To(HaveLen(2))
	})

	It("the golden images of another kind of CoreOS are read all the same", func(ctx SpecContext) {
		text, images := fedora(ctx)
		wanted := images.Architectures["x86_64"].Images.Aws.Regions[region].Image
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		trusting(ctx, ami(0))
		set := create(ctx, machineSet("worker", onAWS(ami(0)), with(architecture, "kubernetes.io/arch=amd64")))
		s.goldenStream(ctx, text, s.version(1))
		s.operate(ctx, both)
		becomes(ctx, set, amiID, wanted)
	})

	It("an Active ControlPlaneMachineSet would be rolled out before 4.21, and is moved after", func(ctx SpecContext) {
		for minor, moves := range map[int]bool{20: false, 22: true} {
			By(fmt.Sprintf("looking at 4.%d", minor))
			s := on(ctx, inPlace{platform: configv1.AWSPlatformType, minor: minor, config: manages("controlplanemachinesets: All")})
			trusting(ctx, ami(0))
			set := create(ctx, controlPlaneSet(onAWS(ami(0))))
			s.operate(ctx, both)
			if moves {
				same(set, becomes(ctx, set, controlPlane+".ami.id", ami(1)), controlPlane+".ami.id")
				s.writtenOnce(ctx, set)
			} else {
				s.skipped(ctx, set, "WouldRollOut", allowRollout)
				annotate(ctx, set, allowRollout, "true")
				becomes(ctx, set, controlPlane+".ami.id", ami(1))
			}
			s.end()
			s.operator = nil
		}
	})
})

// nothingWrittenOf expects no write of some objects.
func (s *stage) nothingWrittenOf(ctx context.Context, objects ...*object) {
	GinkgoHelper()
	for _, o := range objects {
		writes := s.writesOf(ctx, o)
		Expect(writes).To(BeEmpty(), writes.String())
	}
}
