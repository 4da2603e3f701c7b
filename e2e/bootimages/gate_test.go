package bootimages_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The gate", func() {
	It("lets nothing through while an upgrade is under way, and all once the release is complete", func(ctx SpecContext) {
		s, sets := standing(ctx, 2)
		s.history(ctx, configv1.PartialUpdate, s.version(2), s.version(1), installed)
		s.golden(ctx, 2)
		gate(ctx, "WaitingForRelease")
		for _, set := range sets {
			untouched(ctx, set)
		}
		s.nothingWritten(ctx)
		s.history(ctx, configv1.CompletedUpdate, s.version(2), s.version(1), installed)
		for _, set := range sets {
			becomes(ctx, set, amiID, ami(2))
			s.writtenOnce(ctx, set)
		}
	})

	It("waits for boot images of the release, is overdue after an hour, and heals", func(ctx SpecContext) {
		s, sets := standing(ctx, 2)
		s.history(ctx, configv1.CompletedUpdate, s.version(2), s.version(1), installed)
		s.goldenStream(ctx, golden(2), s.version(1))
		gate(ctx, "WaitingForVoucher")
		operatorTells(ctx, "Progressing", "True", "WaitingOnExternal", s.version(1))
		s.advance(59 * time.Minute)
		operatorTells(ctx, "Degraded", "False", "AsExpected")
		s.advance(2 * time.Minute)
		gate(ctx, "VoucherOverdue")
		operatorTells(ctx, "Degraded", "True", "WaitingOnExternal", s.version(1), s.version(2))
		told(ctx, updateDegraded, "True", s.version(1))
		s.nothingWritten(ctx)
		s.golden(ctx, 2)
		gate(ctx, "Open")
		for _, set := range sets {
			becomes(ctx, set, amiID, ami(2))
			s.writtenOnce(ctx, set)
		}
		operatorTells(ctx, "Degraded", "False", "AsExpected")
	})

	It("waits for a voucher of the machine-config operator that is of another release", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		s.history(ctx, configv1.CompletedUpdate, s.version(2), s.version(1), installed)
		data := map[string]string{"stream": golden(2), "releaseVersion": s.version(2), "MCOReleaseImageVersion": s.version(1)}
		configMap(ctx, harness.MCONamespace, goldenName, data)
		gate(ctx, "WaitingForVoucher")
		untouched(ctx, sets[0])
		s.nothingWritten(ctx)
		delete(data, "MCOReleaseImageVersion")
		configMap(ctx, harness.MCONamespace, goldenName, data)
		becomes(ctx, sets[0], amiID, ami(2))
	})

	It("is Degraded at once without boot images that can be read, writes nothing, and clears", func(ctx SpecContext) {
		s, sets := standing(ctx, 2)
		broken := func(text string) {
			gate(ctx, "GoldenBroken")
			operatorTells(ctx, "Degraded", "True", "WaitingOnExternal", text)
			told(ctx, updateDegraded, "True", text)
			s.golden(ctx, 1)
			gate(ctx, "Open")
			operatorTells(ctx, "Degraded", "False", "AsExpected")
			told(ctx, updateDegraded, "False")
		}
		By("deleting them")
		remove(ctx, parse(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}}`, goldenName, harness.MCONamespace))
		broken(goldenName)
		By("writing what is no JSON")
		s.goldenStream(ctx, "{no JSON", s.version(1))
		broken("stream")
		s.targets(ctx, "Current", 2)
		s.nothingWritten(ctx)
		for _, set := range sets {
			untouched(ctx, set)
		}
	})

	It("is shut while there is no MachineConfiguration, which is no trouble", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		told(ctx, updateDegraded, "False")
		deleted := live(ctx, machineConfiguration())
		remove(ctx, deleted)
		gate(ctx, "Off")
		s.upgrade(ctx, 2)
		operatorTells(ctx, "Progressing", "False", "AsExpected")
		s.nothingWritten(ctx)
		untouched(ctx, sets[0])

		By("making it anew")
		create(ctx, machineConfiguration())
		becomes(ctx, sets[0], amiID, ami(2))
		gate(ctx, "Open")
	})

	It("of an operator that manages Cluster API only waits for who resolves the configuration", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		set := create(ctx, capiSet("worker", create(ctx, awsTemplate("first", ami(1)))))
		annotate(ctx, machineConfiguration(), bySets, "All")
		s.operate(ctx, clusterAPIOnly)
		s.targets(ctx, "Current", 1)
		now, err := config(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(now.Status.ManagedBootImagesStatus.MachineManagers).To(BeEmpty(), "it is not its own to resolve")
		s.mark(ctx)
		Expect(mergeStatus(ctx, machineConfiguration(), "status: {observedGeneration: %d}", now.Generation)).To(Succeed())
		configure(ctx, "spec: {logLevel: Debug}")
		gate(ctx, "WaitingForConfig")
		s.upgrade(ctx, 2)
		s.advance(2*time.Minute + time.Second)
		gate(ctx, "ConfigOverdue")
		operatorTells(ctx, "Degraded", "True", "WaitingOnExternal")
		untouched(ctx, set)
		s.nothingWritten(ctx)
		Expect(mergeStatus(ctx, machineConfiguration(), "status: {observedGeneration: %d}", now.Generation+1)).To(Succeed())
		gate(ctx, "Open")
		cloned(ctx, set, 2)
		s.writtenOnce(ctx, set)
	})
})
