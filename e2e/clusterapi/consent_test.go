package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

const consentAnnotation = harness.ConsentAnnotation

var _ = Describe("Consent to lose data", func() {
	It("deletes by a command exactly what was shown, for whoever has the verb, and is told and remembered", func(ctx SpecContext) {
		r := retain(ctx, "mine", "yours")
		since := mark(ctx)
		shown := admin().run(ctx, 0, "consent")
		Expect(shown).To(And(ContainSubstring("Retained beside revision 2"), ContainSubstring(words(r.definition)[0]), ContainSubstring("2 instances in 1 namespace"),
			ContainSubstring("mine"), ContainSubstring("yours"), ContainSubstring(string(r.definition.GetUID())), ContainSubstring("Digest:  "+r.digest(ctx))))
		Expect(admin().run(ctx, 0, "status")).To(ContainSubstring("capstan consent shows what would be lost"))
		consent := append([]string{"consent", "--reason", "nobody uses them"}, words(r.definition)...)
		Expect(admin().run(ctx, codeFailed, consent...)).To(And(ContainSubstring("Digest: "+r.digest(ctx)), ContainSubstring("nobody sits at a terminal")))
		Expect(admin().run(ctx, codeFailed, append(consent, "--yes")...)).To(ContainSubstring("--digest is missing"))
		Expect(admin().run(ctx, codeFailed, append(consent, "--yes", "--digest", strings.Repeat("0", 64))...)).To(ContainSubstring("what would be lost has changed, and nothing was written"))
		Expect(admin().run(ctx, 0, append(consent, "--dry-run")...)).To(ContainSubstring("Nothing was changed."))
		Expect(admin().run(ctx, codeFailed, "consent", "--reason", "r", "Namespace/openshift-cluster-api")).To(ContainSubstring("the operator does not retain Namespace openshift-cluster-api"))

		bind(ctx, "capstan-operate", "operator")
		digest := r.digest(ctx)
		yes := append(consent, "--yes", "--digest", digest)
		Expect(as("operator").run(ctx, codeFailed, yes...)).To(ContainSubstring("you may not list gammas of API group test.cluster.x-k8s.io anywhere"))
		mayRead(ctx, "operator")
		Expect(as("operator").run(ctx, codeFailed, yes...)).To(ContainSubstring("takes the verb consent"), "so says the API server")
		uids(ctx, r.definition, custom("gamma", "mine"), custom("gamma", "yours"))
		Expect(deletionsOf(ctx, since)).To(BeEmpty())

		bind(ctx, "capstan-admin", "chief")
		mayRead(ctx, "chief")
		told := struct {
			Done, Confirmed bool
			Digest, Undo    string
			Losses          []struct {
				Object, Digest string
				Count          int
				Held           []struct{ Name, Namespace string }
			}
		}{}
		Expect(json.Unmarshal([]byte(as("chief").run(ctx, 0, append(yes, "-o", "json")...)), &told)).To(Succeed())
		Expect(told.Done && told.Confirmed).To(BeTrue())
		Expect(told.Losses).To(HaveLen(1))
		Expect(told.Losses[0].Count).To(Equal(2))
		Expect(told.Losses[0].Held).To(HaveLen(2))
		Expect(told.Digest).To(Equal(digest))
		Expect(told.Undo).To(Equal("kubectl annotate clusterapi cluster " + consentAnnotation + "-"))
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, r.definition) })
		until(ctx, "the conditions of a finished installation", finished, func(harness.View) error {
			return announced(ctx, "ActStands", "consent-to-delete of "+strings.Replace(words(r.definition)[0], "/", " ", 1)+" by chief")
		})
		Expect(deletionsOf(ctx, since)).To(Equal([]string{"customresourcedefinitions.apiextensions.k8s.io /" + r.definition.GetName()}))
		listedBeforeEach(ctx, since)
		eventually(ctx, "the history to have it", func(ctx context.Context) error {
			return contains(admin().run(ctx, 0, "history", "2"), "Consents used", "CustomResourceDefinition "+r.definition.GetName(), "by chief")
		})
		Expect(admin().run(ctx, 0, "consent")).To(ContainSubstring("Nothing is retained for the data in it."))
	})

	It("keeps what has an instance more by then, and says so, until somebody consents to that", func(ctx SpecContext) {
		r := retain(ctx, "mine")
		act := r.act(ctx, 2)
		Expect(env.Client.Create(ctx, custom("gamma", "another"), administrator)).To(Succeed())
		since := mark(ctx)
		annotate(ctx, consentAnnotation, act)
		until(ctx, "that to be told", says("Upgradeable", "True", "AsExpected", r.definition.GetName(), "does not count: it was for 1, and there are 2 now"))
		until(ctx, "an Event of it", func(harness.View) error { return announced(ctx, "ConsentVoid", "it was for 1, and there are 2 now") })
		Expect(admin().run(ctx, 0, "consent")).To(And(ContainSubstring("another"), ContainSubstring("Consent: the consent by "+me(ctx)+" does not count")))
		r.stays(ctx, since, custom("gamma", "mine"), custom("gamma", "another"))

		Expect(env.Client.Delete(ctx, custom("gamma", "another"))).To(Succeed())
		r.names = []string{"mine"}
		r.consents(ctx, 2)
	})

	DescribeTable("does nothing", func(ctx SpecContext, write func(context.Context, *retention), told string) {
		r := retain(ctx, "mine")
		since := mark(ctx)
		write(ctx, r)
		if told != "" {
			until(ctx, "that to be told", says("Upgradeable", "True", "AsExpected", r.definition.GetName(), told))
		}
		patch(ctx, newProvider("alpha").find("ServiceAccount", "alpha"), `{"metadata":{"labels":{"`+harness.ManagedByLabel+`":"me"}}}`)
		eventually(ctx, "drift of what is ours to be put right", func(ctx context.Context) error {
			return has(ctx, newProvider("alpha").find("ServiceAccount", "alpha"), "alpha", "metadata", "labels", harness.ManagedByLabel)
		})
		r.stays(ctx, since, custom("gamma", "mine"))
	},
		Entry("for another revision", func(ctx context.Context, r *retention) { annotate(ctx, consentAnnotation, r.act(ctx, 1)) },
			"the consent that is given is void: it is for revision 1, and the newest is 2"),
		Entry("for an object of another UID", func(ctx context.Context, r *retention) {
			annotate(ctx, consentAnnotation, strings.Replace(r.act(ctx, 2), string(r.definition.GetUID()), "another-one", 1))
		}, "it is for another object of that name, whose UID is another-one"),
		Entry("if it says another digest", func(ctx context.Context, r *retention) {
			annotate(ctx, consentAnnotation, strings.Replace(r.act(ctx, 2), r.digest(ctx), strings.Repeat("0", 64), 1))
		}, "it was for 1, and there are 1 now"),
		Entry("as a mark on the object alone", func(ctx context.Context, r *retention) {
			for name, value := range map[string]string{consentAnnotation: r.act(ctx, 2), "capi-operator.openshift.io/consent": "2"} {
				marks, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{name: value}}})
				Expect(err).NotTo(HaveOccurred())
				patch(ctx, r.definition, string(marks))
				patch(ctx, custom("gamma", "mine"), string(marks))
			}
		}, "consent to lose it: capstan consent"),
	)

	It("is refused by the API server itself where it is no act, as the former forms are, or says that it is somebody else's", func(ctx SpecContext) {
		r := retain(ctx, "mine")
		since := mark(ctx)
		for _, text := range []string{"2", r.digest(ctx), strings.Replace(r.act(ctx, 2), "by: "+me(ctx), "by: somebody", 1), strings.Replace(r.act(ctx, 2), r.digest(ctx), "abc", 1)} {
			Expect(annotated(ctx, consentAnnotation, text)).To(MatchError(ContainSubstring("is not an act of " + me(ctx))))
		}
		r.stays(ctx, since, custom("gamma", "mine"))
	})

	It("is for one revision, whatever the content, so that it does not count when the same comes back", func(ctx SpecContext) {
		r := retain(ctx, "mine")
		r.consents(ctx, 2)
		until(ctx, "the conditions of a finished installation", finished)

		By("going back, and forth again with new instances")
		release(ctx, newProvider("alpha"), r.gamma)
		installed(ctx, 3)
		Expect(env.Client.Create(ctx, custom("gamma", "again"), administrator)).To(Succeed())
		release(ctx, newProvider("alpha"))
		installed(ctx, 4)
		until(ctx, "the message to ask for another consent", says("Upgradeable", "True", "AsExpected", r.definition.GetName(), "holds 1 instance",
			"the consent that is given is void: it is for revision 2, and the newest is 4"))
		uids(ctx, r.definition, custom("gamma", "again"))
	})

	It("is looked at anew by an operator that was killed between the list and the deletion", func(ctx SpecContext) {
		r, between := retainThrough(ctx, "mine")
		held := between.Add(proxy.Rule{Verb: "delete", Resource: "customresourcedefinitions", Fault: proxy.Hang})
		since := mark(ctx)
		annotate(ctx, consentAnnotation, r.act(ctx, 2))
		eventually(ctx, "the deletion to be on its way", func(context.Context) error {
			if held.Hits() == 0 {
				return fmt.Errorf("none was sent")
			}
			return nil
		})
		r.operator.Kill()
		Expect(env.Client.Create(ctx, custom("gamma", "another"), administrator)).To(Succeed())
		between.Clear()
		operate(harness.OperatorOptions{})
		until(ctx, "what came meanwhile to be told", inState(harness.Installed), says("Upgradeable", "True", "AsExpected", "it was for 1, and there are 2 now"))
		r.stays(ctx, since, custom("gamma", "mine"), custom("gamma", "another"))

		r.names = []string{"mine", "another"}
		r.consents(ctx, 2)
		Expect(deletionsOf(ctx, since)).To(Equal([]string{"customresourcedefinitions.apiextensions.k8s.io /" + r.definition.GetName()}))
	})

	It("is remembered as used by an operator that was killed right after the deletion", func(ctx SpecContext) {
		r, between := retainThrough(ctx, "mine")
		mine := custom("gamma", "mine")
		patch(ctx, mine, `{"metadata":{"finalizers":["test.cluster.x-k8s.io/hold"]}}`)
		deaf := between.Add(proxy.Rule{Verb: "delete", Resource: "customresourcedefinitions", Fault: proxy.Swallow})
		annotate(ctx, consentAnnotation, r.act(ctx, 2))
		eventually(ctx, "the definition to be going", func(ctx context.Context) error {
			if fetched(ctx, r.definition).GetDeletionTimestamp() == nil {
				return fmt.Errorf("it is not")
			}
			return nil
		})
		r.operator.Kill()
		deaf.End()
		operate(harness.OperatorOptions{})
		eventually(ctx, "the history to have it", func(context.Context) error {
			return contains(admin().run(ctx, 0, "history", "2"), "Consents used", "CustomResourceDefinition "+r.definition.GetName())
		})
		patch(ctx, mine, `{"metadata":{"finalizers":null}}`)
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, r.definition) })
	})

	It("cannot tell of what is made between the list and the deletion, which the docs say", func(ctx SpecContext) {
		r, between := retainThrough(ctx, "mine")
		late := between.Add(proxy.Rule{Verb: "delete", Resource: "customresourcedefinitions", Fault: proxy.Slow(time.Minute)})
		annotate(ctx, consentAnnotation, r.act(ctx, 2))
		eventually(ctx, "the deletion to be on its way", func(context.Context) error {
			if late.Hits() == 0 {
				return fmt.Errorf("none was sent")
			}
			return nil
		})
		Expect(env.Client.Create(ctx, custom("gamma", "another"), administrator)).To(Succeed())
		late.End()
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, r.definition) })
	})
})

// retention is an installation of revision 2 that keeps a definition of revision 1 for its instances.
type retention struct {
	operator   *harness.Operator
	gamma      *provider
	definition *unstructured.Unstructured
	names      []string
}

// retain installs a release that drops a definition with instances.
func retain(ctx context.Context, instances ...string) *retention {
	GinkgoHelper()
	return retainBy(ctx, harness.OperatorOptions{}, instances...)
}

// retainThrough does so with an operator whose requests go through a proxy.
func retainThrough(ctx context.Context, instances ...string) (*retention, *proxy.Proxy) {
	GinkgoHelper()
	config, err := env.OperatorConfig()
	Expect(err).NotTo(HaveOccurred())
	between, err := proxy.Start(config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(between.Stop()).To(Succeed()) })
	return retainBy(ctx, harness.OperatorOptions{Through: between.URL()}, instances...), between
}

func retainBy(ctx context.Context, how harness.OperatorOptions, instances ...string) *retention {
	GinkgoHelper()
	gamma := newProvider("gamma").at(30)
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
	r := &retention{operator: operate(how), gamma: gamma, names: instances}
	installed(ctx, 1)
	for _, name := range instances {
		Expect(env.Client.Create(ctx, custom("gamma", name), administrator)).To(Succeed())
	}
	release(ctx, newProvider("alpha"))
	installed(ctx, 2)
	r.definition = fetched(ctx, gamma.objects[0])
	until(ctx, "the definition to be retained", says("Upgradeable", "True", "AsExpected", r.definition.GetName(), "consent to lose it: capstan consent"))
	return r
}

// act is what consents, for a revision, to lose the definition with the instances.
func (r *retention) act(ctx context.Context, revision int64) string {
	GinkgoHelper()
	return consentTo(ctx, revision, r.definition, r.instances()...)
}

func (r *retention) instances() (all []*unstructured.Unstructured) {
	for _, name := range r.names {
		all = append(all, custom("gamma", name))
	}
	return all
}

// digest is that of what the definition holds.
func (r *retention) digest(ctx context.Context) string {
	GinkgoHelper()
	words := strings.Fields(r.act(ctx, 2))
	return words[len(words)-1]
}

// consents writes the act, and waits until the definition is gone.
func (r *retention) consents(ctx context.Context, revision int64) {
	GinkgoHelper()
	annotate(ctx, consentAnnotation, r.act(ctx, revision))
	eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, r.definition) })
}

// stays says that the definition and these instances are the ones that they were, and that nobody tried to delete one.
func (r *retention) stays(ctx context.Context, since cluster.Mark, instances ...*unstructured.Unstructured) {
	GinkgoHelper()
	Expect(fetched(ctx, r.definition).GetUID()).To(Equal(r.definition.GetUID()))
	uids(ctx, instances...)
	Expect(deletionsOf(ctx, since)).To(BeEmpty())
}

// consentTo is what consents, for a revision, to lose an object with all that it holds.
func consentTo(ctx context.Context, revision int64, holder *unstructured.Unstructured, held ...*unstructured.Unstructured) string {
	GinkgoHelper()
	var all []client.Object
	for _, o := range held {
		all = append(all, fetched(ctx, o))
	}
	return harness.ConsentTo(me(ctx), revision, fetched(ctx, holder), all...)
}

// listedBeforeEach says that the operator has listed instances between its deletion of a definition and whatever it did before.
func listedBeforeEach(ctx context.Context, since cluster.Mark) {
	GinkgoHelper()
	all := requests(ctx, since).Where(func(r cluster.Request) bool {
		return r.Resource == "gammas" && r.Verb == "list" || r.Resource == "customresourcedefinitions" && (r.Verb == "delete" || r.Verb == "get")
	})
	deleted := slices.IndexFunc(all, func(r cluster.Request) bool { return r.Verb == "delete" })
	Expect(deleted).To(BeNumerically(">", 0))
	Expect(all[deleted-1].Resource).To(Equal("gammas"), fmt.Sprint(all))
}

// contains says which of these texts a text does not have.
func contains(text string, parts ...string) error {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return fmt.Errorf("there is no %q in\n%s", part, text)
		}
	}
	return nil
}
