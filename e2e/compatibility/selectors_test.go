package compatibility_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("What a requirement selects", func() {
	It("is judged and pruned, and nothing else", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer))
		inForce(ctx, k.requirement(k.definition(schema), objects(deny), func(r *requirement) {
			r.Spec.ObjectSchemaValidation.NamespaceSelector = metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: metav1.NamespaceDefault}}
			r.Spec.ObjectSchemaValidation.ObjectSelector = metav1.LabelSelector{MatchLabels: map[string]string{"judged": "yes"}}
			r.Spec.ObjectSchemaValidation.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "others", Expression: "object.metadata.name != 'mine'"}}
		}))
		attempt := func(namespace, name, judged, spec string) error {
			box := k.box(name, spec)
			box.SetNamespace(namespace)
			box.SetLabels(map[string]string{"judged": judged})
			return a.Create(ctx, box, client.DryRunAll)
		}
		const unreadable = "{color: green, size: 1, extra: x}"
		refusedAt(attempt(metav1.NamespaceDefault, "a", "yes", unreadable), "spec.color", true)
		a.warned()
		Expect(attempt(metav1.NamespacePublic, "a", "yes", unreadable)).To(Succeed())
		Expect(attempt(metav1.NamespaceDefault, "a", "no", unreadable)).To(Succeed())
		Expect(attempt(metav1.NamespaceDefault, "mine", "yes", unreadable)).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
	})

	It("is not pruned by a configuration of somebody else, which stays as it is", func(ctx SpecContext) {
		shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(schema))
		r := k.requirement(k.definition(schema), objects(deny))
		Expect(env.Client.Create(ctx, &mutating{ObjectMeta: metav1.ObjectMeta{Name: r.Name}})).To(Succeed())
		theirs, found := &mutating{}, &mutating{}
		Expect(read(ctx, r.Name, theirs)).To(BeTrue())
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, theirs.DeepCopy()))).To(Succeed())
		})
		require(ctx, r)
		told(ctx, r, "State", "True", "Conflicted")
		told(ctx, r, "Progressing", "False", "OwnershipConflict", "MutatingWebhookConfiguration "+r.Name)
		Expect(read(ctx, r.Name, found)).To(BeTrue())
		Expect(found).To(Equal(theirs))
		Expect(env.Client.Delete(ctx, theirs.DeepCopy())).To(Succeed())
		admitted(ctx, r)
	})
})
