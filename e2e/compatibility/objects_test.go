package compatibility_test

import (
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// laxer is a live definition that allows more fields and values than the schema that a requirement has, and requires another
// field.
var laxer = strings.NewReplacer(
	"required: [size]", "required: [color]", "maximum: 9", "maximum: 99", "enum: [red, blue]", "enum: [red, green]",
	"      lid:", "      extra: {type: string}\n      lid:", "      weight:", "      more: {type: string}\n      weight:",
).Replace(schema)

// refusedAt expects an error of validation that names a field, by the checker or by the definition.
func refusedAt(err error, path string, byChecker bool) {
	GinkgoHelper()
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
	var status apierrors.APIStatus
	Expect(errors.As(err, &status)).To(BeTrue())
	Expect(status.Status().Details.Causes).To(ContainElement(HaveField("Field", path)), "%v", err)
	Expect(strings.Contains(err.Error(), "CompatibilityRequirement")).To(Equal(byChecker), "%v", err)
}

var _ = Describe("Objects of a requirement in force", func() {
	It("are refused under Deny for what its user could not read, and by their definition as before", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer))
		inForce(ctx, k.requirement(k.definition(schema), objects(deny)))
		refusedAt(a.Create(ctx, k.box("a", "{color: red}")), "spec.size", true)
		refusedAt(a.Create(ctx, k.box("a", "{color: green, size: 1}")), "spec.color", true)
		refusedAt(a.Create(ctx, k.box("a", "{color: red, size: 10}")), "spec.size", true)
		refusedAt(a.Create(ctx, k.box("a", "{size: 1}")), "spec.color", false)
		box := k.box("a", "{color: red, size: 1}")
		Expect(a.Create(ctx, box)).To(Succeed())
		patch := func(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }
		refusedAt(a.Patch(ctx, box.DeepCopy(), patch(`{"spec":{"size":10}}`)), "spec.size", true)
		refusedAt(a.Status().Patch(ctx, box.DeepCopy(), patch(`{"status":{"weight":10}}`)), "status.weight", true)
		refusedAt(a.Status().Patch(ctx, box.DeepCopy(), patch(`{"status":{"weight":100}}`)), "status.weight", false)
		Expect(a.Status().Patch(ctx, box.DeepCopy(), patch(`{"status":{"weight":9}}`))).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
	})

	It("are warned of the same under Warn, and keep what its user does not know", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer))
		r := inForce(ctx, k.requirement(k.definition(schema), objects(warn)))
		tells := func(texts ...string) {
			GinkgoHelper()
			var expected []any
			for _, text := range texts {
				expected = append(expected, And(HavePrefix("CompatibilityRequirement "+r.Name+": "), ContainSubstring(text)))
			}
			Expect(a.warned()).To(ConsistOf(expected...))
		}
		Expect(a.Create(ctx, k.box("a", "{color: red}"))).To(Succeed())
		tells("spec.size")
		box := k.box("b", "{color: green, size: 10, extra: x}")
		Expect(a.Create(ctx, box)).To(Succeed())
		tells("spec.color", "spec.size", `"spec.extra" is kept`)
		Expect(field(box, "spec", "extra")).To(Equal("x"))
		box.Object["spec"] = map[string]any{"color": "red", "size": int64(1), "extra": "y"}
		Expect(a.Update(ctx, box)).To(Succeed())
		tells(`"spec.extra" is kept`)
		Expect(field(box, "spec", "extra")).To(Equal("y"))
		box.Object["status"] = map[string]any{"weight": int64(10), "more": "x"}
		Expect(a.Status().Update(ctx, box)).To(Succeed())
		tells("status.weight", `"status.more" is kept`)
		Expect(field(box, "status", "more")).To(Equal("x"))
	})

	It("lose under Deny what its user does not know, however it is written", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer))
		r := inForce(ctx, k.requirement(k.definition(schema), objects(deny)))
		tells := func(path string) {
			GinkgoHelper()
			Expect(a.warned()).To(ConsistOf(And(HavePrefix("CompatibilityRequirement "+r.Name+": "), ContainSubstring(`"`+path+`" is pruned`))))
		}
		box := k.box("a", "{color: red, size: 1, extra: x}")
		Expect(a.Create(ctx, box)).To(Succeed())
		tells("spec.extra")
		Expect(box.Object["spec"]).To(Equal(map[string]any{"color": "red", "size": int64(1)}))
		box.Object["spec"] = map[string]any{"color": "blue", "size": int64(2), "extra": "x"}
		refusedAt(a.Update(ctx, box.DeepCopy()), "spec.color", false) // blue is not the definition's
		a.warned()
		box.Object["spec"] = map[string]any{"color": "red", "size": int64(2), "extra": "x"}
		Expect(a.Update(ctx, box)).To(Succeed())
		tells("spec.extra")
		Expect(box.Object["spec"]).To(Equal(map[string]any{"color": "red", "size": int64(2)}))
		box.Object["status"] = map[string]any{"weight": int64(1), "more": "x"}
		Expect(a.Status().Update(ctx, box)).To(Succeed())
		tells("status.more")
		Expect(box.Object["status"]).To(Equal(map[string]any{"weight": int64(1)}))
	})

	It("lose under Deny also what is in lists and maps, and what is applied", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(strings.NewReplacer("{label: {type: string}}", "{label: {type: string}, more: {type: string}}",
			"{text: {type: string}}", "{text: {type: string}, more: {type: string}}").Replace(schema)))
		r := inForce(ctx, k.requirement(k.definition(schema), objects(deny)))
		pruned := func(path string) any {
			return And(HavePrefix("CompatibilityRequirement "+r.Name+": "), ContainSubstring(`"`+path+`" is pruned`))
		}
		text := "{size: 1, slots: [{label: a}, {label: b, more: x}], tags: {t: {text: a, more: x}}}"
		known := map[string]any{
			"size": int64(1), "slots": []any{map[string]any{"label": "a"}, map[string]any{"label": "b"}}, "tags": map[string]any{"t": map[string]any{"text": "a"}},
		}
		box := k.box("a", text)
		Expect(a.Create(ctx, box)).To(Succeed())
		Expect(a.warned()).To(ConsistOf(pruned("spec.slots[1].more"), pruned("spec.tags.t.more")))
		Expect(box.Object["spec"]).To(Equal(known))
		applied := k.box("b", text)
		Expect(a.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("author"))).To(Succeed())
		Expect(a.warned()).To(ConsistOf(pruned("spec.slots[1].more"), pruned("spec.tags.t.more")))
		Expect(a.Get(ctx, client.ObjectKeyFromObject(applied), applied)).To(Succeed())
		Expect(applied.Object["spec"]).To(Equal(known))
	})

	It("keep under Deny what is stored, and may go", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer))
		// No user of the requirement could read it.
		box := k.box("a", "{color: green, extra: x}")
		box.SetFinalizers([]string{"example.com/holds"})
		Expect(a.Create(ctx, box)).To(Succeed())
		box.Object["status"] = map[string]any{"weight": int64(1), "more": "x"}
		Expect(a.Status().Update(ctx, box)).To(Succeed())
		known := k.box("b", "{color: red, size: 1, extra: x}")
		Expect(a.Create(ctx, known)).To(Succeed())
		inForce(ctx, k.requirement(k.definition(schema), objects(deny)))

		Expect(a.Patch(ctx, known, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))).To(Succeed())
		known.Object["status"] = map[string]any{"weight": int64(2)}
		Expect(a.Status().Update(ctx, known)).To(Succeed())
		Expect(field(known, "spec", "extra")).To(Equal("x"))
		Expect(a.warned()).To(BeEmpty())

		Expect(a.Delete(ctx, box.DeepCopy())).To(Succeed())
		Expect(a.Patch(ctx, box, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		Expect(apierrors.IsNotFound(a.Get(ctx, client.ObjectKeyFromObject(box), box))).To(BeTrue())
		Expect(a.warned()).To(BeEmpty())
	})

	It("are judged as its user would read them, whatever version they are written in", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer, version("v2", laxer)))
		r := inForce(ctx, k.requirement(k.definition(schema), objects(deny)))
		in := func(name, spec string) *unstructured.Unstructured {
			box := k.box(name, spec)
			box.SetAPIVersion(k.group + "/v2")
			return box
		}
		refusedAt(a.Create(ctx, in("a", "{color: green, size: 1}")), "spec.color", true)
		a.warned()
		box := in("a", "{color: red, size: 1, extra: x}")
		Expect(a.Create(ctx, box)).To(Succeed())
		Expect(a.warned()).To(ConsistOf(And(HavePrefix("CompatibilityRequirement "+r.Name+": "), ContainSubstring(`"spec.extra" is pruned`))))
		Expect(box.GetAPIVersion()).To(Equal(k.group + "/v2"))
		Expect(box.Object["spec"]).To(Equal(map[string]any{"color": "red", "size": int64(1)}))
		refusedAt(a.Status().Patch(ctx, box.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"weight":10}}`))), "status.weight", true)

		amend(ctx, r, objects(warn))
		admitted(ctx, r)
		a.warned()
		box = in("b", "{color: green, size: 1, extra: x}")
		Expect(a.Create(ctx, box)).To(Succeed())
		Expect(a.warned()).To(ConsistOf(ContainSubstring("spec.color"), ContainSubstring(`"spec.extra" is kept`)))
		Expect(field(box, "spec", "extra")).To(Equal("x"))
	})

	It("are scaled as their definition alone allows", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		scaled := func(d *definition) {
			d.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.weight"}
		}
		k.establish(ctx, k.definition(laxer, scaled))
		inForce(ctx, k.requirement(k.definition(schema, scaled), objects(deny)))
		box := k.box("a", "{color: red, size: 1}")
		Expect(a.Create(ctx, box)).To(Succeed())
		refusedAt(a.Patch(ctx, box.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":50}}`))), "spec.size", true)
		Expect(a.SubResource("scale").Patch(ctx, box.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":50}}`)))).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
		Expect(a.Get(ctx, client.ObjectKeyFromObject(box), box)).To(Succeed())
		Expect(field(box, "spec", "size")).To(Equal(int64(50)))
	})
})
