package compatibility_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A requirement that is being deleted", func() {
	It("refuses nothing while somebody else holds it, and goes when it is let go of", func(ctx SpecContext) {
		shared(ctx)
		k, a := newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer))
		r := k.requirement(k.definition(schema), crds(deny), objects(deny))
		r.Finalizers = []string{"example.com/holds"}
		inForce(ctx, r)
		release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(env.Client.Patch(ctx, r.DeepCopy(), release))).To(Succeed())
		})
		broken := k.definition(strings.Replace(laxer, "      tags:", "      labels:", 1))
		Expect(k.write(ctx, a, broken, client.DryRunAll)).To(refuses(r, "spec.tags is missing"))
		refusedAt(a.Create(ctx, k.box("a", "{color: green, size: 1}")), "spec.color", true)

		Expect(env.Client.Delete(ctx, r.DeepCopy())).To(Succeed())
		a.warned()
		By("letting all writes pass at once")
		Expect(k.write(ctx, a, broken, client.DryRunAll)).To(Succeed())
		Expect(a.Create(ctx, k.box("a", "{color: green, size: 10, extra: x}"))).To(Succeed())
		Expect(a.warned()).To(BeEmpty())
		told(ctx, r, "State", "True", "Releasing")
		told(ctx, r, "Admitted", "False", "NotAdmitted")
		vanishes(ctx, r.Name)
		eventually(ctx, "its CRD not to be listed any more", func(context.Context) error {
			all := &validating{}
			return unless(!read(ctx, "capstan-crds", all) || !strings.Contains(fmt.Sprint(all.Webhooks), k.name()), "it is")
		})
		Expect(a.Delete(ctx, k.definition(schema), client.DryRunAll)).To(Succeed())
		Expect(a.warned()).To(BeEmpty())

		By("being let go of")
		Expect(env.Client.Patch(ctx, r.DeepCopy(), release)).To(Succeed())
		Expect(read(ctx, r.Name, r)).To(BeFalse())
	})
})
