package engine_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An instance of a definition that has just changed", func() {
	It("is not refused for good while an API server may still serve the schema before", func(ctx SpecContext) {
		w := begin(ctx)
		var lags atomic.Bool
		clk := clocktesting.NewFakeClock(time.Now())
		e := w.start(func(c *engine.Config) {
			c.Clock = clk
			c.REST.Wrap(func(inner http.RoundTripper) http.RoundTripper {
				return sender(func(r *http.Request) (*http.Response, error) {
					if lags.Load() && r.Method != http.MethodGet && strings.HasSuffix(r.URL.Path, "/gadgets/a") {
						return answer(r, &apierrors.StatusError{ErrStatus: metav1.Status{
							Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
							Message: "failed to create typed patch object (x; y): .spec.more: field not declared in schema",
						}})
					}
					return inner.RoundTrip(r)
				})
			})
		})
		one := w.instance("gadget", "a")
		e.converge(ctx, of(1, w.crd("gadget"), one))

		crd, two := w.crd("gadget"), with(one, "yes", "spec", "more")
		properties := field(crd, "spec", "versions").([]any)[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)
		properties["spec"].(map[string]any)["properties"].(map[string]any)["more"] = map[string]any{"type": "string"}
		lags.Store(true)
		rev := of(2, crd, two)
		report := e.until(ctx, rev, acted(two, engine.Failed))
		Expect(terminal(report.Err())).To(BeFalse(), report.Err().Error())
		Expect(report.Err().Error()).To(And(ContainSubstring("field not declared in schema"), Not(ContainSubstring("repair its manifest"))))

		clk.Step(time.Minute)
		report, err := e.Reconcile(ctx, rev)
		Expect(terminal(err)).To(BeTrue(), "by then every API server serves the schema that there is: %s", report)

		lags.Store(false)
		e.converge(ctx, rev)
		Expect(field(w.fetch(ctx, two), "spec", "more")).To(Equal("yes"))
	})
})
