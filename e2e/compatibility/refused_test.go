package compatibility_test

import (
	"context"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// holds gives a requirement other data.
func holds(data string) ask {
	return func(r *requirement) { r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = data }
}

// edits changes a requirement's data.
func edits(old, now string) ask {
	return func(r *requirement) {
		GinkgoHelper()
		data := r.Spec.CompatibilitySchema.CustomResourceDefinition.Data
		Expect(data).To(ContainSubstring(old))
		holds(strings.Replace(data, old, now, 1))(r)
	}
}

// ruled has a rule put at the field size.
func ruled(expression string) ask {
	return func(r *requirement) {
		maximum := regexp.MustCompile(`\n( *)maximum: 9`)
		holds(maximum.ReplaceAllString(r.Spec.CompatibilitySchema.CustomResourceDefinition.Data, "$0\n${1}x-kubernetes-validations: [{rule: "+expression+"}]"))(r)
	}
}

var _ = Describe("A requirement that cannot be used", func() {
	const (
		data      = "spec.compatibilitySchema.customResourceDefinition.data"
		selection = "spec.compatibilitySchema."
		block     = "spec.objectSchemaValidation."
	)
	condition := func(name, expression string) ask {
		return func(r *requirement) {
			r.Spec.ObjectSchemaValidation.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: name, Expression: expression}}
		}
	}
	DescribeTable("is refused, with the field", func(ctx SpecContext, spoil ask, path, text string) {
		shared(ctx)
		k := newKind()
		err := env.Client.Create(ctx, k.requirement(k.definition(schema, version("v2", schema)), objects(deny), spoil), client.DryRunAll)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring(text))))
	},
		Entry("nothing in it", holds("{}"), data, "metadata.name"),
		Entry("no YAML", holds("a: ]"), data, "reading YAML"),
		Entry("two stored versions", edits("storage: false", "storage: true"), data, "2 have it"),
		Entry("a misspelt field", edits("scope: Namespaced", "scoop: Namespaced"), data, `unknown field "spec.scoop"`),
		Entry("two documents", func(r *requirement) {
			holds(r.Spec.CompatibilitySchema.CustomResourceDefinition.Data + "\n---\na: b\n")(r)
		}, data, "more than one document"),
		Entry("aliases without end", holds("a: &a ["+strings.Repeat("x, ", 999)+"x]\nb: &b ["+strings.Repeat("*a, ", 999)+"*a]\nc: ["+strings.Repeat("*b, ", 99)+"*b]\n"), data, "aliases stand for more than"),
		Entry("maps inside each other without end", holds(strings.Repeat("{a: ", 201)+"b"+strings.Repeat("}", 201)), data, "more than 200 maps and lists are inside each other"),
		Entry("more values than can be read", holds("a: ["+strings.Repeat("b,", 500_001)+"b]"), data, "and may have 500000"),
		Entry("bad CEL in the schema", ruled("self.b"), data, "x-kubernetes-validations"),
		Entry("an expression that stands for more than it says", ruled(`"'a'.matches('`+strings.Repeat("[ab]{1000}", 600)+`')"`), data, "instructions"),
		Entry("a name without end", holds(`{"`+strings.Repeat("x", 100_000)+`": {"a": "b"}}`), data, "the name has 100000 bytes, and may have 1024"),
		Entry("an exclusion through a map", excludes("spec.tags.text", "v1"), selection+"excludedFields[0].path", "is a map"),
		Entry("an exclusion of no field", excludes("spec.none", "v1"), selection+"excludedFields[0].path", "there is no field"),
		Entry("an exclusion in a version that is not selected", excludes("spec.lid", "v2"), selection+"excludedFields[0].versions[0]", "is not selected"),
		Entry("a version that there is not", also("v3"), selection+"requiredVersions.additionalVersions[0]", "v3"),
		Entry("additional versions beside all", func(r *requirement) { allServed(r); also("v2")(r) }, selection+"requiredVersions", "additionalVersions"),
		Entry("a bad selector", func(r *requirement) {
			r.Spec.ObjectSchemaValidation.ObjectSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
		}, block+"objectSelector.matchExpressions[0].operator", "Like"),
		Entry("a bad selector of namespaces", func(r *requirement) {
			r.Spec.ObjectSchemaValidation.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}
		}, block+"namespaceSelector.matchExpressions[0].values", "Required"),
		Entry("a bad condition", condition("a", "object."), block+"matchConditions[0].expression", ""),
		Entry("a condition that is no question", condition("a", "'x'"), block+"matchConditions[0].expression", "bool"),
		Entry("conditions that ask the authorizer too often", func(r *requirement) {
			costly(r)
			r.Spec.ObjectSchemaValidation.MatchConditions[7].Expression = r.Spec.ObjectSchemaValidation.MatchConditions[0].Expression
		}, block+"matchConditions", "ask the authorizer 8 times"),
		Entry("one that asks it too often", func(r *requirement) {
			costly(r)
			expression := r.Spec.ObjectSchemaValidation.MatchConditions[0].Expression
			condition("a", expression+" && "+expression+" && "+expression)(r)
		}, block+"matchConditions[0].expression", "ask the authorizer 3 times"),
	)

	It("is refused for what Capstan reports by, and for another definition than before", func(ctx SpecContext) {
		shared(ctx)
		for plural, group := range map[string]string{
			"clusteroperators": "config.openshift.io", "clusterapis": "operator.openshift.io", "compatibilityrequirements": "apiextensions.openshift.io",
			"leases": "coordination.k8s.io", "deployments": "apps",
		} {
			ours := kind{group}.definition(schema)
			ours.Name, ours.Spec.Names.Plural = plural+"."+group, plural
			err := env.Client.Create(ctx, kind{}.requirement(ours), client.DryRunAll)
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(And(ContainSubstring(data), ContainSubstring("no requirement may have"))))
		}
		k := newKind()
		r := inForce(ctx, k.requirement(k.definition(schema)))
		other := newKind()
		Expect(change(ctx, r, holds(other.requirement(other.definition(schema)).Spec.CompatibilitySchema.CustomResourceDefinition.Data))).
			To(MatchError(ContainSubstring("metadata.name: is " + other.name() + ", and was " + k.name())))
	})

	It("says so once it is there, loosens nothing, and recovers", func(ctx SpecContext) {
		shared(ctx)
		k, other := newKind(), newKind()
		k.establish(ctx, k.definition(schema))
		other.establish(ctx, other.definition(schema))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)))
		good := r.Spec.CompatibilitySchema.CustomResourceDefinition.Data
		before := configurationsOf(ctx, r)
		unchecked(ctx, r, holds("{}"), crds(""), objects(""))
		told(ctx, r, "State", "True", "Refused", data)
		told(ctx, r, "Progressing", "False", "ConfigurationError")
		Expect(r.Status.CRDName).To(Equal(k.name()))
		Expect(configurationsOf(ctx, r)).To(Equal(before))
		listed := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		Expect(read(ctx, "capstan-crds", listed)).To(BeTrue())
		Expect(listed.Webhooks).To(ContainElement(And(HaveField("Name", HavePrefix("deny-")), HaveField("MatchConditions", ContainElement(HaveField("Expression", ContainSubstring(k.name())))))))
		Expect(env.Client.Delete(ctx, k.definition(schema), client.DryRunAll)).To(refuses(r, "needs "+k.name()))
		Expect(k.write(ctx, env.Client, k.definition(without("color:")))).To(refuses(r, "cannot be judged"))
		Expect(env.Client.Create(ctx, k.box("a", "{size: 1}"))).To(refuses(r, "cannot be judged"))
		Expect(other.write(ctx, env.Client, other.definition(without("color:")))).To(Succeed())
		Expect(change(ctx, r, holds(good), crds(deny), objects(deny))).To(Succeed())
		told(ctx, r, "State", "True", "Met")
		Expect(k.write(ctx, env.Client, k.definition(without("color:")))).To(refuses(r, "v1: spec.color is missing"))

		By("rules that do not compile")
		unchecked(ctx, r, ruled("self.b"))
		told(ctx, r, "State", "True", "Refused", data, "self.b")
		Expect(k.write(ctx, env.Client, k.definition(without("color:")))).To(refuses(r, "v1: spec.color is missing"))
		Expect(change(ctx, r, holds(good))).To(Succeed())
		told(ctx, r, "State", "True", "Met")
	})
})

// unchecked changes a requirement while nobody is asked about it.
func unchecked(ctx context.Context, r *requirement, asks ...ask) {
	GinkgoHelper()
	eventually(ctx, "bad data to pass without the hook", func(ctx context.Context) error {
		hook := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "capstan-requirements"}}
		if err := client.IgnoreNotFound(env.Client.Delete(ctx, hook)); err != nil {
			return err
		}
		return change(ctx, r, asks...)
	})
}

// configurationsOf are the webhooks of a requirement's own configurations.
func configurationsOf(ctx context.Context, r *requirement) []any {
	GinkgoHelper()
	validates, prunes := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(r), validates)).To(Succeed())
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(r), prunes)).To(Succeed())
	return []any{validates.Webhooks, prunes.Webhooks}
}
