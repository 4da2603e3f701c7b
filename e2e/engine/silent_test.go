package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/discovery"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An aggregated API that does not answer", func() {
	It("keeps a namespace, because it may have objects there", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		rev := e.upgrade(ctx, w, w.newNamespace("old"))
		answers := w.silence(ctx, "aggregated."+w.group)
		report := e.prune(ctx, rev, nil)
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.WhyRetained()).To(And(ContainSubstring("aggregated."+w.group), ContainSubstring("APIService")))
		Expect(w.uid(ctx, w.newNamespace("old"))).NotTo(BeEmpty())
		answers()
		e.deletes(ctx, rev)
		eventually(ctx, "the namespace to go", func(ctx context.Context) error { return w.isGone(ctx, w.newNamespace("old")) })
	})

	It("keeps an object from being taken for gone, because nobody knows whether its kind is served", func(ctx SpecContext) {
		w := begin(ctx)
		e := w.start()
		e.install(ctx, of(1, w.crd("gadget"), w.instance("gadget", "mine"), w.configMap("a")))
		w.delete(ctx, w.crd("gadget"))
		eventually(ctx, "the definition to go", func(ctx context.Context) error { return w.isGone(ctx, w.crd("gadget")) })
		e.stop()
		answers := w.silence(ctx, w.group)
		rev := of(2, w.configMap("a"))
		e = w.start()
		e.converge(ctx, rev)
		report, err := e.Teardown(ctx, rev)
		Expect(err).To(MatchError(ContainSubstring("does not answer")))
		Expect(report.Complete()).To(BeFalse())
		answers()
		e.deletes(ctx, rev)
	})

	It("leaves a gap in what is adopted: it is told, what else was found goes, and nothing is forgotten before it was filled", func(ctx SpecContext) {
		w := begin(ctx)
		w.create(ctx, w.crd("gadget"))
		w.formerly(ctx, 780, w.instance("gadget", "old"))
		w.formerly(ctx, 780, w.configMap("old"))
		var answers atomic.Bool
		e := w.start(legacy(formerInstaller), meddle(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if answers.Load() {
				return nil, nil
			}
			return discovered(r, next, func(groups []any) []any { return w.without(groups, "Stale") })
		}))
		e.adopts(ctx, 780)
		rev := of(781, w.configMap("a"))
		e.converge(ctx, rev)
		var report *engine.TeardownReport
		Expect(e.drive(ctx, "the rest to be pruned", func(ctx context.Context) (bool, error) {
			var err error
			if report, err = e.Teardown(ctx, rev); err != nil || len(report.Gone) != 1 {
				return true, errors.Join(err, errors.New(report.Blocked()))
			}
			return false, nil
		})).To(Succeed())
		Expect(w.isGone(ctx, w.configMap("old"))).To(Succeed())
		Expect(report.Complete()).To(BeFalse())
		Expect(report.Blocked()).To(And(ContainSubstring(w.group), ContainSubstring("APIService")))
		Expect(e.Forget(ctx, rev, report)).NotTo(Succeed())
		since := mark(ctx)
		e.adopts(ctx, 780)
		Expect(w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.Resource == "pods" })).To(BeEmpty(), "nothing is looked through before the group answers")

		answers.Store(true)
		eventually(ctx, "the gap to be filled, although nobody lists the revision", func(ctx context.Context) error { return e.Adopt(ctx) })
		Expect(e.install(ctx, rev).Complete()).To(BeTrue())
		Expect(w.isGone(ctx, w.instance("gadget", "old"))).To(Succeed())
	})
})

// deletes prunes until nothing is left, not even what was retained.
func (r *running) deletes(ctx context.Context, rev *engine.Revision) {
	GinkgoHelper()
	Expect(r.drive(ctx, "everything to be pruned", func(ctx context.Context) (bool, error) {
		report, err := r.Teardown(ctx, rev)
		if err == nil && (!report.Complete() || len(report.Retained) > 0) {
			err = errors.New(report.Blocked() + report.WhyRetained())
		}
		return true, err
	})).To(Succeed())
}

// silence registers a server for an API group that does not answer, and ends when discovery tells so; the function that
// it returns takes the registration back.
func (w *world) silence(ctx context.Context, group string) (answers func()) {
	GinkgoHelper()
	service := w.object(fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.%[1]s}
spec: {group: %[1]s, version: v1, groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true, service: {namespace: $NS, name: nobody}}
`, group))
	eventually(ctx, "the registration", func(ctx context.Context) error { return w.client.Create(ctx, service.DeepCopy(), administrator) })
	discovered := func() error {
		_, _, err := discovery.NewDiscoveryClientForConfigOrDie(w.config).ServerGroupsAndResources()
		return err
	}
	eventually(ctx, "discovery to miss the group", func(context.Context) error {
		if err := discovered(); err == nil || !strings.Contains(err.Error(), group) {
			return fmt.Errorf("discovery misses %w", err)
		}
		return nil
	})
	remove := func(ctx context.Context) { Expect(gone(w.client.Delete(ctx, service))).To(Succeed()) }
	DeferCleanup(func(ctx SpecContext) { remove(ctx) }, NodeTimeout(patience)) // or no namespace of any world can be deleted
	return func() {
		GinkgoHelper()
		remove(ctx)
		eventually(ctx, "discovery to miss nothing", func(context.Context) error { return discovered() })
	}
}
