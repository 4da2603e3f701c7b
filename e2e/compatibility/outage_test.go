package compatibility_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// outOfService is what API servers say of a webhook that nobody answers.
var outOfService = ContainSubstring("failed calling webhook")

var _ = Describe("An outage of the checker", func() {
	It("stops what Deny governs, and nothing else, for 15 minutes", func(ctx SpecContext) {
		s := alone(ctx, 2)
		s.operate()
		denied, warned, other := newKind(), newKind(), newKind()
		for _, k := range []kind{denied, warned, other} {
			k.establish(ctx, k.definition(schema))
		}
		r := inForce(ctx, denied.requirement(denied.definition(schema), crds(deny), objects(deny)),
			warned.requirement(warned.definition(schema), crds(warn), objects(warn)))
		box := denied.box("a", "{size: 1}")
		box.SetFinalizers([]string{"example.com/holds"})
		Expect(env.Client.Create(ctx, box)).To(Succeed())
		for _, w := range s.replicas {
			w.Kill()
		}

		By("refusing at once")
		Expect(denied.write(ctx, env.Client, denied.definition(without("color:")), client.DryRunAll)).To(MatchError(outOfService))
		Expect(env.Client.Create(ctx, denied.box("b", "{size: 1}"), client.DryRunAll)).To(MatchError(outOfService))
		Expect(env.Client.Delete(ctx, denied.definition(schema), client.DryRunAll)).To(MatchError(outOfService))
		Expect(change(ctx, r.DeepCopy(), crds(warn))).To(MatchError(outOfService))

		By("letting the rest through")
		label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		Expect(env.Client.Patch(ctx, denied.definition(schema), label)).To(Succeed())
		for _, k := range []kind{warned, other} {
			Expect(k.write(ctx, env.Client, k.definition(without("color:")))).To(Succeed())
			Expect(env.Client.Create(ctx, k.box("a", "{size: 1}"))).To(Succeed())
		}
		Expect(env.Client.Delete(ctx, box.DeepCopy())).To(Succeed())
		Expect(env.Client.Patch(ctx, box.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		Expect(apierrors.IsNotFound(env.Client.Get(ctx, client.ObjectKeyFromObject(box), box))).To(BeTrue())

		By("opening after 15 minutes")
		told(ctx, r, "Record", "True", "Stored", `"lasting":{"CheckerGone"`)
		Expect(s.operator.Advance(14 * time.Minute)).To(Succeed())
		Expect(denied.write(ctx, env.Client, denied.definition(without("color:")), client.DryRunAll)).To(MatchError(outOfService))
		Expect(s.operator.Advance(2 * time.Minute)).To(Succeed())
		told(ctx, r, "State", "True", "Open")
		told(ctx, r, "Progressing", "True", "CheckerUnavailable", "capstan-webhooks")
		told(ctx, r, "Admitted", "False", "NotAdmitted")
		eventually(ctx, "writes to go on", func(ctx context.Context) error {
			if err := denied.write(ctx, env.Client, denied.definition(without("color:")), client.DryRunAll); err != nil {
				return err
			}
			return env.Client.Create(ctx, denied.box("b", "{size: 1}"), client.DryRunAll)
		})
		operatorTells(ctx, "True", r.Name, "capstan disarm")

		By("coming back")
		_, err := s.another()
		Expect(err).NotTo(HaveOccurred())
		told(ctx, r, "State", "True", "Open", "less than a minute ago")
		Expect(s.operator.Advance(time.Minute)).To(Succeed())
		admitted(ctx, r)
		Expect(denied.write(ctx, env.Client, denied.definition(without("color:")))).To(MatchError(ContainSubstring("spec.color is missing")))
		operatorTells(ctx, "False")
	})

	It("stops nothing before any replica was there, and is told after 5 minutes", func(ctx SpecContext) {
		s := alone(ctx, 0)
		s.operate()
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := require(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		told(ctx, r, "Admitted", "False", "NotAdmitted", "not armed")
		Expect(k.write(ctx, env.Client, k.definition(without("color:")), client.DryRunAll)).To(Succeed())
		Expect(env.Client.Create(ctx, k.box("a", "{size: 1}"))).To(Succeed())
		var passed time.Duration
		eventually(ctx, "it to be Degraded", func(ctx context.Context) error {
			if passed < 9*time.Minute {
				passed += 30 * time.Second
				Expect(s.operator.Advance(30 * time.Second)).To(Succeed())
			}
			return states(ctx, r, "Degraded")
		})
		Expect(passed).To(BeNumerically(">=", 4*time.Minute))
		operatorTells(ctx, "True", r.Name)
		Expect(k.write(ctx, env.Client, k.definition(without("color:")), client.DryRunAll)).To(Succeed())
		_, err := s.another()
		Expect(err).NotTo(HaveOccurred())
		admitted(ctx, r)
	})
})

var _ = Describe("Disarming", func() {
	It("takes neither operator nor checker, and lasts until both are back", func(ctx SpecContext) {
		s := alone(ctx, 1)
		s.operate()
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		Expect(s.operator.Stop()).To(Succeed())
		s.replicas[0].Kill()
		Expect(k.write(ctx, env.Client, k.definition(without("color:")), client.DryRunAll)).To(MatchError(outOfService))
		disarm(ctx)
		eventually(ctx, "writes to go on", func(ctx context.Context) error {
			if err := k.write(ctx, env.Client, k.definition(without("color:")), client.DryRunAll); err != nil {
				return err
			}
			return env.Client.Create(ctx, k.box("a", "{size: 1}"), client.DryRunAll)
		})
		s.operate()
		_, err := s.another()
		Expect(err).NotTo(HaveOccurred())
		eventually(ctx, "it to be in force again", s.inForce(r))
		Expect(k.write(ctx, env.Client, k.definition(without("color:")))).To(MatchError(ContainSubstring("spec.color is missing")))
	})

	It("is held for as long as --for says, whatever the checker answers", func(ctx SpecContext) {
		s := alone(ctx, 1)
		s.operate()
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		// The clock that operators go by may be ahead, and the command knows nothing of that.
		hold := func() string { return "--for=" + (time.Until(env.Now()).Round(time.Second) + 15*time.Minute).String() }
		disarm(ctx, hold())
		told(ctx, r, "Admitted", "False", "NotAdmitted", "capstan disarm holds that off until")
		Expect(s.operator.Advance(14 * time.Minute)).To(Succeed())
		told(ctx, r, "Admitted", "False", "NotAdmitted", "capstan disarm holds that off until")
		refusing(ctx, r, false)
		Expect(s.operator.Advance(2 * time.Minute)).To(Succeed())
		s.sooner(ctx, "it to be in force", s.inForce(r))

		By("ending it before")
		disarm(ctx, hold())
		told(ctx, r, "Admitted", "False", "NotAdmitted", "capstan disarm holds that off until")
		refusing(ctx, r, false)
		Expect(disarmed(ctx)).To(ContainSubstring("is to set none of them back before"))
		Expect(s.operator.Advance(time.Minute)).To(Succeed())
		refusing(ctx, r, false)
		disarmed(ctx, "--for=0")
		s.sooner(ctx, "it to be in force", s.inForce(r))
	})

	It("lasts as long as the checker is ready and cannot be reached", func(ctx SpecContext) {
		s := alone(ctx, 1)
		s.Sever(true)
		s.operate()
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := require(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		told(ctx, r, "Admitted", "False", "NotAdmitted", "not armed")
		s.tries(ctx, 2)
		refusing(ctx, r, false)
		s.Sever(false)
		s.sooner(ctx, r.Name+" to be admitted", says(r, "Admitted", "True", "Admitted"))
		refusing(ctx, r, true)

		By("being cut off again")
		s.Sever(true)
		disarm(ctx)
		s.tries(ctx, 1)
		refusing(ctx, r, false)
		s.Sever(false)
		s.sooner(ctx, "it to be in force", s.inForce(r))
	})
})

var _ = Describe("A rolling restart of the checker", func() {
	It("fails no write of a definition, and lets no break through", func(ctx SpecContext) {
		const drain = "--drain=1s" // long enough for the Service to see that a replica is not ready any more
		s := alone(ctx, 0)
		for range 2 {
			_, err := s.another(drain)
			Expect(err).NotTo(HaveOccurred())
		}
		s.operate()
		k := newKind()
		k.establish(ctx, k.definition(schema))
		inForce(ctx, k.requirement(k.definition(schema), crds(deny)))
		rolled := make(chan struct{})
		wrote := make(chan error, 1)
		go func() {
			defer GinkgoRecover()
			for i := 0; ; i++ {
				more := strings.Replace(schema, "      lid:", fmt.Sprintf("      more%d: {type: string}\n      lid:", i), 1)
				err := k.write(ctx, env.Client, k.definition(more))
				if err != nil && !apierrors.IsConflict(err) {
					wrote <- fmt.Errorf("write %d: %w", i, err)
					return
				}
				err = k.write(ctx, env.Client, k.definition(without("color:")), client.DryRunAll)
				if err == nil || !apierrors.IsConflict(err) && !strings.Contains(err.Error(), "spec.color is missing") {
					wrote <- fmt.Errorf("break %d: %w", i, err)
					return
				}
				select {
				case <-rolled:
					wrote <- nil
					return
				default:
				}
			}
		}()
		for _, old := range s.replicas[:2] {
			fresh, err := s.another(drain)
			Expect(err).NotTo(HaveOccurred())
			eventually(ctx, "the new replica to be ready", fresh.Ready)
			old.Terminate()
			Eventually(ctx, old.Exited()).WithTimeout(patience).Should(BeClosed())
			Expect(old.Failure()).To(Succeed())
			s.Remove(old)
		}
		close(rolled)
		Eventually(ctx, wrote).WithTimeout(patience).Should(Receive(BeNil()))
	})
})

// states says in which state a requirement is, if it is not the wanted one.
func states(ctx context.Context, r *requirement, wanted string) error {
	GinkgoHelper()
	Expect(read(ctx, r.Name, r)).To(BeTrue())
	for _, c := range r.Status.Conditions {
		if c.Type == "State" {
			return unless(c.Reason == wanted, c.Message)
		}
	}
	return fmt.Errorf("it has no state")
}

// operatorTells waits until the ClusterOperator says whether requirements are in trouble, with texts in its message.
func operatorTells(ctx context.Context, is configv1.ConditionStatus, texts ...string) {
	GinkgoHelper()
	_, err := env.Until(bounded(ctx), "the ClusterOperator to tell of requirements", func(v harness.View) error {
		c := v.Condition("CompatibilityControllerDegraded")
		if c == nil || c.Status != is {
			return fmt.Errorf("it says %v", c)
		}
		for _, text := range texts {
			if !strings.Contains(c.Message, text) {
				return fmt.Errorf("it says %s", c.Message)
			}
		}
		return nil
	})
	Expect(err).NotTo(HaveOccurred())
}

// bounded ends with the patience of the suite.
func bounded(ctx context.Context) context.Context {
	short, cancel := context.WithTimeout(ctx, patience)
	DeferCleanup(cancel)
	return short
}

// disarm has nothing refused for want of an answer, as an administrator does.
func disarm(ctx context.Context, more ...string) {
	GinkgoHelper()
	Expect(disarmed(ctx, more...)).To(ContainSubstring("is set to Ignore"))
}

// disarmed is what capstan disarm says.
func disarmed(ctx context.Context, more ...string) string {
	GinkgoHelper()
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "capstan"), append([]string{"disarm", "--yes", "--kubeconfig=" + env.Cluster.Kubeconfig()}, more...)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}

// inForce says what keeps a requirement from being in force.
func (s *stage) inForce(r *requirement) func(context.Context) error {
	return func(ctx context.Context) error {
		if !read(ctx, r.Name, r) {
			return fmt.Errorf("%s is gone", r.Name)
		}
		return inForceNow(ctx, r, s.CA())
	}
}

// tries waits until the operator has tried the checker so often from now on.
func (s *stage) tries(ctx context.Context, times int) {
	GinkgoHelper()
	from, err := env.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	s.sooner(ctx, "the operator to try the checker", func(ctx context.Context) error {
		requests, err := env.Cluster.RequestsSince(ctx, from)
		if err != nil {
			return err
		}
		tries := 0
		for _, r := range requests.By(harness.UserAgent) {
			if r.DryRun && r.Verb == "create" && r.Resource == "compatibilityrequirements" {
				tries++
			}
		}
		return unless(tries >= times, fmt.Sprintf("it has tried %d times", tries))
	})
}

// refusing says whether what is refused for a requirement is refused without an answer, too.
func refusing(ctx context.Context, r *requirement, is bool) {
	GinkgoHelper()
	want := "Ignore"
	if is {
		want = "Fail"
	}
	for _, name := range []string{r.Name, "capstan-crds", "capstan-requirements"} {
		o := &validating{}
		Expect(read(ctx, name, o)).To(BeTrue(), name)
		Expect(policies(o)).To(Equal(want), name)
	}
}
