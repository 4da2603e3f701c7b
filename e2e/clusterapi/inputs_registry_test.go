package clusterapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/providers"
)

// refuse makes the registry answer every request with an HTTP status, until the
// spec ends or obey is called.
func refuse(status int) {
	env.Registry.SetFault(func(*http.Request) int { return status })
	DeferCleanup(obey)
}

func obey() { env.Registry.SetFault(nil) }

// mirror is a registry that has all that the suite's registry has, and that
// serves wrong bytes of one kind while it lies.
type mirror struct {
	host string
	lies atomic.Bool
}

// startMirror takes manifests or blobs for what to lie about.
func startMirror(about string) *mirror {
	m := &mirror{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: env.Registry.Host()})
	proxy.ModifyResponse = func(answer *http.Response) error {
		if m.lies.Load() && answer.StatusCode == http.StatusOK && strings.Contains(answer.Request.URL.Path, "/"+about+"/sha256:") {
			return corrupt(answer)
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	DeferCleanup(server.Close)
	m.host = strings.TrimPrefix(server.URL, "http://")
	return m
}

// corrupt changes one byte of the body, and nothing that the headers tell of it.
func corrupt(answer *http.Response) error {
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	body[len(body)-1] ^= 1
	answer.Body = io.NopCloser(strings.NewReader(string(body)))
	return nil
}

var _ = Describe("A registry in trouble", func() {
	stop := func() {
		Expect(env.Registry.Stop()).To(Succeed())
		DeferCleanup(env.Registry.Restart)
	}
	restart := func() { Expect(env.Registry.Restart()).To(Succeed()) }

	DescribeTable("holds the next revision up until it has recovered, and nothing else",
		func(ctx SpecContext, begins, ends func(), texts ...string) {
			g := installSmall(ctx)
			next := push(ctx, small("two"))
			begins()
			Expect(env.SetImages(ctx, next)).To(Succeed())
			g.survives(ctx, revisionController, ephemeral, append(texts, next["small"], "registry "+env.Registry.Host())...)
			ends()
			g.isReplaced(ctx, "two")
		},
		Entry("it cannot be reached", stop, restart, "cannot be reached", "connection refused", "check that"),
		Entry("it asks for credentials", func() { refuse(http.StatusUnauthorized) }, obey, "401 Unauthorized", "pull secret"),
		Entry("it forbids the pull", func() { refuse(http.StatusForbidden) }, obey, "403 Forbidden", "pull secret"),
		Entry("it fails by itself", func() { refuse(http.StatusInternalServerError) }, obey, "500 Internal Server Error", "the registry's own log"),
	)

	It("is told of an image that it does not have, and asked again until it has it", func(ctx SpecContext) {
		g := installSmall(ctx)
		image, err := providers.Image(small("pushed late").files())
		Expect(err).NotTo(HaveOccurred())
		digest, err := image.Digest()
		Expect(err).NotTo(HaveOccurred())
		reference := env.Registry.Host() + "/synthetic/small@" + digest.String()
		Expect(env.SetImages(ctx, map[string]string{"small": reference})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, reference, "does not have manifest "+digest.String(), "404 Not Found", "pushed or mirrored")
		push(ctx, small("pushed late"))
		g.isReplaced(ctx, "pushed late")
	})

	DescribeTable("is not believed when what it serves does not match the digest",
		func(ctx SpecContext, about, name string) {
			g := installSmall(ctx)
			m := startMirror(about)
			m.lies.Store(true)
			reference := strings.Replace(push(ctx, small("two"))["small"], env.Registry.Host(), m.host, 1)
			Expect(env.SetImages(ctx, map[string]string{"small": reference})).To(Succeed())
			g.survives(ctx, revisionController, ephemeral, reference,
				"registry "+m.host+" serves", "with the digest sha256:", "as "+name+" sha256:", "repair or purge that copy")
			m.lies.Store(false)
			g.isReplaced(ctx, "two")
		},
		Entry("of a manifest", "manifests", "manifest"),
		Entry("of a layer", "blobs", "blob"),
	)

	It("holds nothing up for which the release gives another registry", func(ctx SpecContext) {
		g := installSmall(ctx)
		m := startMirror("nothing")
		next := push(ctx, small("two"))["small"]
		refuseBut(m)
		Expect(env.SetImages(ctx, map[string]string{"small": next})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, next)
		Expect(env.SetImages(ctx, map[string]string{"small": strings.Replace(next, env.Registry.Host(), m.host, 1)})).To(Succeed())
		g.isReplaced(ctx, "two")
	})
})

// refuseBut makes the registry refuse all but what comes through the mirror.
func refuseBut(m *mirror) {
	env.Registry.SetFault(func(request *http.Request) int {
		if request.Host == m.host {
			return 0
		}
		return http.StatusServiceUnavailable
	})
	DeferCleanup(obey)
}
