package engine_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A binding", func() {
	for way, opts := range map[string][]engine.ReconcileOption{
		"in a first installation": {engine.FirstInstall()}, "in an upgrade": nil, "of what is kept": {engine.Keep()},
	} {
		It("gives nobody the rights of a role that is not ours, "+way, func(ctx SpecContext) {
			w := begin(ctx)
			w.create(ctx, w.clusterRole("powerful"))
			role, binding := w.clusterRole("powerful"), w.clusterRoleBinding("gains", "powerful", "worker")
			account := w.serviceAccount("worker")
			w.collidesBeside(ctx, opts, role, account, binding)
		})

		It("puts into force no admission policy that is not ours, "+way, func(ctx SpecContext) {
			w := begin(ctx)
			policy := w.object(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NAME-theirs}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [$NAME.example.com], apiVersions: [v1], operations: [CREATE], resources: [nothing]}]}
  validations: [{expression: "true"}]
`)
			w.create(ctx, policy)
			w.collidesBeside(ctx, opts, policy, w.configMap("beside"), w.object(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NAME-binds}
spec: {policyName: $NAME-theirs, validationActions: [Deny]}
`))
		})
	}

	It("is written in the pass that writes its role", func(ctx SpecContext) {
		w := begin(ctx)
		binding := w.clusterRoleBinding("gains", "own", "worker")
		report, err := w.start().apply(ctx, of(1, binding, w.clusterRole("own"), w.serviceAccount("worker")))
		Expect(err).NotTo(HaveOccurred())
		Expect(in(report, binding).Claimed).To(BeTrue())
	})
})

// collidesBeside applies three objects, of which the first is somebody else's, and expects the last, which binds it, to be
// left out, and the one beside it to be there where nothing is tried first.
func (w *world) collidesBeside(ctx context.Context, opts []engine.ReconcileOption, theirs, beside, binding *unstructured.Unstructured) {
	GinkgoHelper()
	since, rev := mark(ctx), of(1, binding, theirs, beside)
	e := w.start()
	Expect(e.drive(ctx, "a collision", func(ctx context.Context) (bool, error) {
		report, failed := e.Reconcile(ctx, rev, opts...)
		if report.Unknown() {
			return failed != nil, fmt.Errorf("%s", report.Blocked())
		}
		return failed != nil, acted(theirs, engine.Collision)(report)
	})).To(Succeed())
	for range 3 {
		_, _ = e.Reconcile(ctx, rev, opts...)
	}
	Expect(w.isGone(ctx, binding)).To(Succeed())
	Expect(successful(about(binding, w.writes(ctx, since)))).To(BeEmpty())
}
