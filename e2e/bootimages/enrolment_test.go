package bootimages_test

import (
	"context"
	"fmt"
	"reflect"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// resolved waits until the status of the MachineConfiguration says which modes count.
func resolved(ctx context.Context, machineSets, controlPlane operatorv1.MachineManagerSelectorMode) {
	GinkgoHelper()
	wanted := map[operatorv1.MachineManagerMachineSetsResourceType]operatorv1.MachineManagerSelectorMode{
		operatorv1.MachineSets: machineSets, operatorv1.ControlPlaneMachineSets: controlPlane,
	}
	eventually(ctx, fmt.Sprintf("the status to be %v", wanted), func(ctx context.Context) error {
		now, err := config(ctx)
		if err != nil {
			return err
		}
		modes := map[operatorv1.MachineManagerMachineSetsResourceType]operatorv1.MachineManagerSelectorMode{}
		for _, m := range now.Status.ManagedBootImagesStatus.MachineManagers {
			modes[m.Resource] = m.Selection.Mode
		}
		if now.Status.ObservedGeneration != now.Generation {
			return fmt.Errorf("it is of generation %d, not %d", now.Status.ObservedGeneration, now.Generation)
		}
		return unless(reflect.DeepEqual(modes, wanted), "it is %v", modes)
	})
}

// standing sets are workers of release 1 under an operator that has seen them Current.
func standing(ctx context.Context, count int, changes ...func(*object)) (*stage, []*object) {
	GinkgoHelper()
	s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
	sets := workers(ctx, count, changes...)
	s.operate(ctx, both)
	s.targets(ctx, "Current", count)
	known(ctx, ami(1))
	s.nothingWritten(ctx)
	s.mark(ctx)
	return s, sets
}

var _ = Describe("Enrolment", func() {
	It("moves all MachineSets on AWS by default, each by one patch of nothing but the image, and no ControlPlaneMachineSet", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		sets := workers(ctx, 3)
		masters := create(ctx, controlPlaneSet(onAWS(ami(1))))
		s.operate(ctx, both)
		resolved(ctx, operatorv1.All, operatorv1.None)
		s.targets(ctx, "Current", 3)
		s.nothingWritten(ctx)
		s.mark(ctx)
		s.upgrade(ctx, 2)
		for _, set := range sets {
			same(set, becomes(ctx, set, amiID, ami(2)), amiID)
		}
		s.targets(ctx, "Current", 3)
		s.targets(ctx, "Unenrolled", 1)
		for _, set := range sets {
			s.writtenOnce(ctx, set)
		}
		Expect(s.writes(ctx)).To(HaveLen(3))
		untouched(ctx, masters)

		By("leaving that default when there is an entry for the ControlPlaneMachineSet")
		configure(ctx, manages("controlplanemachinesets: All"))
		resolved(ctx, operatorv1.All, operatorv1.All)
		becomes(ctx, masters, controlPlane+".ami.id", ami(2))
	})

	It("writes nothing while it is opted out, and moves once it is opted in", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: manages("machinesets: None", "controlplanemachinesets: None")})
		sets := workers(ctx, 2)
		s.operate(ctx, both)
		known(ctx, ami(1))
		s.upgrade(ctx, 2)
		known(ctx, ami(2))
		s.targets(ctx, "Unenrolled", 2)
		s.nothingWritten(ctx)
		configure(ctx, manages("machinesets: All", "controlplanemachinesets: None"))
		for _, set := range sets {
			becomes(ctx, set, amiID, ami(2))
			s.writtenOnce(ctx, set)
		}
	})

	It("moves what a label selector selects, and nothing else", func(ctx SpecContext) {
		s := on(ctx, inPlace{
			platform: configv1.AWSPlatformType,
			config: `{spec: {managedBootImages: {machineManagers: [{resource: machinesets, apiGroup: machine.openshift.io,
			  selection: {mode: Partial, partial: {machineResourceSelector: {matchLabels: {boot: new}}}}}]}}}`,
		})
		chosen := create(ctx, machineSet("chosen", onAWS(ami(1)), labelled("boot", "new")))
		other := create(ctx, machineSet("other", onAWS(ami(1))))
		s.operate(ctx, both)
		resolved(ctx, operatorv1.Partial, operatorv1.None)
		s.targets(ctx, "Current", 1)
		s.upgrade(ctx, 2)
		becomes(ctx, chosen, amiID, ami(2))
		s.targets(ctx, "Current", 1)
		untouched(ctx, other)
		Expect(merge(ctx, other, "metadata: {labels: {boot: new}}")).To(Succeed())
		becomes(ctx, other, amiID, ami(2))
		Expect(s.writes(ctx)).To(HaveLen(2))
	})

	It("keeps values when all are opted out, for which the skew mode has to be set first", func(ctx SpecContext) {
		s, sets := standing(ctx, 2)
		s.upgrade(ctx, 2)
		for _, set := range sets {
			becomes(ctx, set, amiID, ami(2))
		}
		skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusAutomatic, s.version(2))
		none := manages("machinesets: None", "controlplanemachinesets: None")
		Expect(merge(ctx, machineConfiguration(), "%s", none)).To(MatchError(apierrors.IsInvalid, "IsInvalid"))
		configure(ctx, "spec: {bootImageSkewEnforcement: {mode: Manual, manual: {mode: OCPVersion, ocpVersion: "+s.version(2)+"}}}")
		skewed(ctx, operatorv1.BootImageSkewEnforcementModeStatusManual, s.version(2))
		configure(ctx, none)
		resolved(ctx, operatorv1.None, operatorv1.None)
		s.targets(ctx, "Unenrolled", 2)
		s.mark(ctx)
		s.upgrade(ctx, 3)
		known(ctx, ami(3))
		s.nothingWritten(ctx)
		for _, set := range sets {
			Expect(field(live(ctx, set), amiID)).To(Equal(ami(2)))
		}
	})

	It("takes an empty list for None of all", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: "spec: {managedBootImages: {machineManagers: []}}"})
		workers(ctx, 1)
		create(ctx, controlPlaneSet(onAWS(ami(1))))
		s.operate(ctx, both)
		resolved(ctx, operatorv1.None, operatorv1.None)
		s.upgrade(ctx, 2)
		known(ctx, ami(2))
		s.targets(ctx, "Unenrolled", 2)
		s.nothingWritten(ctx)
	})

	It("is refused by the API server for a part of the control plane", func(ctx SpecContext) {
		on(ctx, inPlace{platform: configv1.AWSPlatformType})
		err := merge(ctx, machineConfiguration(), `{spec: {managedBootImages: {machineManagers: [{resource: controlplanemachinesets, apiGroup: machine.openshift.io,
		  selection: {mode: Partial, partial: {machineResourceSelector: {matchLabels: {boot: new}}}}}]}}}`)
		Expect(err).To(MatchError(apierrors.IsInvalid, "IsInvalid"))
	})
})
