package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An API server that announces less than it serves", func() {
	for what, starting := range map[string]func(w *world, r *http.Request, next http.RoundTripper) (*http.Response, error){
		"lacks a group": func(w *world, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			return discovered(r, next, func(groups []any) []any {
				return slices.DeleteFunc(groups, func(g any) bool { return nameOf(g) == w.group })
			})
		},
		"lacks the kind of a definition": func(w *world, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			return discovered(r, next, func(groups []any) []any { return w.without(groups, "Current") })
		},
		"says that it is not ready": func(_ *world, r *http.Request, _ http.RoundTripper) (*http.Response, error) {
			if r.URL.Path == "/readyz" {
				return answered(r, http.StatusInternalServerError, refusing(http.StatusInternalServerError, "InternalError")), nil
			}
			return nil, nil
		},
	} {
		It("does not make a namespace look empty, while it "+what, func(ctx SpecContext) {
			w := begin(ctx)
			w.create(ctx, w.crd("thing"))
			extra := w.newNamespace("extra")
			var ready atomic.Bool
			e := w.start(meddle(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if ready.Load() {
					return nil, nil
				}
				return starting(w, r, next)
			}))
			rev := e.upgrade(ctx, w, extra)
			w.create(ctx, with(w.instance("thing", "theirs"), extra.GetName(), "metadata", "namespace"))
			report, err := e.Teardown(ctx, rev)
			Expect(err).To(MatchError(Or(ContainSubstring("does not announce"), ContainSubstring("ready"))))
			Expect(report.Complete()).To(BeFalse())
			Expect(w.fetch(ctx, extra).GetDeletionTimestamp()).To(BeNil())
			ready.Store(true)
			Expect(e.prune(ctx, rev, nil).WhyRetained()).To(ContainSubstring("1 object"))
		})

		It("does not make an object look gone, while it "+what, func(ctx SpecContext) {
			w := begin(ctx)
			thing := w.crd("thing")
			w.create(ctx, thing)
			first := w.start()
			first.install(ctx, of(1, w.instance("thing", "old"), w.configMap("a")))
			first.stop()
			var ready atomic.Bool
			e := w.start(meddle(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if ready.Load() {
					return nil, nil
				}
				if strings.HasPrefix(r.URL.Path, "/apis/"+w.group+"/") { // as long as it does not know of the group
					return answered(r, http.StatusNotFound, "404 page not found"), nil
				}
				return starting(w, r, next)
			}))
			rev := of(2, w.configMap("a"))
			e.converge(ctx, rev)
			report, err := e.Teardown(ctx, rev)
			Expect(err).To(MatchError(Or(ContainSubstring("does not announce"), ContainSubstring("ready"))))
			Expect(report.Gone).To(BeEmpty())
			ready.Store(true)
			Expect(e.install(ctx, rev).Gone).To(HaveLen(1))
			Expect(w.isGone(ctx, w.instance("thing", "old"))).To(Succeed())
		})
	}
})

var _ = Describe("An API server that has begun to start anew", func() {
	It("does not make an object look gone that was seen, or has lost its label", func(ctx SpecContext) {
		w := begin(ctx)
		w.create(ctx, w.crd("thing"))
		var starting atomic.Bool
		e := w.start(meddle(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
			if starting.Load() && strings.HasPrefix(r.URL.Path, "/apis/"+w.group+"/") { // it does not know of the group yet
				return answered(r, http.StatusNotFound, "404 page not found"), nil
			}
			return nil, nil
		}))
		e.install(ctx, of(1, w.instance("thing", "seen"), w.instance("thing", "bare"), w.configMap("a")))
		bare := w.fetch(ctx, w.instance("thing", "bare"))
		bare.SetLabels(nil)
		Expect(w.client.Update(ctx, bare)).To(Succeed())
		rev := of(2, w.configMap("a"))
		e.converge(ctx, rev)
		starting.Store(true)
		report, err := e.Teardown(ctx, rev)
		Expect(report.Gone).To(BeEmpty())
		Expect(err).To(MatchError(ContainSubstring("does not serve it")))
		starting.Store(false)
		Expect(e.install(ctx, rev).Gone).To(HaveLen(2))
		Expect(w.isGone(ctx, w.instance("thing", "seen"))).To(Succeed())
		Expect(w.isGone(ctx, w.instance("thing", "bare"))).To(Succeed())
	})
})

var _ = Describe("A definition that is never established", func() {
	It("is not waited for", func(ctx SpecContext) {
		w := begin(ctx)
		w.create(ctx, with(w.crd("gizmo"), []any{"gx"}, "spec", "names", "shortNames"))
		eventually(ctx, "the short name to be taken", func(ctx context.Context) error {
			return has(w.fetch(ctx, w.crd("gizmo")), []any{"gx"}, "status", "acceptedNames", "shortNames")
		})
		greedy := with(w.crd("gadget"), []any{"gx"}, "spec", "names", "shortNames")
		field(greedy, "spec", "versions").([]any)[0].(map[string]any)["name"] = "v9" // of which nothing else is
		w.create(ctx, greedy)
		e := w.start()
		rev := e.upgrade(ctx, w, w.newNamespace("extra"))
		e.deletes(ctx, rev)
	})
})

var _ = Describe("An object that is served as two kinds", func() {
	It("is adopted and removed once, as the kind that revisions use, with all care", func(ctx SpecContext) {
		w := begin(ctx)
		w.formerly(ctx, 770, w.newNamespace("full"))
		w.formerly(ctx, 770, w.newNamespace("empty"))
		w.create(ctx, w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NAME-full, name: theirs}}`))
		since := mark(ctx)
		e := w.start(legacy(formerInstaller), guarding(w.newNamespace("full"), w.newNamespace("empty")), meddle(projects))
		e.adopts(ctx, 770)
		rev := of(771, w.configMap("a"))
		e.converge(ctx, rev)
		report := e.prune(ctx, rev, nil)
		Expect(report.Gone).To(HaveLen(1))
		Expect(report.Gone[0].Key).To(Equal(engine.KeyOf(w.newNamespace("empty"))))
		Expect(report.Retained).To(HaveLen(1))
		Expect(report.Retained[0].Key).To(Equal(engine.KeyOf(w.newNamespace("full"))))
		Expect(w.fetch(ctx, w.newNamespace("full")).GetDeletionTimestamp()).To(BeNil())
		Expect(deletions(withoutInventories(successful(w.writes(ctx, since))))).To(ConsistOf("namespaces " + w.name("empty")))
	})

	It("counts once in a namespace, and not at all where one of the kinds does not", func(ctx SpecContext) {
		w := begin(ctx)
		extra := w.newNamespace("extra")
		e := w.start(meddle(accounts))
		rev := e.upgrade(ctx, w, extra)
		mine := w.create(ctx, w.object(`{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $NAME-extra, name: mine}}`))
		eventually(ctx, "the cluster to put its own there", func(ctx context.Context) error {
			_, err := w.get(ctx, w.object(`{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $NAME-extra, name: default}}`))
			return err
		})
		Expect(e.prune(ctx, rev, nil).WhyRetained()).To(ContainSubstring("1 object"))
		w.delete(ctx, mine)
		e.deletes(ctx, rev)
	})
})

// projects serves Namespaces as Projects too, in the way of OpenShift.
func projects(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	return served(r, next, "project.test.io", "Project", "projects", "Cluster", "/api/v1/namespaces")
}

// accounts serves ServiceAccounts as another kind too.
func accounts(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	return served(r, next, "account.test.io", "Account", "accounts", "Namespaced", "/api/v1/serviceaccounts")
}

// served serves a kind of kube-apiserver as one more kind.
func served(r *http.Request, next http.RoundTripper, group, kind, plural, scope, as string) (*http.Response, error) {
	base := "/apis/" + group + "/v1/"
	if path, is := strings.CutPrefix(r.URL.Path, base); is {
		r = r.Clone(r.Context())
		from, resource, _ := strings.Cut(strings.TrimPrefix(as, "/api/v1/"), "/")
		r.URL.Path = "/api/v1/" + strings.Replace(path, plural, from+resource, 1)
		return next.RoundTrip(r)
	}
	return discovered(r, next, func(groups []any) []any {
		return append(groups, map[string]any{
			"metadata": map[string]any{"name": group},
			"versions": []any{map[string]any{"version": "v1", "freshness": "Current", "resources": []any{map[string]any{
				"resource": plural, "singularResource": strings.ToLower(kind), "scope": scope,
				"responseKind": map[string]any{"group": group, "version": "v1", "kind": kind},
				"verbs":        []any{"get", "list", "watch", "delete"},
			}}}},
		})
	})
}

// discovered changes the groups that the API server announces.
func discovered(r *http.Request, next http.RoundTripper, change func([]any) []any) (*http.Response, error) {
	if r.URL.Path != "/apis" {
		return nil, nil
	}
	response, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, errors.Join(err, response.Body.Close())
	}
	var list map[string]any
	if err := json.Unmarshal(body, &list); err != nil || list["items"] == nil {
		return nil, fmt.Errorf("%s announces %s: %w", r.URL.Path, body, err)
	}
	list["items"] = change(list["items"].([]any))
	if body, err = json.Marshal(list); err != nil {
		return nil, err
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return response, nil
}

// without takes the kinds out of the world's own among announced groups, and says how fresh that is.
func (w *world) without(groups []any, freshness string) []any {
	for _, group := range groups {
		if nameOf(group) == w.group {
			for _, version := range group.(map[string]any)["versions"].([]any) {
				version.(map[string]any)["freshness"], version.(map[string]any)["resources"] = freshness, []any{}
			}
		}
	}
	return groups
}

func nameOf(group any) string {
	name, _ := group.(map[string]any)["metadata"].(map[string]any)["name"].(string)
	return name
}
