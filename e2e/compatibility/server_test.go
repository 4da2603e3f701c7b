package compatibility_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The checker of definitions", func() {
	DescribeTable("refuses under Deny that a field goes", func(ctx SpecContext, begins, path string) {
		c := served(ctx)
		established(ctx, schema)
		c.needs(ctx, "need", schema, deny, "")
		c.configureCRDs(ctx, "/crds/deny")
		err := c.update(ctx, without(begins))
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("CompatibilityRequirement need: v1: " + path + " is missing")))
	},
		Entry("at the top", "size:", "spec.size"),
		Entry("in an object, with all that is below it", "lid:", "spec.lid"),
		Entry("in a list, with the list", "slots:", "spec.slots"),
	)

	It("refuses what goes out of list items and map values", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, schema)
		c.needs(ctx, "need", schema, deny, "")
		c.configureCRDs(ctx, "/crds/deny")
		Expect(c.update(ctx, strings.Replace(schema, "{label: {type: string}}", "{name: {type: string}}", 1))).
			To(MatchError(ContainSubstring("v1: spec.slots[*].label is missing")))
		Expect(c.update(ctx, strings.Replace(schema, "{text: {type: string}}", "{name: {type: string}}", 1))).
			To(MatchError(ContainSubstring("v1: spec.tags{*}.text is missing")))
		Expect(c.update(ctx, strings.Replace(schema, "{hinge: {type: string}}", "{name: {type: string}}", 1))).
			To(MatchError(ContainSubstring("v1: spec.lid.hinge is missing")))
	})

	It("warns under Warn and where a requirement is open, and says nothing without a block", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, schema)
		r := c.needs(ctx, "need", schema, warn, "")
		c.configureCRDs(ctx, "/crds/warn")
		Expect(c.update(ctx, without("color:"), client.DryRunAll)).To(Succeed())
		Expect(c.warned()).To(ConsistOf("CompatibilityRequirement need: v1: spec.color is missing"))
		Expect(env.Client.Delete(ctx, r)).To(Succeed())
		opens(ctx, c.needs(ctx, "open", schema, deny, ""))
		c.needs(ctx, "silent", schema, "", "")
		eventually(ctx, "what is open to be warned of alone", func(ctx context.Context) error {
			if err := c.update(ctx, without("color:"), client.DryRunAll); err != nil {
				return err
			}
			return unless(strings.Join(c.warned(), "\n") == "CompatibilityRequirement open: v1: spec.color is missing", "it is not")
		})
	})

	It("lets stay what was missing before, and refuses a further break even with a mend", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, without("color:"))
		c.needs(ctx, "need", schema, deny, "")
		c.configureCRDs(ctx, "/crds/deny")
		live := &definition{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: boxes.name()}, live)).To(Succeed())
		live.Labels = map[string]string{"a": "b"}
		Expect(c.client.Update(ctx, live)).To(Succeed())
		Expect(c.update(ctx, without("color:"))).To(Succeed())
		Expect(c.update(ctx, without("lid:"))).To(MatchError(ContainSubstring("spec.lid is missing")))
		c.warned()
		Expect(c.update(ctx, schema)).To(Succeed())
		Expect(c.warned()).To(BeEmpty())
		Expect(c.update(ctx, without("color:"))).To(MatchError(ContainSubstring("spec.color is missing")))
	})

	It("refuses a deletion by action, and lets it through once requirements are gone", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, schema)
		r, other := c.needs(ctx, "need", schema, deny, ""), c.needs(ctx, "warns", schema, warn, "")
		c.configureCRDs(ctx, "/crds/deny")
		Expect(c.client.Delete(ctx, boxes.definition(schema))).To(MatchError(ContainSubstring("CompatibilityRequirement need: needs " + boxes.name())))
		Expect(c.client.DeleteAllOf(ctx, boxes.definition(schema), client.MatchingFields{"metadata.name": boxes.name()})).
			To(MatchError(ContainSubstring("CompatibilityRequirement need: needs " + boxes.name())))
		c.warned()
		Expect(env.Client.Delete(ctx, r)).To(Succeed())
		Expect(c.client.Delete(ctx, boxes.definition(schema), client.DryRunAll)).To(Succeed())
		Expect(c.warned()).To(ConsistOf(ContainSubstring("CompatibilityRequirement warns: needs " + boxes.name())))
		Expect(env.Client.Delete(ctx, other)).To(Succeed())
		Expect(c.client.Delete(ctx, boxes.definition(schema))).To(Succeed())
		Expect(c.warned()).To(BeEmpty())
	})

	It("knows a requirement from the moment on at which it is written, and no older generation", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, schema)
		r := c.needs(ctx, "need", schema, deny, "")
		c.configureCRDs(ctx, "/crds/deny")
		for range 20 {
			Expect(c.update(ctx, without("color:"))).NotTo(Succeed())
			Expect(env.Client.Delete(ctx, r)).To(Succeed())
			Expect(c.update(ctx, without("color:"), client.DryRunAll)).To(Succeed())
			r = c.needs(ctx, "need", schema, deny, "")
		}
	})
})

var _ = Describe("The checker of requirements", func() {
	It("refuses one that cannot be judged, with the field", func(ctx SpecContext) {
		c := served(ctx)
		c.configureRequirements(ctx)
		bad := &requirement{}
		bad.Name = "bad"
		bad.Spec.CompatibilitySchema.CustomResourceDefinition.Type, bad.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "YAML", "{}"
		bad.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = "StorageOnly"
		bad.Spec.CustomResourceDefinitionSchemaValidation.Action = deny
		eventually(ctx, "it to be refused", func(ctx context.Context) error {
			err := env.Client.Create(ctx, bad.DeepCopy(), client.DryRunAll)
			if err == nil {
				return errors.New("it passes")
			}
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring("spec.compatibilitySchema.customResourceDefinition.data")))
			return nil
		})
	})
})

var _ = Describe("The checker of objects", func() {
	// needed is what the requirement knows, and live what the definition does: it allows more, and requires less.
	live := strings.NewReplacer("required: [size]", "required: [color]", "maximum: 9", "maximum: 99", "enum: [red, blue]", "enum: [red, green]").Replace(schema)
	live = strings.Replace(live, "  status:\n    type: object\n    properties:\n", "      extra: {type: string}\n  status:\n    type: object\n    properties:\n      more: {type: string}\n", 1)

	It("answers 422 under Deny for what the requirement refuses, and leaves the rest to the definition", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, live)
		c.needs(ctx, "need", schema, "", deny)
		refused := func(err error, path string) {
			GinkgoHelper()
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			var status apierrors.APIStatus
			Expect(errors.As(err, &status)).To(BeTrue())
			Expect(status.Status().Details.Causes).To(ContainElement(HaveField("Field", path)), "%v", err)
		}
		refused(c.client.Create(ctx, box("a", "{color: red}")), "spec.size")
		refused(c.client.Create(ctx, box("a", "{color: red, size: 10}")), "spec.size")
		refused(c.client.Create(ctx, box("a", "{color: green, size: 1}")), "spec.color")
		err := c.client.Create(ctx, box("a", "{size: 1}"))
		refused(err, "spec.color")
		Expect(err).NotTo(MatchError(ContainSubstring("CompatibilityRequirement")), "the definition refuses")
		good := box("a", "{color: red, size: 1}")
		Expect(c.client.Create(ctx, good)).To(Succeed())
		good.Object["status"] = map[string]any{"weight": int64(10)}
		refused(c.client.Status().Update(ctx, good), "status.weight")
		good.Object["status"] = map[string]any{"weight": int64(9)}
		Expect(c.client.Status().Update(ctx, good)).To(Succeed())
		Expect(c.warned()).To(BeEmpty())
	})

	It("warns of the same under Warn", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, live)
		c.needs(ctx, "need", schema, "", warn)
		made := box("a", "{color: green, size: 10, extra: x}")
		Expect(c.client.Create(ctx, made)).To(Succeed())
		Expect(c.warned()).To(ConsistOf(
			ContainSubstring("CompatibilityRequirement need: spec.size: "), ContainSubstring("CompatibilityRequirement need: spec.color: "),
			And(ContainSubstring("CompatibilityRequirement need: "), ContainSubstring("extra"), ContainSubstring("is kept")),
		))
		Expect(field(made, "spec", "extra")).To(Equal("x"))
		made.Object["status"] = map[string]any{"weight": int64(10), "more": "x"}
		Expect(c.client.Status().Update(ctx, made)).To(Succeed())
		Expect(c.warned()).To(ConsistOf(ContainSubstring("status.weight"), ContainSubstring("more")))
		Expect(field(made, "status", "more")).To(Equal("x"))
	})

	It("prunes under Deny what the requirement does not know, and leaves what is stored", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, live)
		before := box("before", "{color: red, size: 1, extra: x}")
		Expect(env.Client.Create(ctx, before)).To(Succeed())
		c.needs(ctx, "need", schema, "", deny)
		pruned := And(ContainSubstring("CompatibilityRequirement need: "), ContainSubstring("is pruned"))
		made := box("a", "{color: red, size: 1, extra: x}")
		Expect(c.client.Create(ctx, made)).To(Succeed())
		Expect(c.warned()).To(ConsistOf(And(pruned, ContainSubstring("spec.extra"))))
		Expect(field(made, "spec", "extra")).To(BeNil())
		Expect(c.client.Patch(ctx, made, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"extra":"y"}}`)))).To(Succeed())
		Expect(c.warned()).To(ConsistOf(And(pruned, ContainSubstring("spec.extra"))))
		Expect(field(made, "spec", "extra")).To(BeNil())
		made.Object["status"] = map[string]any{"weight": int64(1), "more": "x"}
		Expect(c.client.Status().Update(ctx, made)).To(Succeed())
		Expect(c.warned()).To(ConsistOf(And(pruned, ContainSubstring("status.more"))))
		Expect(field(made, "status", "weight")).To(Equal(int64(1)))
		Expect(field(made, "status", "more")).To(BeNil())

		Expect(c.client.Patch(ctx, before, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))).To(Succeed())
		before.Object["status"] = map[string]any{"weight": int64(1)}
		Expect(c.client.Status().Update(ctx, before)).To(Succeed())
		Expect(field(before, "spec", "extra")).To(Equal("x"))
		Expect(c.warned()).To(BeEmpty())
	})
})

var _ = Describe("The checker's process", func() {
	It("says that it is not ready before it ends, and answers until then", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, schema)
		c.needs(ctx, "need", schema, deny, "")
		c.configureCRDs(ctx, "/crds/deny")
		Expect(c.Stop()).To(Succeed())
		Expect(c.Start("--drain=5s")).To(Succeed())
		eventually(ctx, "the webhooks to be ready", c.Ready)
		c.Terminate()
		eventually(ctx, "the webhooks to say that they end", func(ctx context.Context) error {
			return unless(c.Ready(ctx) != nil, "they are ready")
		})
		Expect(c.update(ctx, without("color:"))).To(MatchError(ContainSubstring("spec.color is missing")))
		Eventually(ctx, c.Exited()).WithTimeout(patience).Should(BeClosed())
		Expect(c.Failure()).To(Succeed())
	})

	It("serves with a certificate that is renewed", func(ctx SpecContext) {
		c := served(ctx)
		before, err := c.Serial(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Certify()).To(Succeed())
		Expect(c.Serial(ctx)).NotTo(Equal(before))
	})

	It("speaks as the cluster's TLS profile says, from the next connection on", func(ctx SpecContext) {
		c := served(ctx)
		Expect(c.Speaks(ctx, tls.VersionTLS12)).To(Succeed())
		Expect(c.Speaks(ctx, tls.VersionTLS11)).NotTo(Succeed())
		profile := &configv1.APIServer{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
		profile.Spec.TLSSecurityProfile = &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}}
		Expect(env.Client.Create(ctx, profile)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, profile)).To(Succeed()) })
		eventually(ctx, "an old version to be refused", func(ctx context.Context) error {
			return unless(c.Speaks(ctx, tls.VersionTLS12) != nil, "it speaks TLS 1.2")
		})
		Expect(c.Speaks(ctx, tls.VersionTLS13)).To(Succeed())
	})

	It("waits for the API of requirements without an end, and serves without", func(ctx SpecContext) {
		c := placed(ctx)
		serve(ctx, false)
		Expect(c.Start()).To(Succeed())
		eventually(ctx, "the webhooks to be ready", c.Ready)
		established(ctx, schema)
		Expect(env.Client.Create(ctx, c.hook("capstan-crds", "/crds/deny", rule("apiextensions.k8s.io", "v1", []string{"customresourcedefinitions"}, "UPDATE")))).To(Succeed())
		Expect(c.update(ctx, without("color:"), client.DryRunAll)).To(Succeed())
		serve(ctx, true)
		c.needs(ctx, "need", schema, deny, "")
		eventually(ctx, "a definition to be refused", func(ctx context.Context) error {
			return unless(c.update(ctx, without("color:"), client.DryRunAll) != nil, "it passes")
		})
	})
})

// serve has the API of requirements be there, or not, until the spec ends.
func serve(ctx context.Context, is bool) {
	GinkgoHelper()
	api := &definition{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: "compatibilityrequirements.apiextensions.openshift.io"}, api)).To(Succeed())
	if api.Spec.Versions[0].Served == is {
		return
	}
	api.Spec.Versions[0].Served = is
	Expect(env.Client.Update(ctx, api)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { serve(ctx, true) })
	eventually(ctx, "the API to be there, or not", func(ctx context.Context) error {
		err := env.Client.List(ctx, &requirementsv1alpha1.CompatibilityRequirementList{})
		return unless((err == nil) == is, "not yet")
	})
}
