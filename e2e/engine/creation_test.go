package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fielderrors "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("The request that creates an object", func() {
	DescribeTable("changes nothing of one that the engine has not seen", func(ctx SpecContext, dryRun bool, manifest func(*world) *unstructured.Unstructured) {
		w := begin(ctx)
		wanted := manifest(w)
		if wanted.GroupVersionKind().Group == w.group {
			w.start().converge(ctx, of(1, w.crd("gadget")))
		}
		theirs := w.create(ctx, with(wanted, "theirs", "metadata", "labels", "whose"))
		if wanted.GetKind() == "CustomResourceDefinition" {
			eventually(ctx, "the kind to be served", func(ctx context.Context) error {
				if is := conditionOf(w.fetch(ctx, wanted), "Established")["status"]; is != "True" {
					return fmt.Errorf("Established is %v", is)
				}
				return nil
			})
		}
		before, since := w.fetch(ctx, theirs), mark(ctx)
		objects := []*unstructured.Unstructured{wanted}
		if wanted.GroupVersionKind().Group == w.group {
			objects = append(objects, w.crd("gadget"))
		}
		if dryRun { // which is how a wave is tried of which more than one object is missing
			another := wanted.DeepCopy()
			another.SetName(wanted.GetName() + "-too")
			objects = append(objects, another)
		}
		w.start().until(ctx, of(2, objects...), acted(wanted, engine.Collision))
		Expect(w.fetch(ctx, wanted)).To(Equal(before))
		tries := about(wanted, w.requests(ctx, since)).Where(func(r cluster.Request) bool { return r.Verb == "patch" })
		if dryRun { // a POST, which names no object
			Expect(tries).To(BeEmpty())
			tries = w.requests(ctx, since).Where(func(r cluster.Request) bool { return r.Verb == "create" && r.DryRun && r.Code != http.StatusCreated })
		}
		Expect(tries).NotTo(BeEmpty())
		for _, r := range tries {
			Expect(r.Code).To(Equal(http.StatusConflict), r.String())
		}
	},
		Entry("a ConfigMap", false, func(w *world) *unstructured.Unstructured { return w.configMap("a", "key", "value") }),
		Entry("a ConfigMap, without effect", true, func(w *world) *unstructured.Unstructured { return w.configMap("a", "key", "value") }),
		Entry("a ClusterRole", false, func(w *world) *unstructured.Unstructured { return w.clusterRole("a") }),
		Entry("a Service", false, func(w *world) *unstructured.Unstructured { return w.service("a") }),
		Entry("a webhook configuration", false, func(w *world) *unstructured.Unstructured { return w.webhook("a") }),
		Entry("an account", false, func(w *world) *unstructured.Unstructured { return w.serviceAccount("a") }),
		Entry("a definition", false, func(w *world) *unstructured.Unstructured { return w.crd("thing") }),
		Entry("a custom resource", false, func(w *world) *unstructured.Unstructured { return w.instance("gadget", "a") }),
		Entry("a custom resource, without effect", true, func(w *world) *unstructured.Unstructured { return w.instance("gadget", "a") }),
	)

	It("changes nothing of one that is on its way out", func(ctx SpecContext) {
		w := begin(ctx)
		theirs := w.configMap("a", "key", "theirs")
		theirs.SetFinalizers([]string{"test.capstan.io/held"})
		w.create(ctx, theirs)
		Expect(w.client.Delete(ctx, theirs)).To(Succeed())
		before, since := w.fetch(ctx, theirs), mark(ctx)
		w.start().until(ctx, of(1, w.configMap("a", "key", "value")), acted(theirs, engine.Terminating))
		Expect(w.fetch(ctx, theirs)).To(Equal(before))
		Expect(about(theirs, w.writes(ctx, since)).Where(func(r cluster.Request) bool { return r.Code != http.StatusConflict })).To(BeEmpty())
	})

	It("is followed by an update of what is ours and has lost its label", func(ctx SpecContext) {
		w := begin(ctx)
		ours := annotated(annotated(w.configMap("a", "key", "former"), engine.OwnerAnnotation, w.owner), engine.RevisionAnnotation, "1")
		before := w.create(ctx, ours)
		report := w.start().until(ctx, of(2, w.configMap("a", "key", "value")), complete)
		Expect(report.Collisions()).To(BeEmpty())
		found := w.fetch(ctx, ours)
		Expect(found.GetUID()).To(Equal(before.GetUID()))
		Expect(field(found, "data", "key")).To(Equal("value"))
	})

	It("is granted to one of two that send it at the same time", func(ctx SpecContext) {
		w := begin(ctx)
		since := mark(ctx)
		var both sync.WaitGroup
		both.Add(2)
		race := func(owner string) func(*engine.Config) {
			arrived := sync.OnceFunc(both.Done)
			return func(c *engine.Config) {
				c.Owner = owner
				c.Namespace = w.name(owner)
				c.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return sender(func(r *http.Request) (*http.Response, error) {
						if creates(r) {
							arrived()
							both.Wait()
						}
						return next.RoundTrip(r)
					})
				})
			}
		}
		var all sync.WaitGroup
		reports := make([]*engine.Report, 2)
		for i, owner := range []string{"left", "right"} {
			w.create(ctx, w.newNamespace(owner))
			e := w.start(race(owner))
			all.Go(func() {
				defer GinkgoRecover()
				reports[i] = e.until(ctx, of(1, w.configMap("a", "key", owner)), func(report *engine.Report) error {
					if len(report.Collisions()) > 0 {
						return nil
					}
					return complete(report)
				})
			})
		}
		all.Wait()
		Expect(about(w.configMap("a"), w.writes(ctx, since)).Where(cluster.Request.IsCreation)).To(HaveLen(1))
		Expect(reports).To(ConsistOf(
			HaveField("Collisions()", BeEmpty()),
			HaveField("Collisions()", HaveLen(1)),
		))
	})

	DescribeTable("is a POST where an API server creates nothing that has a version", func(ctx SpecContext, says func(*http.Request) *apierrors.StatusError) {
		w := begin(ctx)
		since := mark(ctx)
		e := w.start(func(c *engine.Config) {
			c.REST.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return sender(func(r *http.Request) (*http.Response, error) {
					if creates(r) {
						return answer(r, says(r))
					}
					return next.RoundTrip(r)
				})
			})
		})
		one, two := w.configMap("a", "key", "value"), w.configMap("b", "key", "value")
		e.converge(ctx, of(1, one, two))
		for _, o := range []*unstructured.Unstructured{one, two} {
			Expect(verbs(about(o, w.writes(ctx, since)))).To(Equal([]string{"create", "patch"}))
			Expect(entries(w.fetch(ctx, o))).To(ConsistOf("capstan Apply"))
		}
	},
		Entry("because nothing of that version is there", func(*http.Request) *apierrors.StatusError {
			return apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("no such version"))
		}),
		Entry("because it looks for the object", func(r *http.Request) *apierrors.StatusError {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, path.Base(r.URL.Path))
		}),
		Entry("because it calls that invalid", func(*http.Request) *apierrors.StatusError {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a",
				fielderrors.ErrorList{fielderrors.Forbidden(fielderrors.NewPath("metadata", "resourceVersion"), "must not be set on create")})
		}),
	)
})

// creates says whether a request is an apply that only creates.
func creates(r *http.Request) bool {
	if r.Method != http.MethodPatch || r.Body == nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte(`"resourceVersion":"1"`))
}
