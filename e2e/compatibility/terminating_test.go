package compatibility_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// holder is a finalizer, and released takes all of them away.
const holder = "example.com/holds"

var released = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))

// label is an edit of nobody's specification.
var label = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))

// costly are conditions within what API servers let them cost together, until an object has many slots.
func costly(r *requirement) {
	for i := range 7 {
		r.Spec.ObjectSchemaValidation.MatchConditions = append(r.Spec.ObjectSchemaValidation.MatchConditions, admissionregistrationv1.MatchCondition{
			Name: fmt.Sprintf("may-%d", i), Expression: "authorizer.group('').resource('pods').check('get').allowed()",
		})
	}
	r.Spec.ObjectSchemaValidation.MatchConditions = append(r.Spec.ObjectSchemaValidation.MatchConditions, admissionregistrationv1.MatchCondition{
		Name: "labels", Expression: "!has(object.spec.slots) || object.spec.slots.all(x, object.spec.slots.all(y, x.label == y.label)) // of all",
	})
}

var _ = Describe("What is terminating", func() {
	It("may go, whatever the conditions of a requirement cost or say", func(ctx SpecContext) {
		shared(ctx)
		for _, conditions := range []ask{costly, func(r *requirement) {
			r.Spec.ObjectSchemaValidation.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "errs", Expression: "object.spec.nothing == 'x'"}}
		}} {
			k := newKind()
			k.establish(ctx, k.definition(schema))
			box := k.box("a", "{size: 1, slots: ["+strings.Repeat("{label: a}, ", 200)+"]}")
			box.SetFinalizers([]string{holder})
			Expect(env.Client.Create(ctx, box)).To(Succeed())
			inForce(ctx, k.requirement(k.definition(schema), objects(deny), conditions))
			Expect(env.Client.Patch(ctx, box.DeepCopy(), label)).To(MatchError(Or(ContainSubstring("cost budget"), ContainSubstring("no such key"))))
			Expect(env.Client.Delete(ctx, box.DeepCopy())).To(Succeed())
			Expect(env.Client.Patch(ctx, box.DeepCopy(), label)).To(Succeed())
			Expect(env.Client.Patch(ctx, box.DeepCopy(), released)).To(Succeed())
			Expect(apierrors.IsNotFound(env.Client.Get(ctx, client.ObjectKeyFromObject(box), box))).To(BeTrue())
		}
	})

	It("may go in an outage, and requirements may be labelled", func(ctx SpecContext) {
		s := alone(ctx, 1)
		s.operate()
		k, going := newKind(), newKind()
		k.establish(ctx, k.definition(schema))
		held := going.definition(schema, func(d *definition) { d.Finalizers = []string{holder} })
		going.establish(ctx, held)
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.Client.Patch(ctx, held.DeepCopy(), released))).To(Succeed())
		})
		Expect(env.Client.Delete(ctx, held.DeepCopy())).To(Succeed())
		last := k.requirement(k.definition(schema), crds(deny))
		last.Finalizers = []string{holder}
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)), last, going.requirement(going.definition(schema), crds(deny)))
		s.replicas[0].Kill()

		Expect(change(ctx, r.DeepCopy(), crds(warn))).To(MatchError(outOfService))
		Expect(env.Client.Patch(ctx, r.DeepCopy(), label)).To(Succeed())
		Expect(env.Client.Delete(ctx, last.DeepCopy())).To(Succeed())
		Expect(env.Client.Patch(ctx, last.DeepCopy(), released)).To(Succeed())
		Expect(read(ctx, last.Name, last)).To(BeFalse())
		Expect(going.write(ctx, env.Client, going.definition(without("color:")))).To(Succeed())
		Expect(env.Client.Patch(ctx, held.DeepCopy(), released)).To(Succeed())
		eventually(ctx, "the definition to be gone", func(ctx context.Context) error {
			return unless(!read(ctx, held.Name, &definition{}), "it is there")
		})
		disarm(ctx) // so that what is left may go
	})
})

var _ = Describe("The deletion of a requirement", func() {
	It("ends without operator and checker, however it propagates", func(ctx SpecContext) {
		s := alone(ctx, 1)
		s.operate()
		k := newKind()
		k.establish(ctx, k.definition(schema))
		made := func() *requirement { return k.requirement(k.definition(schema), crds(deny), objects(deny)) }
		all := map[metav1.DeletionPropagation]*requirement{
			metav1.DeletePropagationBackground: made(), metav1.DeletePropagationForeground: made(), metav1.DeletePropagationOrphan: made(),
		}
		inForce(ctx, all[metav1.DeletePropagationBackground], all[metav1.DeletePropagationForeground], all[metav1.DeletePropagationOrphan])
		Expect(s.operator.Stop()).To(Succeed())
		s.replicas[0].Kill()
		Expect(env.Client.Create(ctx, k.box("a", "{size: 1}"), client.DryRunAll)).To(MatchError(outOfService))
		for how, r := range all {
			Expect(env.Client.Delete(ctx, r.DeepCopy(), client.PropagationPolicy(how))).To(Succeed())
		}
		for how, r := range all {
			eventually(ctx, fmt.Sprintf("%s to be gone by %s", r.Name, how), func(ctx context.Context) error {
				return unless(!read(ctx, r.Name, &requirement{}), "it is there")
			})
			// What is orphaned stays until somebody looks after it.
			eventually(ctx, "its configurations to follow or to be left", func(ctx context.Context) error {
				left := read(ctx, r.Name, &validating{}) && read(ctx, r.Name, &mutating{})
				return unless(left == (how == metav1.DeletePropagationOrphan), fmt.Sprintf("they are there: %t", left))
			})
		}
		disarm(ctx) // so that what is left may go
		s.operate()
		eventually(ctx, "what was left to be swept", func(ctx context.Context) error {
			r := all[metav1.DeletePropagationOrphan]
			return unless(!read(ctx, r.Name, &validating{}) && !read(ctx, r.Name, &mutating{}), "it is there")
		})
	})
})
