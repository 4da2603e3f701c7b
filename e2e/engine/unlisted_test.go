package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/discovery"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("A kind that is announced and cannot be listed", func() {
	DescribeTable("holds up neither what is adopted nor what is pruned, but a namespace that may have objects of it", func(ctx SpecContext, status int, body string) {
		w := begin(ctx)
		w.create(ctx, w.crd("request"))
		w.formerly(ctx, 760, w.configMap("old"))
		w.formerly(ctx, 760, w.newNamespace("old"))
		eventually(ctx, "the kind to be announced", func(context.Context) error { return w.announces("request") })
		e := w.start(legacy(formerInstaller), guarding(w.newNamespace("old")), meddle(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
			if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/apis/"+w.group+"/") {
				return nil, nil
			}
			return answered(r, status, body), nil
		}))
		e.adopts(ctx, 760)
		rev := of(761, w.configMap("a"))
		e.converge(ctx, rev)
		report := e.prune(ctx, rev, nil)
		Expect(w.isGone(ctx, w.configMap("old"))).To(Succeed())
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed { // there may be some, which nobody can list
			Expect(report.WhyRetained()).To(ContainSubstring("requests." + w.group + " cannot be read"))
			return
		}
		Expect(report.Retained).To(BeEmpty(), report.WhyRetained())
		Expect(w.isGone(ctx, w.newNamespace("old"))).To(Succeed())
	},
		Entry("because there is no list", http.StatusNotFound, "404 page not found"),
		Entry("because the verb is none", http.StatusMethodNotAllowed, refusing(http.StatusMethodNotAllowed, "MethodNotAllowed")),
		Entry("because its server gives no metadata alone", http.StatusNotAcceptable, refusing(http.StatusNotAcceptable, "NotAcceptable")),
		Entry("because its server reads no such request", http.StatusUnsupportedMediaType, refusing(http.StatusUnsupportedMediaType, "UnsupportedMediaType")),
		Entry("because its server knows no selectors", http.StatusBadRequest, refusing(http.StatusBadRequest, "BadRequest")),
		Entry("because the answer is a Status", http.StatusOK, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`),
		Entry("because the answer is an object", http.StatusOK, `{"kind":"Request","apiVersion":"v1","metadata":{"name":"x"}}`),
		Entry("because the answer is no JSON", http.StatusOK, "<html>"),
	)

	It("because nobody may holds up the end of what is pruned, until somebody may", func(ctx SpecContext) {
		w := begin(ctx)
		w.create(ctx, w.crd("request"))
		w.formerly(ctx, 760, w.configMap("old"))
		eventually(ctx, "the kind to be announced", func(context.Context) error { return w.announces("request") })
		var may atomic.Bool
		e := w.start(legacy(formerInstaller), meddle(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
			if may.Load() || r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/apis/"+w.group+"/") {
				return nil, nil
			}
			return answered(r, http.StatusForbidden, refusing(http.StatusForbidden, "Forbidden")), nil
		}))
		e.adopts(ctx, 760)
		rev := of(761, w.configMap("a"))
		e.converge(ctx, rev)
		eventually(ctx, "what was found to be pruned", func(ctx context.Context) error {
			report, err := e.Teardown(ctx, rev)
			Expect(report.Complete()).To(BeFalse())
			return errors.Join(err, w.isGone(ctx, w.configMap("old")))
		})
		report, err := e.Teardown(ctx, rev)
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Wait).To(And(ContainSubstring(w.group), ContainSubstring("give the operator the verb list")))
		may.Store(true)
		e.adopts(ctx, 760)
		e.prune(ctx, rev, nil)
	})
})

// meddle lets a function answer requests of an engine; those for which it gives neither an answer nor an error go through.
func meddle(instead func(r *http.Request, next http.RoundTripper) (*http.Response, error)) func(*engine.Config) {
	return func(c *engine.Config) {
		c.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return sender(func(r *http.Request) (*http.Response, error) {
				if response, err := instead(r, next); response != nil || err != nil {
					return response, err
				}
				return next.RoundTrip(r)
			})
		})
	}
}

// answered is one of JSON to a request.
func answered(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// refusing is how API servers refuse.
func refusing(status int, reason string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":%q,"code":%d,"message":"this is refused"}`, reason, status)
}

// announces is nil when the API server announces a kind of the world.
func (w *world) announces(singular string) error {
	_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(w.config).ServerGroupsAndResources()
	for _, list := range lists {
		for i := range list.APIResources {
			if list.GroupVersion == w.group+"/v1" && list.APIResources[i].Name == singular+"s" {
				return nil
			}
		}
	}
	return errors.Join(err, fmt.Errorf("%s is not announced", singular))
}
