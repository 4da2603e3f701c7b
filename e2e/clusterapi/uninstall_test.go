package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const uninstallAnnotation = "capi-operator.openshift.io/consent-to-uninstall"

// uninstallCommand is what a message ends with that asks for consent.
const uninstallCommand = "capstan consent --uninstall --reason TEXT"

// consentToUninstall writes an act that lets the revision of a name end what runs, as the administrator.
func consentToUninstall(ctx context.Context, revision string) {
	GinkgoHelper()
	annotate(ctx, uninstallAnnotation, uninstallBy(me(ctx), revision))
}

func uninstallBy(user, revision string) string {
	return "by: " + user + "\nat: " + env.Now().UTC().Format(time.RFC3339) + "\nreason: it moves elsewhere\nrevision: " + revision
}

var _ = Describe("An emptied list of provider images", func() {
	It("uninstalls nothing until the administrator consents, once for each revision, and destroys no data then", func(ctx SpecContext) {
		g := installSmall(ctx, newProvider("alpha"))
		definition := newProvider("alpha").find("CustomResourceDefinition", "alphas.test.cluster.x-k8s.io")
		precious := custom("alpha", "precious")
		Expect(env.Client.Create(ctx, precious, administrator)).To(Succeed())
		kept := uids(ctx, definition, precious)

		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		asked := []string{"alpha", "small", "uninstall", uninstallCommand}
		g.survives(ctx, revisionController, nonRetryable, asked...)
		two := askedToUninstall(ctx, 2)
		consentToUninstall(ctx, strings.TrimSuffix(two, "2")+"7")
		g.survives(ctx, revisionController, nonRetryable, append(asked, "Installed "+g.revision, "; since ", "ConfigMap openshift-cluster-api-operator/capi-installer-images", "not for revision "+two)...)
		Expect(admin().run(ctx, codeLook, "status", "--exit-code")).To(And(ContainSubstring("State:      Installed since"), ContainSubstring(uninstallCommand), ContainSubstring("(void: it is for revision "+strings.TrimSuffix(two, "2")+"7")))
		Expect(admin().run(ctx, 0, "explain")).To(ContainSubstring("No: revision 1 goes on: revision " + two + " would uninstall"))
		v := until(ctx, "nothing to be listed", listed(1))
		Expect(v.Revisions()[0].Components).To(HaveLen(2))

		consentToUninstall(ctx, two)
		v = until(ctx, "a revision without components", harness.Settled(2), g.isAvailable)
		Expect(v.Revisions()[0].Components).To(BeEmpty())
		left := &corev1.ConfigMapList{}
		Expect(env.Client.List(ctx, left, client.HasLabels{harness.ManagedByLabel})).To(Succeed())
		Expect(left.Items).To(BeEmpty())

		By("installing again, and emptying the list again")
		release(ctx, newProvider("alpha"), small("two"))
		until(ctx, "everything to be back", harness.Settled(3), fine, g.isAvailable)
		Expect(uids(ctx, definition, precious)).To(Equal(kept))
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		until(ctx, "consent to be asked for anew", listed(1), told(revisionController, nonRetryable, uninstallCommand, askedToUninstall(ctx, 4)))
		uids(ctx, newProvider("alpha").find("Deployment", "alpha"))
	})

	It("is followed after a command that shows first what goes, in the name of who asks, unless that is taken back", func(ctx SpecContext) {
		g := installSmall(ctx, newProvider("alpha"))
		deployment := newProvider("alpha").find("Deployment", "alpha")
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		two := askedToUninstall(ctx, 2)
		since := mark(ctx)
		Expect(annotated(ctx, uninstallAnnotation, uninstallBy("chief", two))).To(MatchError(ContainSubstring("is not an act of " + me(ctx))))
		Expect(annotated(ctx, uninstallAnnotation, two)).To(MatchError(ContainSubstring("is not an act of " + me(ctx))))

		By("taking a consent back before any operator has seen it")
		Expect(g.operator.Stop()).To(Succeed())
		consentToUninstall(ctx, two)
		annotateAway(ctx, uninstallAnnotation)
		g.restart()
		g.survives(ctx, revisionController, nonRetryable, uninstallCommand)
		until(ctx, "nothing to be listed", listed(1))
		uids(ctx, deployment)
		Expect(deletionsOf(ctx, since)).To(BeEmpty())

		By("consenting by the command")
		consent := []string{"consent", "--uninstall", "--reason", "it moves elsewhere"}
		Expect(admin().run(ctx, codeFailed, append(consent, "--yes")...)).To(ContainSubstring("--digest is missing"))
		Expect(admin().run(ctx, codeFailed, append(consent, "--yes", "--digest", strings.Repeat("0", 64))...)).To(ContainSubstring("what would be removed has changed, and nothing was written"))
		Expect(admin().run(ctx, 0, append(consent, "--dry-run")...)).To(And(ContainSubstring("Let revision "+two+" end what runs"), ContainSubstring("Deployment.apps openshift-cluster-api/alpha"), ContainSubstring("Nothing was changed.")))
		told := struct {
			Done, Confirmed bool
			Digest          string
			Uninstall       struct{ Revision string }
		}{}
		Expect(json.Unmarshal([]byte(admin().run(ctx, 0, append(consent, "--dry-run", "-o", "json")...)), &told)).To(Succeed())
		Expect(told.Uninstall.Revision).To(Equal(two))
		Expect(deletionsOf(ctx, since)).To(BeEmpty())
		Expect(json.Unmarshal([]byte(admin().run(ctx, 0, append(consent, "--yes", "--digest", told.Digest, "-o", "json")...)), &told)).To(Succeed())
		Expect(told.Done && told.Confirmed).To(BeTrue())
		installed(ctx, 2)
		expectGone(ctx, deployment)
		Expect(deletionsOf(ctx, since)).To(ContainElement("deployments.apps openshift-cluster-api/alpha"))
		eventually(ctx, "the history to have it", func(ctx context.Context) error {
			return contains(admin().run(ctx, 0, "history", "2"), "Consents used", "consent-to-uninstall of revision "+two+", by an-administrator: it moves elsewhere")
		})
		Expect(admin().run(ctx, 0, "status")).To(ContainSubstring("it moves elsewhere (used)"))
	})

	It("does not stop a rollout, and asks about a first installation that is stuck as well", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		free := hold(ctx, "one")
		operate(harness.OperatorOptions{SteeredClock: true})
		soon(ctx, "the first installation to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		consentToUninstall(ctx, askedToUninstall(ctx, 2))
		v := installed(ctx, 2)
		Expect(v.Revisions()[0].Components).To(BeEmpty())
		free()

		release(ctx, newProvider("alpha").running("three"))
		installed(ctx, 3)
		free = hold(ctx, "four")
		release(ctx, newProvider("alpha").running("four"))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		until(ctx, "the error to be told beside the rollout", says(installerController+"Progressing", "True", "Progressing", "waits for Deployment openshift-cluster-api/alpha"),
			says(revisionController+"Degraded", "True", nonRetryable, uninstallCommand))
		askedToUninstall(ctx, 5)
		free()
		until(ctx, "the rollout to be finished", func(v harness.View) error { return current(v, 4) })
	})
})

var _ = Describe("A component that loses all of its workloads and stays listed", func() {
	It("keeps them until the administrator consents", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		deployment := newProvider("alpha").find("Deployment", "alpha")
		release(ctx, emptyProvider("alpha").with(configMap("alpha", "two")))
		until(ctx, "consent to be asked for", listed(1), told(revisionController, nonRetryable,
			"component alpha", "Deployment openshift-cluster-api/alpha"))
		uids(ctx, deployment)
		consentToUninstall(ctx, askedToUninstall(ctx, 2))
		installed(ctx, 2)
		expectGone(ctx, deployment)
	})

	It("keeps them also when the process is new and nothing tells that they were current", func(ctx SpecContext) {
		g := installSmall(ctx, newProvider("alpha"))
		deployment := newProvider("alpha").find("Deployment", "alpha")
		Expect(g.operator.Stop()).To(Succeed())
		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) { s.CurrentRevision = "" })
		Expect(env.SetImages(ctx, map[string]string{})).To(Succeed())
		g.restart()
		askedToUninstall(ctx, 2)
		until(ctx, "the revision to be current again, and nothing to be listed", listed(1), func(v harness.View) error { return current(v, 1) })
		uids(ctx, deployment)
	})

	It("keeps them also when the process is new and its image is lost", func(ctx SpecContext) {
		g := installSmall(ctx, newProvider("alpha"))
		deployment := newProvider("alpha").find("Deployment", "alpha")
		Expect(g.operator.Stop()).To(Succeed())
		Expect(os.RemoveAll(g.cache)).To(Succeed())
		lose(push(ctx, newProvider("alpha"))["alpha"])
		release(ctx, emptyProvider("alpha").with(configMap("alpha", "two")), small("one"))
		g.restart()
		askedToUninstall(ctx, 2)
		until(ctx, "nothing to be listed", listed(1), says(revisionController+"Degraded", "True", nonRetryable, "component alpha", "Deployment openshift-cluster-api/alpha"))
		uids(ctx, deployment)
	})

	It("keeps them when its image was built without its folder", func(ctx SpecContext) {
		g := installSmall(ctx, newProvider("alpha"))
		next := push(ctx, small("one"))
		next["alpha"] = pushFiles(ctx, "alpha", map[string][]byte{"/README": []byte("no folder")})
		Expect(env.SetImages(ctx, next)).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, "component alpha, while image", "has no folder /capi-operator-manifests", "rebuild or mount the one that lacks its folder")
		until(ctx, "nothing to be listed", listed(1))
		uids(ctx, newProvider("alpha").find("Deployment", "alpha"))
	})

	DescribeTable("is told apart from one that",
		func(ctx SpecContext, next func() []*provider) {
			begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), newProvider("beta"))})
			operate(harness.OperatorOptions{})
			installed(ctx, 1)
			release(ctx, next()...)
			installed(ctx, 2)
		},
		Entry("leaves the list", func() []*provider { return []*provider{newProvider("beta")} }),
		Entry("has another workload instead", func() []*provider {
			return []*provider{newProvider("beta"), without(newProvider("alpha"), "Deployment").with(renamed(newProvider("alpha").find("Deployment", "alpha"), "omega"))}
		}),
		Entry("has handed its workload to another component", func() []*provider {
			next := newProvider("beta").with(newProvider("alpha").find("Deployment", "alpha"))
			next.set("Deployment", "alpha", "beta", "spec", "template", "spec", "serviceAccountName")
			return []*provider{without(newProvider("alpha"), "Deployment"), next}
		}),
	)
})

var consentAsked = regexp.MustCompile(`revision (\S+-[0-9a-f]{8}-(\d+)) would uninstall .*; if it is to go, consent: ` + regexp.QuoteMeta(uninstallCommand) + `$`)

// askedToUninstall waits until a message asks for consent to uninstall by a revision of this number, and is its name.
func askedToUninstall(ctx context.Context, number int) (name string) {
	GinkgoHelper()
	until(ctx, "consent to be asked for", func(v harness.View) error {
		found := consentAsked.FindStringSubmatch(v.Condition(revisionController + "Degraded").Message)
		if len(found) == 0 || found[2] != strconv.Itoa(number) {
			return fmt.Errorf("it asks for %q, want revision %d", found, number)
		}
		name = found[1]
		return nil
	})
	return name
}

// without takes the objects of a kind away.
func without(p *provider, kind string) *provider {
	var rest []*unstructured.Unstructured
	for _, o := range p.objects {
		if o.GetKind() != kind {
			rest = append(rest, o)
		}
	}
	p.objects = rest
	return p
}

func renamed(o *unstructured.Unstructured, name string) *unstructured.Unstructured {
	o.SetName(name)
	return o
}
