package bootimages_test

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

var _ = Describe("Beside others", func() {
	It("an owned MachineSet of the Machine API is listed, and not touched", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		parent := create(ctx, parse(`{apiVersion: v1, kind: ConfigMap, metadata: {name: parent, namespace: openshift-machine-api}}`))
		child := create(ctx, machineSet("child", onAWS(ami(1)), owned(parent)))
		free := create(ctx, machineSet("free", onAWS(ami(1))))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.upgrade(ctx, 2)
		becomes(ctx, free, amiID, ami(2))
		told(ctx, updateSkipped, "True", "child", "parent")
		s.targets(ctx, "Current", 1)
		untouched(ctx, child)
	})

	It("sets of another stream or of Windows do not count, and are not touched", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		stream := create(ctx, machineSet("ten", onAWS(ami(1)), labelled("machineconfiguration.openshift.io/osstream", "rhel-10")))
		windows := create(ctx, machineSet("windows", onAWS(ami(1)), func(o *object) {
			put(o, "{machine.openshift.io/cluster-api-machineset: windows, machine.openshift.io/os-id: Windows}", "spec", "template", "metadata", "labels")
		}))
		free := create(ctx, machineSet("free", onAWS(ami(1)), labelled("machineconfiguration.openshift.io/osstream", "rhel-9")))
		s.operate(ctx, both)
		s.targets(ctx, "Excluded", 2)
		s.upgrade(ctx, 2)
		becomes(ctx, free, amiID, ami(2))
		told(ctx, "BootImageUpdateProgressing", "False", "1 of 1")
		told(ctx, updateSkipped, "False")
		untouched(ctx, stream)
		untouched(ctx, windows)
	})

	It("of twins only that one is moved which has the authority, and neither while it changes hands", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		mapi := create(ctx, machineSet("worker", onAWS(ami(1))))
		moving := create(ctx, machineSet("moving", onAWS(ami(1))))
		old := create(ctx, awsTemplate("first", ami(1)))
		twin, movingTwin := create(ctx, capiSet("worker", old)), create(ctx, capiSet("moving", old))
		for set, authority := range map[*object]string{mapi: "ClusterAPI", moving: "Migrating"} {
			Expect(mergeStatus(ctx, set, "status: {authoritativeAPI: %s}", authority)).To(Succeed())
		}
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.targets(ctx, "Excluded", 2)
		s.mark(ctx)
		s.upgrade(ctx, 2)
		cloned(ctx, twin, 2)
		s.targets(ctx, "Current", 1)
		for _, set := range []*object{mapi, moving, movingTwin} {
			untouched(ctx, set)
		}
		Expect(mergeStatus(ctx, moving, "status: {authoritativeAPI: MachineAPI}")).To(Succeed())
		becomes(ctx, moving, amiID, ami(2))
		s.writtenOnce(ctx, moving)
		untouched(ctx, movingTwin)
	})

	It("a wave and an autoscaler never conflict", func(ctx SpecContext) {
		const sets = 20
		s, all := standing(ctx, sets)
		s.upgrade(ctx, 2)
		for round := range 5 {
			for _, set := range all {
				Expect(merge(ctx, set, "spec: {replicas: %d}", 2+round)).To(Succeed())
			}
		}
		for _, set := range all {
			Expect(field(becomes(ctx, set, amiID, ami(2)), "spec.replicas")).To(BeEquivalentTo(6))
			s.writtenOnce(ctx, set)
		}
		s.targets(ctx, "Current", sets)
		requests, err := env.Cluster.RequestsSince(ctx, s.from)
		Expect(err).NotTo(HaveOccurred())
		Expect(requests.Where(func(r cluster.Request) bool { return r.Resource == "machinesets" && r.Code == http.StatusConflict })).To(BeEmpty())
	})

	It("of five sets one that cannot be read fails, is named, and keeps the others from nothing", func(ctx SpecContext) {
		s, all := standing(ctx, 5)
		Expect(merge(ctx, all[2], "spec: {template: {spec: {providerSpec: {value: {ami: [wrong]}}}}}")).To(Succeed())
		told(ctx, updateDegraded, "True", all[2].GetName())
		wrong := live(ctx, all[2])
		s.upgrade(ctx, 2)
		for i, set := range all {
			if i != 2 {
				becomes(ctx, set, amiID, ami(2))
			}
		}
		s.targets(ctx, "Current", 4)
		s.targets(ctx, "Failed", 1)
		told(ctx, updateDegraded, "True", fmt.Sprintf("worker-%d", 2))
		operatorTells(ctx, "Upgradeable", "False", "ClusterBootImageSkewError", "worker-2")
		untouched(ctx, wrong)
		Expect(merge(ctx, all[2], "spec: {template: {spec: {providerSpec: {value: {ami: {id: %s}}}}}}", ami(1))).To(Succeed())
		becomes(ctx, all[2], amiID, ami(2))
		told(ctx, updateDegraded, "False")
	})
})
