package capstanprovider_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var _ = Describe("capstan-provider explain", func() {
	It("says on one screen why a cluster is where it is, and what to do", func(ctx SpecContext) {
		namespace := made(ctx)
		patch(ctx, controlPlanes, namespace, "elsewhere", map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"capstan.openshift.io/inputs": "0123abcd", "capstan.openshift.io/bootstrap": "a-uid", "capstan.openshift.io/retry": "1",
		}}})
		machine(ctx, namespace, "elsewhere-bootstrap", map[string]any{"cluster.x-k8s.io/control-plane": ""}, condition("Ready", "False", "NotReady", "no Node\x1b[2J"))
		machine(ctx, namespace, "elsewhere-0", map[string]any{"cluster.x-k8s.io/control-plane": ""})
		machine(ctx, namespace, "elsewhere-worker-x", map[string]any{})
		state(ctx, namespace, "elsewhere", "Failed", "AwaitingAPI", map[string]any{
			"waits":       "the API has not answered: connection refused",
			"lastFailure": map[string]any{"message": "asking the API: connection refused", "since": "2026-01-02T03:04:05Z"},
			"conditions":  []any{condition("Initialized", "False", "NotInitialized", "the API has not answered"), condition("Paused", "False", "NotPaused", "")},
		})

		told := run(ctx, "", at("explain", namespace+"/elsewhere")...)
		Expect(told.code).To(BeZero(), told.errs)
		Expect(told.out).To(And(
			ContainSubstring("OpenShiftControlPlane "+namespace+"/elsewhere: Failed since 2026-01-02 03:04:05Z ("),
			ContainSubstring("The installation does not go on."),
			ContainSubstring("It says: the API has not answered: connection refused"),
			ContainSubstring("It has stopped at: API"),
			ContainSubstring("Its work fails since"),
			MatchRegexp(`inputs +0123abcd\n`), MatchRegexp(`bootstrap +a-uid\n`), MatchRegexp(`initialized +not set\n`),
			MatchRegexp(`elsewhere-bootstrap +bootstrap +Provisioning +no Node +Ready False: no Node`), MatchRegexp(`elsewhere-0 +control plane`),
			MatchRegexp(`elsewhere-worker-x +worker`),
			MatchRegexp(`Initialized +False .*the API has not answered`),
			ContainSubstring("Next: see that the names api and api-int of the cluster lead to its machines"),
			ContainSubstring("kubectl annotate -n "+namespace+" openshiftcontrolplane elsewhere --overwrite capstan.openshift.io/retry="),
			Not(ContainSubstring("\x1b")), Not(ContainSubstring("Paused")), Not(ContainSubstring("ScratchAsked")),
		))
		Expect(strings.Count(told.out, "\n")).To(BeNumerically("<", 40))
		Expect(run(ctx, "", at("explain", namespace+"/elsewhere", "--moves")...).out).To(ContainSubstring("ScratchAsked leads to Clearing"))

		told = run(ctx, "", at("explain", namespace+"/elsewhere", "-o=json")...)
		var read struct {
			State, StoppedAt, Next string
			Marks                  struct{ Inputs string }
			Machines               []struct{ Name, Role string }
			Moves                  []struct{ Event string }
		}
		Expect(json.Unmarshal([]byte(told.out), &read)).To(Succeed())
		Expect(read.State).To(Equal("Failed"))
		Expect(read.StoppedAt).To(Equal("API"))
		Expect(read.Marks.Inputs).To(Equal("0123abcd"))
		Expect(read.Machines).To(HaveLen(3))
		Expect(read.Moves).NotTo(BeEmpty())
	}, SpecTimeout(patience))

	It("tells what it can to somebody who may not read everything, and of what nobody has looked at yet", func(ctx SpecContext) {
		namespace := made(ctx)
		clientset, err := kubernetes.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		_, err = clientset.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "look"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"cluster.openshift.io"}, Resources: []string{"openshiftcontrolplanes"}, Verbs: []string{"get", "list", "watch"}},
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = clientset.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "look"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "look"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "visitor"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		kubeconfig, err := plane.KubeconfigFor("visitor")
		Expect(err).NotTo(HaveOccurred())

		told := run(ctx, "", "explain", namespace+"/elsewhere", "--kubeconfig="+kubeconfig)
		Expect(told.code).To(BeZero(), told.errs)
		Expect(told.out).To(And(
			ContainSubstring("no state yet"), ContainSubstring("Next: see that the provider runs"),
			MatchRegexp(`Could not be read\n  not allowed to get Cluster elsewhere: .*\n  not allowed to list machines: `),
		))

		w := start(ctx, "watch", namespace+"/elsewhere", "--kubeconfig="+kubeconfig)
		w.says(ctx, "not allowed to watch machines")
		state(ctx, namespace, "elsewhere", "Installed", "Settling", nil)
		all := w.ends(ctx)
		Expect(all.code).To(BeZero(), all.errs)
		Expect(strings.Count(all.out, "not allowed to watch machines")).To(Equal(1))
	}, SpecTimeout(patience))
})
