package bootimages_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// contested is a set that has been given the image of release 2 three times, and did not keep it.
func contested(ctx SpecContext) (*stage, *object) {
	GinkgoHelper()
	s, sets := standing(ctx, 1)
	s.upgrade(ctx, 2)
	eventOn(ctx, live(ctx, machineConfiguration()), "1 moved: 1 of 1 targets have the golden boot image")
	s.contest(ctx, sets[0], 3)
	s.targets(ctx, "HotLoop", 1)
	return s, sets[0]
}

// contest has a set given the image of release 2 so many times, and somebody change it back each time.
func (s *stage) contest(ctx SpecContext, set *object, times int) {
	GinkgoHelper()
	for range times {
		becomes(ctx, set, amiID, ami(2))
		s.targets(ctx, "Current", 1)
		reverts(ctx, set, ami(1))
	}
}

// succeeded has the operator stopped and another one started, with what both write counted together.
func (s *stage) succeeded(ctx SpecContext) {
	GinkgoHelper()
	Expect(s.operator.Stop()).To(Succeed())
	from := s.from
	s.operate(ctx, both)
	s.from = from
	gate(ctx, "Open")
}

// contestStub has so many sets start from an older stub three times, each time converted, and then once more.
func (s *stage) contestStub(ctx SpecContext, sets int) {
	GinkgoHelper()
	for range 3 {
		starts(ctx, oldStub)
		converted(ctx)
		s.targets(ctx, "Current", sets)
	}
	starts(ctx, oldStub)
	s.targets(ctx, "HotLoop", sets)
	Expect(s.writesOf(ctx, userData())).To(HaveLen(3))
}

var _ = Describe("A hot loop", func() {
	It("ends after three attempts when somebody changes the image back, whatever becomes of operator and labels", func(ctx SpecContext) {
		s, set := contested(ctx)
		told(ctx, updateDegraded, "True", set.GetName(), "administrator")
		operatorTells(ctx, "Upgradeable", "False", "ClusterBootImageSkewError", set.GetName())
		Expect(s.writesOf(ctx, set)).To(HaveLen(3))
		eventOn(ctx, set, "administrator")

		By("editing it")
		Expect(merge(ctx, set, "metadata: {labels: {a: b}, annotations: {c: d}}")).To(Succeed())
		By("starting another operator")
		s.succeeded(ctx)
		s.targets(ctx, "HotLoop", 1)
		Expect(s.writesOf(ctx, set)).To(HaveLen(3))
		Expect(field(live(ctx, set), amiID)).To(Equal(ami(1)))
	})

	It("ends after three attempts, whenever between them another operator takes over", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		s.upgrade(ctx, 2)
		for made := 1; made <= 3; made++ {
			becomes(ctx, sets[0], amiID, ami(2))
			s.targets(ctx, "Current", 1)
			s.succeeded(ctx)
			reverts(ctx, sets[0], ami(1))
		}
		s.targets(ctx, "HotLoop", 1)
		Expect(s.writesOf(ctx, sets[0])).To(HaveLen(3))
		s.succeeded(ctx)
		s.targets(ctx, "HotLoop", 1)
		Expect(s.writesOf(ctx, sets[0])).To(HaveLen(3))
		Expect(field(live(ctx, sets[0]), amiID)).To(Equal(ami(1)))
	})

	It("is counted, and so are the writes that led to it", func(ctx SpecContext) {
		s, _ := contested(ctx)
		s.counts(ctx, "capstan_boot_image_hot_loops_total", 1)
		s.counts(ctx, "capstan_boot_image_writes_total", 3)
	})

	It("ends after three attempts when a set is made anew", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		s.upgrade(ctx, 2)
		for range 3 {
			becomes(ctx, sets[0], amiID, ami(2))
			s.targets(ctx, "Current", 1)
			remove(ctx, sets[0])
			s.targets(ctx, "Current", 0)
			create(ctx, machineSet("worker-0", onAWS(ami(1))))
		}
		s.targets(ctx, "HotLoop", 1)
		Expect(s.writesOf(ctx, sets[0])).To(HaveLen(3))
	})

	It("ends after three attempts when somebody puts an older stub back", func(ctx SpecContext) {
		s, _ := standing(ctx, 1)
		s.contestStub(ctx, 1)
		told(ctx, updateDegraded, "True", "worker-0", "worker-user-data")
	})

	It("ends after three attempts at a stub, however many sets start from it", func(ctx SpecContext) {
		s, _ := standing(ctx, 3)
		s.contestStub(ctx, 3)
	})

	It("is left by opting out and in, each of which lets three more attempts be made", func(ctx SpecContext) {
		s, set := contested(ctx)
		configure(ctx, "spec: {bootImageSkewEnforcement: {mode: None}}")
		skewed(ctx, "None", "")
		configure(ctx, manages("machinesets: None", "controlplanemachinesets: None"))
		s.targets(ctx, "Unenrolled", 1)
		configure(ctx, manages("machinesets: All", "controlplanemachinesets: None"))
		becomes(ctx, set, amiID, ami(2))
		Expect(s.writesOf(ctx, set)).To(HaveLen(4))
	})

	It("is left for another golden image", func(ctx SpecContext) {
		s, set := contested(ctx)
		s.upgrade(ctx, 3)
		becomes(ctx, set, amiID, ami(3))
		told(ctx, updateDegraded, "False")
		Expect(s.writesOf(ctx, set)).To(HaveLen(4))
	})

	It("is left by the annotation retry, whose value counts once", func(ctx SpecContext) {
		s, set := contested(ctx)
		for _, value := range []string{"1", "2"} {
			annotate(ctx, set, retryOnce, value)
			s.contest(ctx, set, 3)
			s.targets(ctx, "HotLoop", 1)
		}
		Expect(s.writesOf(ctx, set)).To(HaveLen(9))
		annotate(ctx, set, retryOnce, "1")
		told(ctx, updateDegraded, "True", set.GetName())
		annotate(ctx, set, retryOnce, "3")
		becomes(ctx, set, amiID, ami(2))
		s.targets(ctx, "Current", 1)
		Expect(s.writesOf(ctx, set)).To(HaveLen(10))
	})

	It("is forgotten a day after the last attempt if the image stood", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		s.upgrade(ctx, 2)
		s.contest(ctx, sets[0], 2)
		becomes(ctx, sets[0], amiID, ami(2))
		s.targets(ctx, "Current", 1)
		s.advance(25 * time.Hour)
		reverts(ctx, sets[0], ami(1))
		becomes(ctx, sets[0], amiID, ami(2))
		Expect(s.writesOf(ctx, sets[0])).To(HaveLen(4))
	})
})
