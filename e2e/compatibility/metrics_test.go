package compatibility_test

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The checker's metrics", func() {
	It("count what was refused, warned of and pruned, without dry runs, and how long answers took", func(ctx SpecContext) {
		s, metrics := counting(ctx)
		s.operate()
		k, warned, a := newKind(), newKind(), newAuthor()
		k.establish(ctx, k.definition(laxer))
		warned.establish(ctx, warned.definition(laxer))
		r := inForce(ctx, k.requirement(k.definition(schema), crds(deny), objects(deny)),
			warned.requirement(warned.definition(schema), crds(warn), objects(warn)))
		broken := strings.Replace(laxer, "      tags:", "      labels:", 1)
		bad := k.requirement(k.definition(schema))
		bad.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "{}"
		write := func(creates []client.CreateOption, updates []client.UpdateOption) {
			GinkgoHelper()
			Expect(a.Create(ctx, bad.DeepCopy(), creates...)).To(MatchError(apierrors.IsInvalid, "IsInvalid"))
			Expect(k.write(ctx, a, k.definition(broken), updates...)).To(refuses(r, "spec.tags is missing"))
			Expect(warned.write(ctx, a, warned.definition(broken), updates...)).To(Succeed())
			refusedAt(a.Create(ctx, k.box("bad", "{color: green, size: 1}"), creates...), "spec.color", true)
			Expect(a.Create(ctx, k.box("good", "{color: red, size: 1, extra: x}"), creates...)).To(Succeed())
			Expect(a.Create(ctx, warned.box("good", "{color: green, size: 1}"), creates...)).To(Succeed())
		}
		before := counted(ctx, metrics)
		write([]client.CreateOption{client.DryRunAll}, []client.UpdateOption{client.DryRunAll})
		after := counted(ctx, metrics)
		for _, endpoint := range []string{"requirements", "crds", "objects", "prune"} {
			answers := "seconds_count of " + endpoint
			Expect(after[answers]).To(BeNumerically(">", before[answers]), endpoint)
			delete(after, answers)
		}
		Expect(after).To(BeEmpty(), "dry runs, those of the operator among them, are left out")

		write(nil, nil)
		after = counted(ctx, metrics)
		Expect(after).To(And(
			HaveKeyWithValue("denied_total of requirements", 1), HaveKeyWithValue("denied_total of crds", 1), HaveKeyWithValue("denied_total of objects", 1),
			HaveKeyWithValue("warned_total of crds", 1), HaveKeyWithValue("warned_total of objects", 1),
			HaveKeyWithValue("pruned_total of prune", 1), HaveKeyWithValue("warned_total of prune", 1), Not(HaveKey(HavePrefix("panics_total"))),
		))
	})

	It("are told to Prometheus, and to whom the API server allows it", func(ctx SpecContext) {
		_, metrics := counting(ctx)
		counted(ctx, metrics)
		reader, err := env.Token(ctx, "reader")
		Expect(err).NotTo(HaveOccurred())
		Expect(env.LetScrape(ctx, "reader")).To(Succeed())
		tenant, err := env.Token(ctx, "tenant")
		Expect(err).NotTo(HaveOccurred())
		Expect(metrics.Answers(ctx, harness.Visitor{}, http.StatusUnauthorized)).To(Succeed())
		Expect(metrics.Answers(ctx, harness.Visitor{Token: "x"}, http.StatusUnauthorized)).To(Succeed())
		Expect(metrics.Answers(ctx, harness.Visitor{Token: tenant}, http.StatusForbidden)).To(Succeed())
		eventually(ctx, "the reader to be let in", func(ctx context.Context) error {
			return metrics.Answers(ctx, harness.Visitor{Token: reader}, http.StatusOK)
		})
	})
})

// counting is a stage with one replica that serves metrics.
func counting(ctx context.Context) (*stage, *harness.Metrics) {
	GinkgoHelper()
	s := alone(ctx, 0)
	metrics, err := env.NewMetrics()
	Expect(err).NotTo(HaveOccurred())
	_, err = s.another(metrics.OfWebhooks()...)
	Expect(err).NotTo(HaveOccurred())
	return s, metrics
}

// counted is what the checker counts, each by its name and endpoint.
func counted(ctx context.Context, metrics *harness.Metrics) map[string]int {
	GinkgoHelper()
	all := map[string]int{}
	eventually(ctx, "Prometheus to be told", func(ctx context.Context) error {
		text, err := metrics.Text(ctx)
		for _, found := range regexp.MustCompile(`(?m)^capstan_webhook_(\w+)\{endpoint="(\w+)"\} (\d+)$`).FindAllStringSubmatch(text, -1) {
			if number, err := strconv.Atoi(found[3]); err == nil && !strings.HasSuffix(found[1], "_sum") {
				all[found[1]+" of "+found[2]] = number
			}
		}
		return err
	})
	return all
}
