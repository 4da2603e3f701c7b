package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// nothingLeft is what is said to whoever asks for an infrastructure machine that is not to be had.
const nothingLeft = "the quota of machines is used up"

// forbid has the API server refuse new infrastructure machines of a cluster, and returns what ends that.
func forbid(ctx context.Context, key capiworld.Key) (allow func(context.Context)) {
	GinkgoHelper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-machines-in-" + key.Namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{capiworld.Infrastructure.Group}, APIVersions: []string{"*"}, Resources: []string{"devmachines"}},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: nothingLeft}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: policy.ObjectMeta,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": key.Namespace}}},
		},
	}
	Expect(world.Create(ctx, policy, binding)).To(Succeed())
	try := func(ctx context.Context) error {
		one := theirs(capiworld.Infrastructure.WithKind("DevMachine"), "any", "spec", inMemory())
		one.SetNamespace(key.Namespace)
		return world.API.Create(ctx, one, client.DryRunAll)
	}
	eventually(ctx, "infrastructure machines to be refused", func(ctx context.Context) error {
		if err := try(ctx); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("they are not"), err)
		}
		return nil
	})
	return func(ctx context.Context) {
		GinkgoHelper()
		Expect(world.API.Delete(ctx, binding)).To(Succeed())
		Expect(world.API.Delete(ctx, policy)).To(Succeed())
		eventually(ctx, "infrastructure machines to be let in", try)
	}
}

// namesRefusal is nil if a failure has the words of who refuses.
func namesRefusal(failure string) error {
	if strings.Contains(failure, nothingLeft) {
		return nil
	}
	return fmt.Errorf("its work meets %q", failure)
}

var _ = Describe("Infrastructure that refuses machines", Label(long), func() {
	It("is told by its own words, no Machine is made that has none, and the cluster goes on once they are to be had", func(ctx SpecContext) {
		asked := prepareOf(ctx, 3, "")
		allow := forbid(ctx, asked.Key)
		since := mark(ctx)
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
		stands(ctx, asked.Key, "CreatingMachines")
		eventually(ctx, "it to say why there is no machine", func(ctx context.Context) error {
			standing, err := world.Standing(ctx, asked.Key)
			if err != nil {
				return err
			}
			Expect(standing.Is("CreatingMachines")).To(Succeed())
			return namesRefusal(standing.Failure)
		})
		Consistently(func() []string { return machines(objectsOf(ctx, asked.Key)) }).WithTimeout(2 * quiet).WithPolling(quiet / 3).Should(BeEmpty())

		allow(ctx)
		stands(ctx, asked.Key, "Installed")
		Expect(made(ctx, since, asked.Key)).To(HaveEach(1))
		Expect(bootstraps(ctx, since, asked.Key)).To(HaveLen(1), "creations of the bootstrap machine")
		remove(ctx, asked.Key)
	}, SpecTimeout(10*time.Minute))

	It("keeps a control plane of one machine that was to have three as it is, and lets it grow once they are to be had", func(ctx SpecContext) {
		asked := installManaged(ctx, newKey(ctx), 1)
		allow := forbid(ctx, asked.Key)
		since := mark(ctx)
		resize(ctx, asked, 3)
		eventually(ctx, "it to say why there is no machine", func(ctx context.Context) error {
			standing, err := world.Standing(ctx, asked.Key)
			if err != nil {
				return err
			}
			return namesRefusal(standing.Failure)
		})
		Expect(standsAt(ctx, asked.Key, "Scaling")).To(Succeed())
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0"))

		allow(ctx)
		settles(ctx, asked.Key, 3)
		Expect(made(ctx, since, asked.Key)).To(HaveEach(1))
		Expect(deleted(ctx, since, asked.Key)).To(BeEmpty())
		remove(ctx, asked.Key)
	}, SpecTimeout(10*time.Minute))
})
