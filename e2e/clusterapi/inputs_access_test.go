package clusterapi_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// configNamespace is where OpenShift keeps the pull secret.
const configNamespace = harness.ConfigNamespace

// startGuarded is a registry that has all that the suite's registry has, for
// whom knows its password. It gives back its host.
func startGuarded(user, password string) string {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: env.Registry.Host()})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="guarded"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	DeferCleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pullSecret is the cluster's pull secret with one entry.
func pullSecret(host, user, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: configNamespace, Name: "pull-secret"},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`,
			host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))},
	}
}

var _ = Describe("The way to a registry", func() {
	It("is opened by a pull secret that comes late, and again by one whose password is put right", func(ctx SpecContext) {
		g := installSmall(ctx)
		host := startGuarded("me", "right")
		reference := strings.Replace(push(ctx, small("two"))["small"], env.Registry.Host(), host, 1)
		Expect(env.SetImages(ctx, map[string]string{"small": reference})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, reference, "401 Unauthorized", "no pull secret has an entry for it")

		secret := pullSecret(host, "me", "wrong")
		Expect(env.Client.Create(ctx, secret)).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, reference, "401 Unauthorized", "asked with those of Secret "+configNamespace+"/pull-secret")

		secret.Data = pullSecret(host, "me", "right").Data
		Expect(env.Client.Update(ctx, secret)).To(Succeed())
		g.isReplaced(ctx, "two")
	})

	It("leads through the mirrors that the cluster names, and the source stays what is recorded", func(ctx SpecContext) {
		g := installSmall(ctx)
		m := startMirror("nothing")
		next := push(ctx, small("two"))["small"]
		refuseBut(m)
		Expect(env.SetImages(ctx, map[string]string{"small": next})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, next)

		Expect(env.Client.Create(ctx, &configv1.ImageDigestMirrorSet{
			ObjectMeta: metav1.ObjectMeta{Name: "mirrored"},
			Spec: configv1.ImageDigestMirrorSetSpec{ImageDigestMirrors: []configv1.ImageDigestMirrors{{
				Source: env.Registry.Host() + "/synthetic", Mirrors: []configv1.ImageMirror{configv1.ImageMirror(m.host + "/synthetic")},
			}}},
		})).To(Succeed())
		v := g.isReplaced(ctx, "two")
		Expect(string(v.Revision(v.Current()).Components[0].Image.Ref)).To(Equal(next))
	})
})
