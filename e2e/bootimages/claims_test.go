package bootimages_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("The MachineConfiguration", func() {
	It("enrols no set of Cluster API by a selector that cannot be read, and says so", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		old := create(ctx, awsTemplate("first", ami(1)))
		set := create(ctx, capiSet("worker", old))
		annotate(ctx, machineConfiguration(), bySets, "boot in (new")
		s.operate(ctx, both)
		gate(ctx, "Open")
		s.upgrade(ctx, 2)
		known(ctx, ami(2))
		s.advance(2 * time.Minute)
		told(ctx, updateDegraded, "True", bySets)
		operatorTells(ctx, "Degraded", "True", "NonRetryableError", bySets)
		s.nothingWritten(ctx)
		untouched(ctx, set)
		annotate(ctx, machineConfiguration(), bySets, "All")
		s.targets(ctx, "Current", 1)
		told(ctx, updateDegraded, "False")
	})

	It("whose status the machine-config operator has claimed is left to it, and so are sets of the Machine API", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		sets := workers(ctx, 2)
		old := create(ctx, awsTemplate("first", ami(1)))
		set := create(ctx, capiSet("capi", old))
		annotate(ctx, machineConfiguration(), bySets, "All")
		claim := parse(`{apiVersion: operator.openshift.io/v1, kind: MachineConfiguration, metadata: {name: cluster},
		  status: {observedGeneration: 1, managedBootImagesStatus: {machineManagers: [{resource: machinesets, apiGroup: machine.openshift.io, selection: {mode: All}}]}}}`)
		Expect(env.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(claim), client.FieldOwner("machine-config-operator"), client.ForceOwnership)).To(Succeed())
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.mark(ctx)
		s.upgrade(ctx, 2)
		cloned(ctx, set, 2)
		s.advance(2 * time.Minute)
		told(ctx, "ClusterAPI"+updateDegraded, "True", "machine-config-operator")
		for _, set := range sets {
			untouched(ctx, set)
		}
		now, err := config(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(now.Status.ManagedBootImagesStatus.MachineManagers).To(HaveLen(1), "the claimed field was written")
	})

	It("whose status somebody edits by hand is put right", func(ctx SpecContext) {
		standing(ctx, 1)
		Expect(mergeStatus(ctx, machineConfiguration(), `{status: {managedBootImagesStatus: {machineManagers: [
		  {resource: machinesets, apiGroup: machine.openshift.io, selection: {mode: All}}, {resource: controlplanemachinesets, apiGroup: machine.openshift.io, selection: {mode: All}}]}}}`)).To(Succeed())
		resolved(ctx, operatorv1.All, operatorv1.None)
	})
})
