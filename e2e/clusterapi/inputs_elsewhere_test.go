package clusterapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// outerAddress is one of this machine that is not loopback: a registry on loopback may send requests on to anywhere.
func outerAddress() net.IP {
	GinkgoHelper()
	addresses, err := net.InterfaceAddrs()
	Expect(err).NotTo(HaveOccurred())
	for _, address := range addresses {
		if network, is := address.(*net.IPNet); is && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP
		}
	}
	Fail("this machine has no IPv4 address but that of loopback")
	return nil
}

// certified is a certificate for an address, with itself in PEM.
func certified(address net.IP) (tls.Certificate, string) {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{address}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	Expect(err).NotTo(HaveOccurred())
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// ownOnly lets nobody but this machine in, whatever the address of a listener is.
type ownOnly struct{ net.Listener }

// Accept waits for a connection from the address that it listens on.
func (l ownOnly) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, known := conn.RemoteAddr().(*net.TCPAddr)
		if at, is := l.Addr().(*net.TCPAddr); is && known && from.IP.Equal(at.IP) {
			return conn, nil
		}
		if err := conn.Close(); err != nil {
			return nil, err
		}
	}
}

// serveAt serves with TLS at an address, to this machine alone, and gives back the host.
func serveAt(address net.IP, certificate tls.Certificate, handler http.HandlerFunc) string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address.String(), "0"))
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(handler)
	Expect(server.Listener.Close()).To(Succeed())
	server.Listener, server.TLS = ownOnly{listener}, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	DeferCleanup(server.Close)
	return listener.Addr().String()
}

var _ = Describe("A registry in the networks of the cluster", func() {
	It("is pulled from, and sends no request on to its neighbours", func(ctx SpecContext) {
		g := installSmall(ctx)
		address := outerAddress()
		certificate, authority := certified(address)
		Expect(env.Client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: configNamespace, Name: "user-ca-bundle"}, Data: map[string]string{"ca-bundle.crt": authority},
		})).To(Succeed())
		network := address.String() + "/32"
		Expect(env.Client.Create(ctx, &configv1.Network{
			ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton},
			Spec:       configv1.NetworkSpec{NetworkType: "OVNKubernetes"},
			Status: configv1.NetworkStatus{
				ClusterNetwork: []configv1.ClusterNetworkEntry{{CIDR: "10.128.0.0/14", HostPrefix: 23}}, ServiceNetwork: []string{network},
			},
		})).To(Succeed())

		var asked atomic.Int32
		neighbour := serveAt(address, certificate, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(http.StatusNotFound)
		})
		var sendsOn atomic.Bool
		sendsOn.Store(true)
		content := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: env.Registry.Host()})
		host := serveAt(address, certificate, func(w http.ResponseWriter, r *http.Request) {
			if sendsOn.Load() && strings.Contains(r.URL.Path, "/blobs/") {
				http.Redirect(w, r, "https://"+neighbour+r.URL.Path, http.StatusTemporaryRedirect)
				return
			}
			content.ServeHTTP(w, r)
		})
		reference := strings.Replace(push(ctx, small("two"))["small"], env.Registry.Host(), host, 1)
		Expect(env.SetImages(ctx, map[string]string{"small": reference})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, reference, "registry "+host, "sends requests on to "+neighbour,
			"in the network "+network+" of the cluster's pods or services")
		Expect(asked.Load()).To(BeZero(), "the neighbour was asked")
		sendsOn.Store(false)
		g.isReplaced(ctx, "two")
	})
})
