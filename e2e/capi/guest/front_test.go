package guest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api/util/certs"
)

// certified is an authority and a client of it.
func certified(t *testing.T) (authority, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	by := authority{key: key}
	if by.certificate, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	asked := certs.Config{CommonName: "admin", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	signed, err := asked.NewSignedCert(key, by.certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return by, tls.Certificate{Certificate: [][]byte{signed.Raw}, PrivateKey: key}
}

// open is a front before a server that tells which path it was asked for, and a client of it with and without a certificate.
func open(t *testing.T) (address string, known, unknown *http.Client) {
	t.Helper()
	address, known, unknown, _ = openLacking(t)
	return address, known, unknown
}

// openLacking is open for a front that can be made to lack something.
func openLacking(t *testing.T) (address string, known, unknown *http.Client, without *lacks) {
	t.Helper()
	fake := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/apis/config.openshift.io/") {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/apis" {
			_, _ = io.WriteString(w, `{"groups":[{"name":"apps"}]}`)
			return
		}
		fmt.Fprintf(w, "fake %s at %s", r.URL.Path, r.Host)
	}))
	t.Cleanup(fake.Close)
	at, err := url.Parse(fake.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(at.Port(), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	by, client := certified(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	f, err := newFront(t.Context(), "127.0.0.1", int32(own), by, int32(port), &objects{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	roots := x509.NewCertPool()
	roots.AddCert(by.certificate)
	with := func(certificates ...tls.Certificate) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificates, MinVersion: tls.VersionTLS12}}}
	}
	return fmt.Sprintf("https://127.0.0.1:%d", own), with(client), with(), f.lacks
}

func ask(t *testing.T, c *http.Client, method, address, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestFront_tells_everybody_that_it_is_ready_and_nothing_else_without_a_certificate(t *testing.T) {
	address, known, unknown := open(t)
	if code, text := ask(t, unknown, http.MethodGet, address+"/readyz", ""); code != http.StatusOK || text != "ok" {
		t.Errorf("health answers %d %q", code, text)
	}
	if code, text := ask(t, unknown, http.MethodGet, address+ProbesPath, ""); code != http.StatusOK || text != "1\n" {
		t.Errorf("how often it was asked for that it answers with %d %q", code, text)
	}
	if code, _ := ask(t, unknown, http.MethodGet, address+"/api/v1/nodes", ""); code != http.StatusUnauthorized {
		t.Errorf("who has no certificate gets %d", code)
	}
	if code, text := ask(t, known, http.MethodGet, address+"/api/v1/nodes", ""); code != http.StatusOK || !strings.HasPrefix(text, "fake /api/v1/nodes at 127.0.0.1:") {
		t.Errorf("who has one gets %d %q", code, text)
	}
}

func TestFront_lacks_what_it_is_told_to_lack_and_nothing_else(t *testing.T) {
	address, known, _, without := openLacking(t)
	for _, row := range []struct {
		held             string
		nodes, operators int
		groups           string
	}{
		{"", http.StatusOK, http.StatusOK, "config.openshift.io"},
		{NoCredentials, http.StatusUnauthorized, http.StatusUnauthorized, "Unauthorized"},
		{NoKinds, http.StatusOK, http.StatusNotFound, `{"groups":[{"name":"apps"}]}`},
		{"", http.StatusOK, http.StatusOK, "config.openshift.io"},
	} {
		without.set([]string{row.held})
		if code, _ := ask(t, known, http.MethodGet, address+"/api/v1/nodes", ""); code != row.nodes {
			t.Errorf("lacking %q, Nodes get %d", row.held, code)
		}
		if code, _ := ask(t, known, http.MethodGet, address+"/apis/config.openshift.io/v1/clusteroperators", ""); code != row.operators {
			t.Errorf("lacking %q, ClusterOperators get %d", row.held, code)
		}
		if _, text := ask(t, known, http.MethodGet, address+"/apis", ""); !strings.Contains(text, row.groups) {
			t.Errorf("lacking %q, groups are %s", row.held, text)
		}
	}
}

func TestFront_without_haste_lets_everybody_wait_and_keeps_no_answer_back_afterwards(t *testing.T) {
	address, known, _, without := openLacking(t)
	without.set([]string{NoHaste})
	hasty := *known
	hasty.Timeout = slow / 10
	if answer, err := hasty.Get(address + "/readyz"); err == nil {
		answer.Body.Close()
		t.Error("who does not wait has an answer")
	}
	without.set(nil)
	hasty.Timeout = slow
	answer, err := hasty.Get(address + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

func TestFront_serves_the_groups_of_OpenShift(t *testing.T) {
	address, known, _ := open(t)
	const path = "/apis/config.openshift.io/v1/clusteroperators"
	for _, row := range []struct {
		method, path, body string
		code               int
		has                string
	}{
		{http.MethodGet, "/apis", "", http.StatusOK, `"config.openshift.io/v1"`},
		{http.MethodGet, "/apis", "", http.StatusOK, `"apps"`},
		{http.MethodGet, "/apis/operator.openshift.io/v1", "", http.StatusOK, `"etcds"`},
		{http.MethodGet, "/version", "", http.StatusOK, "v1."},
		{http.MethodGet, path + "/etcd", "", http.StatusNotFound, `"reason":"NotFound"`},
		{http.MethodPost, path, `{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"etcd"}}`, http.StatusOK, `"resourceVersion":"1"`},
		{http.MethodPatch, path + "/etcd/status", `{"status":{"versions":[]}}`, http.StatusOK, `"versions":[]`},
		{http.MethodPut, path + "/etcd", `{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"etcd","resourceVersion":"1"}}`, http.StatusConflict, `"reason":"Conflict"`},
		{http.MethodGet, path, "", http.StatusOK, `"kind":"ClusterOperatorList"`},
		{http.MethodGet, path + "?watch=true", "", http.StatusMethodNotAllowed, "MethodNotAllowed"},
		{http.MethodDelete, path + "/etcd", "", http.StatusOK, "Success"},
		{http.MethodDelete, path + "/etcd", "", http.StatusNotFound, "NotFound"},
		{http.MethodGet, "/apis/config.openshift.io/v1/unknown", "", http.StatusNotFound, "NotFound"},
	} {
		code, text := ask(t, known, row.method, address+row.path, row.body)
		if code != row.code || !strings.Contains(text, row.has) {
			t.Errorf("%s %s gets %d %s", row.method, row.path, code, text)
		}
	}
}
