package capstanprovider_test

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// machine is one of a cluster, as its provider has made it.
func machine(ctx context.Context, namespace, name string, labels map[string]any, conditions ...any) {
	GinkgoHelper()
	labels["cluster.x-k8s.io/cluster-name"] = "elsewhere"
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": map[string]any{"namespace": namespace, "name": name, "labels": labels},
		"spec": map[string]any{
			"clusterName": "elsewhere", "bootstrap": map[string]any{"dataSecretName": name},
			"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachine", "name": name},
		},
	}}
	_, err := client.Resource(machines).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	patch(ctx, machines, namespace, name, map[string]any{"status": map[string]any{"phase": "Provisioning", "conditions": conditions}}, "status")
}

var _ = Describe("capstan-provider watch", func() {
	It("tells each change in a line, also of what belongs to the cluster, until it is installed", func(ctx SpecContext) {
		namespace := made(ctx)
		w := start(ctx, at("watch", namespace+"/elsewhere")...)
		w.says(ctx, "OpenShiftControlPlane elsewhere", "no state yet")
		state(ctx, namespace, "elsewhere", "AwaitingInfrastructure", "Locating", map[string]any{
			"waits": "the infrastructure is not provisioned\x1b[2J", "deadline": map[string]any{"at": "2026-01-02T03:19:05Z", "to": "Failed"},
			"conditions": []any{condition("Available", "Unknown", "AvailableUnknown", "not seen yet")},
		})
		line := w.says(ctx, "AwaitingInfrastructure: the infrastructure is not provisioned", "Failed at 2026-01-02 03:19:05Z")
		Expect(line).NotTo(ContainSubstring("\x1b"))
		w.says(ctx, "OpenShiftControlPlane elsewhere  Available Unknown (AvailableUnknown): not seen yet")
		machine(ctx, namespace, "elsewhere-0", map[string]any{}, condition("Ready", "False", "NotReady", "* InfrastructureReady: no\n* NodeReady: no"))
		w.says(ctx, "Machine elsewhere-0  Ready False (NotReady): * InfrastructureReady: no * NodeReady: no")
		patch(ctx, clusters, namespace, "elsewhere", map[string]any{"status": map[string]any{"conditions": []any{condition("Available", "False", "NotAvailable", "soon")}}}, "status")
		w.says(ctx, "Cluster elsewhere  Available False (NotAvailable): soon")
		Expect(client.Resource(machines).Namespace(namespace).Delete(ctx, "elsewhere-0", metav1.DeleteOptions{})).To(Succeed())
		w.says(ctx, "Machine elsewhere-0  gone")
		state(ctx, namespace, "elsewhere", "Installed", "Settling", map[string]any{"waits": nil, "deadline": nil})
		w.says(ctx, "OpenShiftControlPlane elsewhere  Installed")
		Expect(w.ends(ctx).code).To(BeZero())
	}, SpecTimeout(2*time.Minute))

	It("ends with a code for each step that an installation can stop at", func(ctx SpecContext) {
		namespace := made(ctx)
		for _, row := range []struct {
			from, to string
			code     int
			step     string
		}{
			{"AwaitingInfrastructure", "Failed", 10, "infrastructure"},
			{"ResolvingInputs", "Failed", 11, "inputs"},
			{"GeneratingIgnition", "Failed", 11, "inputs"},
			{"CreatingMachines", "Failed", 12, "machines"},
			{"AwaitingAPI", "Failed", 13, "API"},
			{"Bootstrapping", "Failed", 14, "bootstrap"},
			{"Settling", "Degraded", 15, "operators"},
			{"Settling", "Installed", 0, ""},
		} {
			state(ctx, namespace, "elsewhere", row.to, row.from, map[string]any{"lastFailure": map[string]any{"message": "no more quota", "since": "2026-01-02T03:04:05Z"}})
			e := run(ctx, "", at("watch", namespace+"/elsewhere")...)
			Expect(e.code).To(Equal(row.code), "%s: %s%s", row.from, e.out, e.errs)
			Expect(e.out).To(ContainSubstring("no more quota"))
			if row.step != "" {
				Expect(e.errs).To(ContainSubstring("it has stopped at " + row.step + ". To see why: capstan-provider explain " + namespace + "/elsewhere"))
			}
		}
		state(ctx, namespace, "elsewhere", "Failed", "", map[string]any{"machine": nil})
		patch(ctx, controlPlanes, namespace, "elsewhere", map[string]any{"metadata": map[string]any{"annotations": map[string]any{"capstan.openshift.io/initialized": "true"}}})
		Expect(run(ctx, "", at("watch", namespace+"/elsewhere")...).code).To(Equal(14), "by the marks alone")
	}, SpecTimeout(2*time.Minute))

	It("prints with -o json a line of JSON for each change", func(ctx SpecContext) {
		namespace := made(ctx)
		state(ctx, namespace, "elsewhere", "Failed", "AwaitingAPI", map[string]any{
			"waits": "the API\u009b has not answered", "conditions": []any{condition("Initialized", "False", "NotInitialized", "no answer")},
		})
		e := run(ctx, "", at("watch", namespace+"/elsewhere", "-o=json")...)
		Expect(e.code).To(Equal(13))
		Expect(e.out).NotTo(ContainSubstring("\u009b"))
		var told []map[string]any
		for line := range strings.Lines(e.out) {
			var change map[string]any
			Expect(json.Unmarshal([]byte(line), &change)).To(Succeed(), line)
			told = append(told, change)
		}
		Expect(told).To(HaveLen(2))
		Expect(told[0]).To(HaveKeyWithValue("state", And(HaveKeyWithValue("name", "Failed"), HaveKeyWithValue("waits", "the API\u009b has not answered"))))
		Expect(told[1]).To(HaveKeyWithValue("condition", HaveKeyWithValue("type", "Initialized")))
	}, SpecTimeout(patience))

	It("goes on once an API server answers again that did not", Serial, func(ctx SpecContext) {
		namespace := made(ctx)
		state(ctx, namespace, "elsewhere", "Bootstrapping", "AwaitingAPI", nil)
		w := start(ctx, at("watch", namespace+"/elsewhere")...)
		w.says(ctx, "Bootstrapping")
		plane.Kill(cluster.APIServer)
		Expect(plane.Restart(ctx, cluster.APIServer)).To(Succeed())
		Expect(harness.Eventually(ctx, "the API server to take a status", func(ctx context.Context) error {
			_, err := client.Resource(controlPlanes).Namespace(namespace).Get(ctx, "elsewhere", metav1.GetOptions{})
			return err
		})).To(Succeed())
		state(ctx, namespace, "elsewhere", "Settling", "RemovingBootstrap", nil)
		w.says(ctx, "Settling")
		state(ctx, namespace, "elsewhere", "Installed", "Settling", nil)
		Expect(w.ends(ctx).code).To(BeZero())
	}, SpecTimeout(3*time.Minute))

	It("ends when its time is over, when the object is gone, and when there is none", func(ctx SpecContext) {
		namespace := made(ctx)
		e := run(ctx, "", at("watch", namespace+"/elsewhere", "--timeout=1s")...)
		Expect(e.code).To(Equal(2))
		Expect(e.errs).To(ContainSubstring("Neither installed nor stopped within 1s."))

		w := start(ctx, at("watch", namespace+"/elsewhere")...)
		w.says(ctx, "no state yet")
		Expect(client.Resource(controlPlanes).Namespace(namespace).Delete(ctx, "elsewhere", metav1.DeleteOptions{})).To(Succeed())
		gone := w.ends(ctx)
		Expect(gone.code).To(Equal(1))
		Expect(gone.errs).To(ContainSubstring("is gone"))
		for _, command := range []string{"watch", "explain"} {
			none := run(ctx, "", at(command, namespace+"/elsewhere")...)
			Expect(none.code).To(Equal(1))
			Expect(none.errs).To(And(ContainSubstring("OpenShiftControlPlane "+namespace+"/elsewhere does not exist"), ContainSubstring("next: ")))
			Expect(run(ctx, "", at(command, "elsewhere")...).errs).To(ContainSubstring("NAMESPACE/NAME"))
		}
	}, SpecTimeout(2*time.Minute))
})
