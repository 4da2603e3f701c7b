package compatibility_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

type (
	validating = admissionregistrationv1.ValidatingWebhookConfiguration
	mutating   = admissionregistrationv1.MutatingWebhookConfiguration
)

// read fills an object by its name, and says whether there is one.
func read(ctx context.Context, name string, into client.Object) bool {
	GinkgoHelper()
	err := env.Client.Get(ctx, client.ObjectKey{Name: name}, into)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

// vanishes waits until configurations of a name are gone, as long as the product may take for that.
func vanishes(ctx context.Context, name string) {
	GinkgoHelper()
	for _, kind := range []client.Object{&validating{}, &mutating{}} {
		Eventually(ctx, func() bool { return read(ctx, name, kind) }).WithTimeout(10*time.Second).Should(BeFalse(), "%T %s is there", kind, name)
	}
}

// unlisted waits until no entry of capstan-crds names a definition, as long as the product may take for that.
func unlisted(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(ctx, func() []string { return entriesOf(ctx, name) }).WithTimeout(10*time.Second).Should(BeEmpty(), "%s is listed", name)
}

// entriesOf are the names of the entries of capstan-crds that name a definition.
func entriesOf(ctx context.Context, name string) (entries []string) {
	GinkgoHelper()
	all := &validating{}
	if read(ctx, "capstan-crds", all) {
		for _, entry := range all.Webhooks {
			if strings.Contains(fmt.Sprint(entry.MatchConditions), strconv.Quote(name)) {
				entries = append(entries, entry.Name)
			}
		}
	}
	return entries
}

var _ = Describe("The configurations of a requirement", func() {
	It("stand for its object block, and go with that and with the requirement", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny)))
		Expect(read(ctx, r.Name, &validating{})).To(BeFalse())

		By("adding the block")
		amend(ctx, r, objects(deny))
		admitted(ctx, r)
		judges, prunes := &validating{}, &mutating{}
		Expect(read(ctx, r.Name, judges)).To(BeTrue())
		Expect(read(ctx, r.Name, prunes)).To(BeTrue())
		owner := metav1.OwnerReference{APIVersion: "apiextensions.openshift.io/v1alpha1", Kind: "CompatibilityRequirement", Name: r.Name, UID: r.UID}
		Expect(judges.OwnerReferences).To(ConsistOf(owner))
		Expect(prunes.OwnerReferences).To(ConsistOf(owner))
		Expect(judges.Webhooks).To(HaveLen(1))
		Expect(prunes.Webhooks).To(HaveLen(1))
		v, m := judges.Webhooks[0], prunes.Webhooks[0]
		rules := ConsistOf(admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{k.group}, APIVersions: []string{"v1"}, Resources: []string{"boxes", "boxes/status"}, Scope: ptr.To(admissionregistrationv1.NamespacedScope),
			},
		})
		Expect(v.Rules).To(rules)
		Expect(m.Rules).To(rules)
		Expect(*v.ClientConfig.URL).To(HaveSuffix(fmt.Sprintf("/objects/%s/%s/%d", r.Name, r.UID, r.Generation)))
		Expect(*m.ClientConfig.URL).To(HaveSuffix(fmt.Sprintf("/prune/%s/%s/%d", r.Name, r.UID, r.Generation)))
		Expect([]any{*v.FailurePolicy, *v.MatchPolicy, *v.SideEffects, *v.TimeoutSeconds}).
			To(HaveExactElements(admissionregistrationv1.Fail, admissionregistrationv1.Equivalent, admissionregistrationv1.SideEffectClassNone, int32(10)))
		Expect([]any{*m.FailurePolicy, *m.MatchPolicy, *m.SideEffects, *m.TimeoutSeconds, *m.ReinvocationPolicy}).
			To(HaveExactElements(admissionregistrationv1.Fail, admissionregistrationv1.Equivalent, admissionregistrationv1.SideEffectClassNone, int32(10), admissionregistrationv1.IfNeededReinvocationPolicy))

		By("warning instead")
		amend(ctx, r, objects(warn))
		admitted(ctx, r)
		Expect(read(ctx, r.Name, &mutating{})).To(BeFalse())
		Expect(read(ctx, r.Name, judges)).To(BeTrue())
		Expect(*judges.Webhooks[0].FailurePolicy).To(Equal(admissionregistrationv1.Ignore))
		Expect(*judges.Webhooks[0].ClientConfig.URL).To(HaveSuffix(fmt.Sprintf("/objects-warn/%s/%s/%d", r.Name, r.UID, r.Generation)))

		By("removing the block")
		amend(ctx, r, objects(deny))
		admitted(ctx, r)
		amend(ctx, r, func(r *requirement) { r.Spec.ObjectSchemaValidation.Action = "" })
		vanishes(ctx, r.Name)

		By("removing the block of the definition")
		Expect(entriesOf(ctx, k.name())).To(ConsistOf(HavePrefix("deny-")))
		amend(ctx, r, crds(""))
		unlisted(ctx, k.name())
		amend(ctx, r, crds(deny))
		admitted(ctx, r)
		Expect(entriesOf(ctx, k.name())).To(ConsistOf(HavePrefix("deny-")))

		By("removing the requirement")
		amend(ctx, r, objects(deny))
		admitted(ctx, r)
		Expect(env.Client.Delete(ctx, r)).To(Succeed())
		vanishes(ctx, r.Name)
		unlisted(ctx, k.name())
	})

	It("are put right when they are edited or deleted, and keep whom API servers trust", func(ctx SpecContext) {
		s := alone(ctx, 1)
		flags, err := s.Arguments()
		Expect(err).NotTo(HaveOccurred())
		// Without a bundle by flag the operator waits for one, which this spec injects as the service CA does.
		s.operator, err = env.StartOperator(harness.OperatorOptions{SteeredClock: true, Arguments: flags[:1]})
		Expect(err).NotTo(HaveOccurred())
		operating = s.operator
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := require(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		told(ctx, r, "Admitted", "False", "NotAdmitted", "CA bundle")
		Expect(k.write(ctx, env.Client, k.definition(without("color:")), client.DryRunAll)).To(Succeed())
		admitted := func(bundle []byte) {
			GinkgoHelper()
			eventually(ctx, "it to be in force with the bundle", func(ctx context.Context) error {
				if err := trust(ctx, bundle); err != nil {
					return err
				}
				Expect(read(ctx, r.Name, r)).To(BeTrue())
				return inForceNow(ctx, r, bundle)
			})
		}
		admitted(s.CA())

		By("editing and deleting them")
		for _, disturb := range []func() error{
			func() error {
				return edit(ctx, r.Name, &validating{}, func(o *validating) { o.Webhooks[0].Rules[0].Resources = []string{"lids"} })
			},
			func() error {
				return edit(ctx, r.Name, &validating{}, func(o *validating) { o.Webhooks[0].FailurePolicy = ptr.To(admissionregistrationv1.Ignore) })
			},
			func() error {
				return edit(ctx, r.Name, &mutating{}, func(o *mutating) {
					o.Webhooks[0].ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
				})
			},
			func() error {
				return edit(ctx, r.Name, &mutating{}, func(o *mutating) { o.Webhooks[0].MatchConditions = nil })
			},
			func() error {
				return edit(ctx, "capstan-crds", &validating{}, func(o *validating) { o.Webhooks[0].MatchConditions = nil })
			},
			func() error {
				return edit(ctx, "capstan-requirements", &validating{}, func(o *validating) {
					o.Webhooks[0].Rules[0].Operations = []admissionregistrationv1.OperationType{"CREATE"}
				})
			},
		} {
			before := contents(ctx, r.Name)
			Expect(disturb()).To(Succeed())
			eventually(ctx, "what was edited to be put right", func(ctx context.Context) error {
				return unless(contents(ctx, r.Name) == before, contents(ctx, r.Name)+" instead of "+before)
			})
		}
		Expect(env.Client.Delete(ctx, &validating{ObjectMeta: metav1.ObjectMeta{Name: r.Name}})).To(Succeed())
		Expect(env.Client.Delete(ctx, &mutating{ObjectMeta: metav1.ObjectMeta{Name: r.Name}})).To(Succeed())
		Expect(env.Client.Delete(ctx, &validating{ObjectMeta: metav1.ObjectMeta{Name: "capstan-crds"}})).To(Succeed())
		admitted(s.CA())

		By("renewing the bundle")
		renewed := append([]byte("# renewed\n"), s.CA()...)
		admitted(renewed)
		Expect(k.write(ctx, env.Client, k.definition(without("color:")))).To(MatchError(ContainSubstring("spec.color is missing")))

		By("emptying it")
		Expect(trust(ctx, nil)).To(Succeed())
		told(ctx, r, "Admitted", "False", "NotAdmitted", "CA bundle")
		eventually(ctx, "nothing to be refused for want of trust", func(ctx context.Context) error {
			return k.write(ctx, env.Client, k.definition(without("color:")), client.DryRunAll)
		})
		admitted(s.CA())
	})

	It("are left alone if they are somebody else's", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := k.requirement(k.definition(schema), objects(deny))
		theirs := foreign(ctx, r.Name)
		require(ctx, r)
		told(ctx, r, "Progressing", "False", "OwnershipConflict", r.Name)
		told(ctx, r, "State", "True", "Conflicted")
		told(ctx, r, "Admitted", "False", "NotAdmitted", "somebody else's")

		By("freeing the name")
		Expect(env.Client.Delete(ctx, theirs)).To(Succeed())
		admitted(ctx, r)
		Expect(env.Client.Delete(ctx, r)).To(Succeed())
		vanishes(ctx, r.Name)

		By("deleting the requirement while the name is taken")
		r = k.requirement(k.definition(schema), objects(deny))
		theirs = foreign(ctx, r.Name)
		require(ctx, r)
		told(ctx, r, "State", "True", "Conflicted")
		Expect(env.Client.Delete(ctx, r)).To(Succeed())
		// What is deleted for a requirement made and deleted later would have been deleted by now.
		later := inForce(ctx, k.requirement(k.definition(schema), objects(deny)))
		Expect(env.Client.Delete(ctx, later)).To(Succeed())
		vanishes(ctx, later.Name)
		found := &validating{}
		Expect(read(ctx, r.Name, found)).To(BeTrue())
		Expect(found).To(Equal(theirs))

		By("taking the name of what all requirements share")
		r = k.requirement(k.definition(schema), objects(deny))
		r.Name = "capstan-crds"
		require(ctx, r)
		told(ctx, r, "State", "True", "Conflicted")
	})

	It("are none where all requirements share what has its name and it has no object block", func(ctx SpecContext) {
		shared(ctx)
		k, other := newKind(), newKind()
		for _, of := range []kind{k, other} {
			of.establish(ctx, of.definition(schema))
		}
		inForce(ctx, other.requirement(other.definition(schema), crds(warn)))
		for _, name := range []string{"capstan-requirements", "capstan-crds"} {
			r := k.requirement(k.definition(schema), crds(deny))
			r.Name = name
			inForce(ctx, r)
			before := sharedNow(ctx)

			By("adding an object block to " + name + ", and taking it off")
			amend(ctx, r, objects(deny))
			told(ctx, r, "State", "True", "Conflicted")
			amend(ctx, r, func(r *requirement) { r.Spec.ObjectSchemaValidation.Action = "" })
			admitted(ctx, r)
			Expect(sharedNow(ctx)).To(Equal(before))

			By("deleting " + name)
			Expect(env.Client.Delete(ctx, r)).To(Succeed())
			// What is deleted for a requirement made and deleted later would have been deleted by now.
			later := inForce(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
			Expect(env.Client.Delete(ctx, later)).To(Succeed())
			vanishes(ctx, later.Name)
			after := sharedNow(ctx)
			for _, of := range []string{"capstan-requirements", "capstan-crds"} {
				Expect(after[of]).To(Equal(before[of]), of)
			}
		}
	})
})

// sharedNow are the UIDs of the configurations that all requirements share, and what each webhook of theirs does without an answer.
func sharedNow(ctx context.Context) map[string]string {
	GinkgoHelper()
	now := map[string]string{}
	for _, name := range []string{"capstan-requirements", "capstan-crds"} {
		o := &validating{}
		Expect(read(ctx, name, o)).To(BeTrue(), name)
		now[name] = string(o.UID)
		for _, h := range o.Webhooks {
			now[name+", "+h.Name] = string(*h.FailurePolicy)
		}
	}
	return now
}

// foreign is a configuration of somebody else, as it is stored. It goes with the spec.
func foreign(ctx context.Context, name string) *validating {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, &validating{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	theirs := &validating{}
	Expect(read(ctx, name, theirs)).To(BeTrue())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, theirs.DeepCopy()))).To(Succeed())
	})
	return theirs
}

// edit changes an object once; the operator may write at the same time.
func edit[T client.Object](ctx context.Context, name string, object T, change func(T)) error {
	return harness.Eventually(ctx, "editing "+name, func(ctx context.Context) error {
		if err := env.Client.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
			return err
		}
		change(object)
		return env.Client.Update(ctx, object)
	})
}

// trust puts a bundle into all configurations of the checker, as the service CA does; what was written meanwhile, or is gone, is
// not an error.
func trust(ctx context.Context, bundle []byte) error {
	var judges admissionregistrationv1.ValidatingWebhookConfigurationList
	var prunes admissionregistrationv1.MutatingWebhookConfigurationList
	if err := env.Client.List(ctx, &judges, ours); err != nil {
		return err
	}
	if err := env.Client.List(ctx, &prunes, ours); err != nil {
		return err
	}
	var all []client.Object
	for i := range judges.Items {
		for j := range judges.Items[i].Webhooks {
			judges.Items[i].Webhooks[j].ClientConfig.CABundle = bundle
		}
		all = append(all, &judges.Items[i])
	}
	for i := range prunes.Items {
		for j := range prunes.Items[i].Webhooks {
			prunes.Items[i].Webhooks[j].ClientConfig.CABundle = bundle
		}
		all = append(all, &prunes.Items[i])
	}
	for _, o := range all {
		if err := env.Client.Update(ctx, o); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// inForceNow says what keeps a requirement from being in force with a bundle.
func inForceNow(ctx context.Context, r *requirement, bundle []byte) error {
	GinkgoHelper()
	for _, c := range r.Status.Conditions {
		if c.Type == "Admitted" && (c.Status != "True" || c.ObservedGeneration != r.Generation) {
			return fmt.Errorf("it is not admitted: %s", c.Message)
		}
	}
	for _, name := range []string{r.Name, "capstan-crds", "capstan-requirements"} {
		o := &validating{}
		if !read(ctx, name, o) || len(o.Webhooks) == 0 {
			return fmt.Errorf("%s is not there", name)
		}
		for _, h := range o.Webhooks {
			if string(h.ClientConfig.CABundle) != string(bundle) || *h.FailurePolicy != admissionregistrationv1.Fail {
				return fmt.Errorf("%s of %s is %s", h.Name, name, *h.FailurePolicy)
			}
		}
	}
	return nil
}

// contents is what the configurations that matter to a requirement say, but for their versions.
func contents(ctx context.Context, name string) string {
	GinkgoHelper()
	var b strings.Builder
	for _, of := range []string{name, "capstan-crds", "capstan-requirements"} {
		o := &validating{}
		fmt.Fprintln(&b, read(ctx, of, o), o.Labels, o.Annotations, o.OwnerReferences)
		for i := range o.Webhooks {
			fmt.Fprintln(&b, o.Webhooks[i].String())
		}
	}
	o := &mutating{}
	fmt.Fprintln(&b, read(ctx, name, o), o.Labels, o.Annotations, o.OwnerReferences)
	for i := range o.Webhooks {
		fmt.Fprintln(&b, o.Webhooks[i].String())
	}
	return b.String()
}

// amend changes a requirement's spec; the operator may write its status at the same time.
func amend(ctx context.Context, r *requirement, changes ...ask) {
	GinkgoHelper()
	eventually(ctx, "changing "+r.Name, func(ctx context.Context) error { return change(ctx, r, changes...) })
}
