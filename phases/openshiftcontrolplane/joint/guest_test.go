package joint

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capstan-capi/capstan/phases/phasestest"
)

// answering is the API of a guest that has an older release, no operators and no Nodes, and takes what it is asked for.
type answering struct {
	*httptest.Server
	counter *phasestest.Counter
}

const oldRelease = "registry.example.com/release@sha256:old"

func newGuest(t *testing.T) *answering {
	t.Helper()
	all, err := authorities()
	must(t, err)
	ca := all.GetByPurpose(secret.ClusterCA)
	certificate, err := certs.DecodeCertPEM(ca.KeyPair.Cert)
	must(t, err)
	signer, err := certs.DecodePrivateKeyPEM(ca.KeyPair.Key)
	must(t, err)
	key, err := certs.NewSigner("ECDSA-P256")
	must(t, err)
	serving, err := (&certs.Config{
		CommonName: "guest", AltNames: certs.AltNames{IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}).NewSignedCert(key, certificate, signer)
	must(t, err)
	g := &answering{}
	g.Server = httptest.NewUnstartedServer(g)
	g.TLS = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{serving.Raw}, PrivateKey: key}}}
	g.StartTLS()
	t.Cleanup(g.Close)
	return g
}

// endpoint is where the guest's API is.
func (g *answering) endpoint(t *testing.T) clusterv1.APIEndpoint {
	t.Helper()
	at, err := url.Parse(g.URL)
	must(t, err)
	port, err := strconv.Atoi(at.Port())
	must(t, err)
	return clusterv1.APIEndpoint{Host: at.Hostname(), Port: int32(port)}
}

func (g *answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := map[string]any{
		"/readyz": "ok", "/version": map[string]string{"gitVersion": "v1.35.2"}, "/api/v1/nodes": corev1.NodeList{},
		"/apis/config.openshift.io/v1/clusteroperators": configv1.ClusterOperatorList{},
		"/apis/config.openshift.io/v1/clusterversions/version": configv1.ClusterVersion{Status: configv1.ClusterVersionStatus{
			Desired: configv1.Release{Image: oldRelease, Version: "4.22.0"},
			History: []configv1.UpdateHistory{{State: configv1.CompletedUpdate, Image: oldRelease, Version: "4.22.0"}},
		}},
	}[r.URL.Path]
	if answer == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.Method == http.MethodPatch {
		g.counter.Count("ClusterVersion of the guest")
	}
	_ = json.NewEncoder(w).Encode(answer)
}
