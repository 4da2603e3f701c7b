package clusterapi

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/phases/images"
)

func TestReachRegistries_trusts_the_certificates_that_the_cluster_trusts(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "https://")
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	bundle := func(name, key string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ConfigNamespace, Name: name}, Data: map[string]string{key: certificate}}
	}
	config := &configv1.Image{ObjectMeta: metav1.ObjectMeta{Name: Singleton}}
	config.Spec.AdditionalTrustedCA.Name = "registry-cas"
	perHost := strings.Replace(host, ":", "..", 1)
	for name, row := range map[string]struct {
		there   []client.Object
		trusted bool
	}{
		"nothing":                                      {nil, false},
		"user-ca-bundle":                               {[]client.Object{bundle(userCABundle, userCABundleKey)}, true},
		"user-ca-bundle under another key":             {[]client.Object{bundle(userCABundle, "other.crt")}, false},
		"additionalTrustedCA":                          {[]client.Object{config, bundle("registry-cas", perHost)}, true},
		"additionalTrustedCA for another host":         {[]client.Object{config, bundle("registry-cas", "registry.example.com..5000")}, false},
		"additionalTrustedCA that is not there":        {[]client.Object{config}, false},
		"a ConfigMap that Image cluster does not name": {[]client.Object{bundle("registry-cas", perHost)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if failure := pulling(t, host, row.there); strings.Contains(failure, "certificate that is not trusted") == row.trusted {
				t.Errorf("its pull says %s", failure)
			}
		})
	}
}

// pulling has what a cluster with these objects says of an image of a registry that has no images.
func pulling(t *testing.T, host string, there []client.Object) string {
	t.Helper()
	changed := make(chan struct{}, 1)
	puller := images.NewPuller(images.Options{Notify: func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}})
	p := &Phases{Images: puller, Client: fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(there...).Build()}
	if err := p.reachRegistries(t.Context(), world{}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ref := images.Ref(host + "/providers/some@" + digest)
	puller.Want([]images.Ref{ref})
	go func() { ended <- puller.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for patience := time.After(30 * time.Second); ; {
		if state := puller.State(ref); state.Err != nil {
			return state.Err.Error()
		}
		select {
		case <-changed:
		case <-patience:
			t.Fatal("the pull does not end")
		}
	}
}
