package clusterapi_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// adoptAnnotation is the act that lets objects be adopted.
const adoptAnnotation = "capi-operator.openshift.io/adopt"

var _ = Describe("An object that is in the way", func() {
	It("is adopted by a command, for that revision, and shows first what would change", func(ctx SpecContext) {
		foreign := configMap("shared", "foreign")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(env.Client.Create(ctx, foreign.DeepCopy(), administrator)).To(Succeed())
		before := uids(ctx, foreign)
		release(ctx, newProvider("alpha").with(configMap("shared", "ours")))
		until(ctx, "the collision to be reported", inState(harness.Applying), says("Progressing", "True", "EphemeralError", "ConfigMap openshift-cluster-api/shared"))

		adopt := append([]string{"adopt", "--reason", "made by hand"}, words(foreign)...)
		Expect(admin().run(ctx, codeFailed, adopt...)).To(And(
			ContainSubstring("Let revision 2 adopt ConfigMap openshift-cluster-api/shared (UID "+string(fetched(ctx, foreign).GetUID())),
			ContainSubstring("field manager administrator"), ContainSubstring("~ .data.setting (held by administrator)"), ContainSubstring("nobody sits at a terminal")))
		Expect(admin().run(ctx, 0, append(adopt, "--dry-run")...)).To(ContainSubstring("Nothing was changed."))
		Expect(setting(ctx, foreign)).To(Equal("foreign"))
		bind(ctx, "capstan-operate", "operator")
		Expect(as("operator").run(ctx, codeFailed, append(adopt, "--yes")...)).To(ContainSubstring("takes the verb adopt"))
		bind(ctx, "capstan-admin", "chief")
		Expect(as("chief").run(ctx, 0, append(adopt, "--yes")...)).To(ContainSubstring("is not in the operator's way any more"))
		installed(ctx, 2)
		Expect(setting(ctx, foreign)).To(Equal("ours"))
		Expect(uids(ctx, foreign)).To(Equal(before))
		until(ctx, "who asked for it to be told", finished, func(harness.View) error {
			return announced(ctx, "ActStands", "adopt of ConfigMap openshift-cluster-api/shared by chief")
		})

		release(ctx, newProvider("alpha").with(configMap("shared", "next")))
		installed(ctx, 3)
		Expect(setting(ctx, foreign)).To(Equal("next"))
		Expect(uids(ctx, foreign)).To(Equal(before))
		Expect(fetched(ctx, foreign).GetAnnotations()).NotTo(HaveKey("capi-operator.openshift.io/adopt-existing"))
		until(ctx, "the end of the act to be told", finished, func(harness.View) error {
			return announced(ctx, "ActEnded", "adopt of ConfigMap openshift-cluster-api/shared by chief")
		})
		Expect(admin().run(ctx, codeFailed, append(adopt, "--yes")...)).To(ContainSubstring("the operator tells of no ConfigMap openshift-cluster-api/shared that is in its way"))
	})

	DescribeTable("is not adopted", func(ctx SpecContext, claimed func(context.Context, *unstructured.Unstructured), refused string) {
		foreign := configMap("shared", "foreign")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(configMap("shared", "ours")))})
		claimed(ctx, foreign)
		Expect(env.Client.Create(ctx, foreign.DeepCopy(), administrator)).To(Succeed())
		before := fetched(ctx, foreign)
		operate(harness.OperatorOptions{})
		until(ctx, "the collision to be reported", inState(harness.Applying), says("Progressing", "True", "EphemeralError", "ConfigMap openshift-cluster-api/shared"))
		if refused != "" {
			Expect(admin().run(ctx, codeFailed, append([]string{"adopt", "--reason", "r", "--yes"}, words(foreign)...)...)).To(And(
				ContainSubstring("ConfigMap openshift-cluster-api/shared cannot be adopted"), ContainSubstring(refused)))
		}
		uid := before.GetUID()
		if refused == "" {
			uid = types.UID("another-one")
		}
		letAdopt(ctx, 1, words(foreign)[0], uid)
		until(ctx, "the act to be told", inState(harness.Applying), func(harness.View) error {
			return announced(ctx, "ActStands", "adopt of ConfigMap openshift-cluster-api/shared")
		})
		patch(ctx, newProvider("alpha").find("ServiceAccount", "alpha"), `{"metadata":{"labels":{"`+harness.ManagedByLabel+`":"me"}}}`)
		eventually(ctx, "drift of what is ours to be put right", func(ctx context.Context) error {
			return has(ctx, newProvider("alpha").find("ServiceAccount", "alpha"), "alpha", "metadata", "labels", harness.ManagedByLabel)
		})
		Expect(fetched(ctx, foreign)).To(Equal(before))
	},
		Entry("from its controller", func(ctx context.Context, o *unstructured.Unstructured) {
			owner, yes := fetched(ctx, object("{apiVersion: v1, kind: Namespace, metadata: {name: openshift-cluster-api}}")), true
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: owner.GetName(), UID: owner.GetUID(), Controller: &yes}})
		}, "it belongs to its controller Namespace openshift-cluster-api: have that let go of it"),
		Entry("from another installation", func(_ context.Context, o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{"capi-operator.openshift.io/owner": "Other/cluster"})
		}, `it belongs to the installation "Other/cluster": have that let go of it`),
		Entry("if it is another one than the act names", func(context.Context, *unstructured.Unstructured) {}, ""),
	)

	It("is not adopted if it is a definition, and the way out is named", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		definition := alpha.objects[0].DeepCopy()
		Expect(env.Client.Create(ctx, definition.DeepCopy(), administrator)).To(Succeed())
		operate(harness.OperatorOptions{})
		until(ctx, "the collision to be reported", inState(harness.Applying), says("Progressing", "True", "EphemeralError", definition.GetName()))
		before := fetched(ctx, definition)
		Expect(admin().run(ctx, codeFailed, append([]string{"adopt", "--reason", "r", "--yes"}, words(definition)...)...)).To(
			ContainSubstring("list it in spec.unmanagedCustomResourceDefinitions of ClusterAPI cluster"))
		letAdopt(ctx, 1, words(definition)[0], before.GetUID())
		until(ctx, "the act to be told as void", func(harness.View) error {
			return announced(ctx, "ActVoid", "is not adopted: a definition of somebody else")
		})
		Expect(fetched(ctx, definition)).To(Equal(before))
	})
})

// letAdopt writes the act that lets a revision adopt an object, past the command.
func letAdopt(ctx context.Context, revision int64, word string, uid types.UID) {
	GinkgoHelper()
	annotate(ctx, adoptAnnotation, fmt.Sprintf("by: %s\nat: %s\nreason: r\nrevision: %d\nobject: %s %s",
		me(ctx), time.Now().UTC().Format(time.RFC3339), revision, strings.Replace(word, "/", " ", 1), uid))
}
