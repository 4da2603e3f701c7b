package engine_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A Service with a field that cannot be changed", func() {
	It("is created again with the ports and the address that it had", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.balanced("a", "old")))
		found := w.fetch(ctx, w.balanced("a", "old"))
		wanted := pinned(recreated(w.balanced("a", "new")), found)
		e.converge(ctx, of(2, wanted))
		after := w.fetch(ctx, wanted)
		Expect(after.GetUID()).NotTo(Equal(found.GetUID()))
		Expect(portsOf(after)).To(Equal(portsOf(found)))
		Expect(field(after, "spec", "healthCheckNodePort")).To(Equal(field(found, "spec", "healthCheckNodePort")))
	})

	It("is not deleted when a policy would not let it be created again with the ports that it has", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.balanced("a", "old")))
		found := w.fetch(ctx, w.balanced("a", "old"))
		wanted := pinned(recreated(w.balanced("a", "new")), found)
		lift := w.deny(ctx, "services", "CREATE", "object.spec.loadBalancerClass != 'test/new'", w.balanced("trial", "new"))
		report := w.keepsService(ctx, e, found, wanted)
		Expect(report.Err().Error()).To(ContainSubstring("nobody may have it"))

		lift()
		e.converge(ctx, of(2, wanted))
		Expect(w.uid(ctx, wanted)).NotTo(Equal(found.GetUID()))
	})

	It("is not deleted for one with a port that another Service has", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.balanced("a", "old")))
		other := w.create(ctx, w.balanced("other", "old"))
		wanted := with(recreated(w.balanced("a", "new")), portsOf(other), "spec", "ports")
		report := w.keepsService(ctx, e, w.fetch(ctx, wanted), wanted)
		Expect(report.Err().Error()).To(ContainSubstring("already allocated"))
	})

	It("is not deleted for one with an address that another Service has", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.converge(ctx, of(1, w.balanced("a", "old")))
		other := w.create(ctx, w.balanced("other", "old"))
		address := field(other, "spec", "clusterIP").(string)
		wanted := with(recreated(w.balanced("a", "old")), address, "spec", "clusterIP")
		report := w.keepsService(ctx, e, w.fetch(ctx, wanted), wanted)
		Expect(terminal(report.Err())).To(BeTrue())
		Expect(report.Err().Error()).To(And(ContainSubstring("spec.clusterIP"), ContainSubstring(address)))
	})
})

// keepsService applies a revision with a Service that cannot come to be, and checks that the one which is there stays.
func (w *world) keepsService(ctx context.Context, e *running, found, wanted *unstructured.Unstructured) *engine.Report {
	GinkgoHelper()
	since := mark(ctx)
	report := e.until(ctx, of(2, wanted), acted(wanted, engine.Failed))
	Expect(w.uid(ctx, wanted)).To(Equal(found.GetUID()))
	Expect(w.requests(ctx, since).Where(isDelete)).To(BeEmpty())
	return report
}

// balanced is a Service that a load balancer of a class would serve. Its class cannot be changed.
func (w *world) balanced(name, class string) *unstructured.Unstructured {
	o := w.object(`{apiVersion: v1, kind: Service, metadata: {name: $NAME, namespace: $NS}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{name: http, port: 80, protocol: TCP}, {name: https, port: 443, protocol: TCP}]}}`)
	o.SetName(name)
	return with(o, "test/"+class, "spec", "loadBalancerClass")
}

// pinned asks for the address and the ports that a Service has.
func pinned(o, has *unstructured.Unstructured) *unstructured.Unstructured {
	o = with(o, portsOf(has), "spec", "ports")
	o = with(o, field(has, "spec", "clusterIP"), "spec", "clusterIP")
	return with(o, field(has, "spec", "healthCheckNodePort"), "spec", "healthCheckNodePort")
}

func portsOf(service *unstructured.Unstructured) any { return field(service, "spec", "ports") }
