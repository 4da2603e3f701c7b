package clusterapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// rolledBack is what capstan rollback -o json tells.
type rolledBack struct {
	Revision        int64
	Done, Confirmed bool
	Undo            string
	Uncontrolled    []string
	Plan            planned
}

// rollback runs capstan rollback as the administrator.
func rollback(ctx context.Context, code int, args ...string) rolledBack {
	GinkgoHelper()
	var told rolledBack
	text := admin().run(ctx, code, withCache(append([]string{"rollback", "--reason", "it does not work", "-o", "json"}, args...))...)
	Expect(json.Unmarshal([]byte(text), &told)).To(Succeed(), text)
	return told
}

// core is the image of the core provider of a release.
func core(ctx context.Context, of string) map[string]string {
	GinkgoHelper()
	all, err := env.Push(ctx, of)
	Expect(err).NotTo(HaveOccurred())
	only := map[string]string{}
	for name, reference := range all {
		if strings.Contains(reference, "core") || strings.Contains(name, "core") {
			only[name] = reference
		}
	}
	Expect(only).To(HaveLen(1))
	return only
}

// imageOf is the image of the newest revision, which has one component.
func imageOf(v harness.View) string {
	GinkgoHelper()
	newest := v.Revisions()[len(v.Revisions())-1]
	Expect(newest.Components).To(HaveLen(1))
	return string(newest.Components[0].Image.Ref)
}

func only(images map[string]string) string {
	for _, reference := range images {
		return reference
	}
	return ""
}

var _ = Describe("A rollback", func() {
	It("goes to and fro between two real releases of core, while the list is written again and the operator killed", Label("slow"), func(ctx SpecContext) {
		one, two := core(ctx, providers.ReleaseOne), core(ctx, providers.ReleaseTwo)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: one})
		operator := operate(harness.OperatorOptions{Release: "4.22.0"})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		Expect(env.SetImages(ctx, two)).To(Succeed())
		operator = operate(harness.OperatorOptions{Release: "4.22.1"})
		installed(ctx, 2)
		until(ctx, "the new release to be reported", finished, reports("4.22.1"))

		tried := rollback(ctx, 0, "--dry-run")
		Expect(tried.Revision).To(Equal(int64(1)))
		Expect(tried.Done).To(BeFalse())
		Expect(tried.Plan.stops()).To(BeEmpty())
		Expect(tried.Plan.To.Name).To(HavePrefix("4.22.0-"))
		Expect(tried.Plan.of("Deployment", "capi-controller-manager").Verdict).To(Equal("change"))

		back := rollback(ctx, 0, "--yes")
		Expect(back.Done && back.Confirmed).To(BeTrue())
		Expect(back.Undo).To(Equal("capstan unpin"))
		operator.Kill()
		Expect(env.SetImages(ctx, two)).To(Succeed()) // as the cluster-version operator does
		operate(harness.OperatorOptions{Release: "4.22.1"})
		v := installed(ctx, 3)
		Expect(imageOf(v)).To(Equal(only(one)))
		Expect(v.Current()).To(HavePrefix("4.22.0-"))
		Expect(env.SetImages(ctx, two)).To(Succeed())
		until(ctx, "it to stay so", harness.Settled(3), reports("4.22.1"),
			says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1 by an-administrator", "until the list of images changes"))

		By("going forth again, to the last installed one before")
		forth := rollback(ctx, 0, "--yes")
		Expect(forth.Revision).To(Equal(int64(2)))
		v = installed(ctx, 4)
		Expect(imageOf(v)).To(Equal(only(two)))
		all := remembered(ctx, func(all []pastRevision) error {
			if len(all) != 4 || all[3].Result != "Installed" {
				return fmt.Errorf("it is %+v", all)
			}
			return nil
		})
		Expect(all[2].Cause).To(HavePrefix("pin to revision 1 by an-administrator"))
		Expect(all[3].Cause).To(HavePrefix("pin to revision 2 by an-administrator"))

		By("ending it by another list")
		Expect(env.SetImages(ctx, one)).To(Succeed())
		v = installed(ctx, 5)
		Expect(v.Current()).To(HavePrefix("4.22.1-"))
		until(ctx, "upgrades to be allowed again", says("Upgradeable", "True", "AsExpected"))
	})

	DescribeTable("is refused before anything is written,", func(ctx SpecContext, one, two func() *provider, why string) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, one())})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		release(ctx, two())
		installed(ctx, 2)
		mine := custom("alpha", "mine")
		Expect(env.Client.Create(ctx, mine, administrator)).To(Succeed())
		remembered(ctx, func(all []pastRevision) error {
			if len(all) != 2 || all[1].Result != "Installed" {
				return fmt.Errorf("it is %+v", all)
			}
			return nil
		})

		since := mark(ctx)
		refused := rollback(ctx, codeStops, "1", "--yes")
		Expect(refused.Done).To(BeFalse())
		Expect(refused.Plan.stops()).To(ContainElement("refuse"))
		Expect(admin().run(ctx, codeStops, withCache([]string{"rollback", "--reason", "r"})...)).To(And(ContainSubstring(why), ContainSubstring("Refused: nothing was written.")))
		lookedOnly(ctx, since)
		v := until(ctx, "nothing to have happened", harness.Settled(2))
		Expect(v.ClusterAPI.Annotations).NotTo(HaveKey(pinAnnotation))

		By("asking by hand, which the operator refuses, also later with the cause gone")
		pinTo(ctx, 1, env.Now(), "", "list: "+listPrint(ctx))
		until(ctx, "it to be told", inState(harness.Installed), says("InstallerControllerProgressing", "False", "AsExpected", "it is not taken up", why))
		Expect(operator.Advance(11 * time.Minute)).To(Succeed())
		until(ctx, "it to be void", says("InstallerControllerProgressing", "False", "AsExpected", "it was not taken up within 10m0s"))
		operator.Kill()
		Expect(env.Client.Delete(ctx, mine)).To(Succeed())
		operate(harness.OperatorOptions{SteeredClock: true})
		Expect(env.Client.Delete(ctx, configMap("alpha", ""))).To(Succeed())
		appears(ctx, configMap("alpha", ""))
		v = until(ctx, "nothing to have happened", harness.Settled(2), says("InstallerControllerProgressing", "False", "AsExpected", "it was not taken up within 10m0s"))
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-2"))
	},
		Entry("if it would drop a stored version", func() *provider { return newProvider("alpha") }, func() *provider { return storing(newProvider("alpha"), "v2") }, "would drop version v2"),
		Entry("if it would narrow a schema that an object uses", func() *provider { return narrowed(newProvider("alpha")) }, func() *provider { return newProvider("alpha") }, "would take spec.* of version v1 from 1 instance"),
	)

	It("is refused when images were mounted that are not any more", func(ctx SpecContext) {
		const registry = "registry.example/provider@sha256:"
		one, two := registry+strings.Repeat("1", 64), registry+strings.Repeat("2", 64)
		dir := GinkgoT().TempDir()
		g := installMounted(ctx, (&pod{dir: dir}).mount("one", one, small("one").files()), one)
		Expect(g.operator.Stop()).To(Succeed())
		Expect(env.SetImages(ctx, map[string]string{"small": two})).To(Succeed())
		g.operator = (&pod{dir: dir}).mount("two", two, small("two").files()).operate(ctx, "capstan-2", GinkgoT().TempDir())
		g.isReplaced(ctx, "two")
		Expect(admin().run(ctx, codeStops, withCache([]string{"rollback", "1", "--reason", "r", "--yes"})...)).To(And(
			ContainSubstring("registry.example/provider@sha256:1111"), ContainSubstring("Refused: nothing was written.")))
		until(ctx, "nothing to have happened", harness.Settled(2))
	})

	It("names what stays without its controller, and a consent of its first round does not count in the second", func(ctx SpecContext) {
		alpha, gamma := newProvider("alpha"), newProvider("gamma").at(30)
		definition := gamma.objects[0]
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		release(ctx, alpha, gamma)
		installed(ctx, 2)
		mine := custom("gamma", "mine")
		mine.SetFinalizers([]string{"test.cluster.x-k8s.io/hold"})
		Expect(env.Client.Create(ctx, mine, administrator)).To(Succeed())
		back := rollback(ctx, 0, "1", "--yes")
		Expect(back.Uncontrolled).To(ConsistOf(And(ContainSubstring(definition.GetName()), ContainSubstring("1 instance"), ContainSubstring("of which 1 have finalizers"))))
		installed(ctx, 3)
		uids(ctx, definition, mine)
		patch(ctx, mine, `{"metadata":{"finalizers":null}}`)
		annotate(ctx, consentAnnotation, consentTo(ctx, 3, definition, mine))
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, definition) })
		until(ctx, "the conditions of it", inState(harness.Installed), says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1"))

		Expect(admin().run(ctx, 0, "unpin", "--yes")).To(And(ContainSubstring("What the list of images says is installed then."), ContainSubstring("capstan rollback 1 --reason")))
		installed(ctx, 4)
		Expect(env.Client.Create(ctx, custom("gamma", "again"), administrator)).To(Succeed())
		rollback(ctx, 0, "1", "--yes")
		installed(ctx, 5)
		until(ctx, "the message to ask for another consent", says("Upgradeable", "False", "WaitingOnExternal", definition.GetName(), "the consent that is given is void: it is for revision 3, and the newest is 5"))
		uids(ctx, definition, custom("gamma", "again"))
	})
})

// listPrint is the fingerprint of the list of images by which a rollback names it.
func listPrint(ctx context.Context) string {
	GinkgoHelper()
	list := &corev1.ConfigMap{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capi-installer-images"}, list)).To(Succeed())
	text, err := json.Marshal([]any{list.Data, list.Annotations["release.openshift.io/version"]})
	Expect(err).NotTo(HaveOccurred())
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// reports is the question whether this is the version that is reported.
func reports(version string) func(harness.View) error {
	return func(v harness.View) error {
		if versions := v.ClusterOperator.Status.Versions; len(versions) != 1 || versions[0].Version != version {
			return fmt.Errorf("the versions are %v", versions)
		}
		return nil
	}
}

// storing adds a version to a provider's definition, which is the one that is stored from then on.
func storing(p *provider, version string) *provider {
	GinkgoHelper()
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	return p.set("CustomResourceDefinition", p.name+"s.test.cluster.x-k8s.io", []any{
		map[string]any{"name": "v1", "served": true, "storage": false, "schema": schema},
		map[string]any{"name": version, "served": true, "storage": true, "schema": schema},
	}, "spec", "versions")
}
