package images

import (
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestPuller_trusts_a_CA_of_one_registry_for_that_one_only(t *testing.T) {
	r := newRegistry(t)
	local := r.push(imageOf(t, profileAt(root+"/a", "a")))
	secure := func() (Ref, Document) {
		server := httptest.NewTLSServer(r)
		t.Cleanup(server.Close)
		address, err := url.Parse(server.URL)
		must(t, err)
		ref, err := ParseRef(address.Host + "/" + local.Repository() + "@" + local.Digest())
		must(t, err)
		return ref, Document{From: "key of a ConfigMap", Data: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
	}
	one, certificate := secure()
	two, _ := secure() // with the same certificate
	p := runPuller(t, Options{})
	p.use(Access{HostCAs: map[string]Document{one.Host(): certificate}})
	p.Want([]Ref{one, two})
	p.ready(one)
	_, err := p.failed(two)
	contains(t, err, "certificate that is not trusted", "additionalTrustedCA")
	p.use(Access{HostCAs: map[string]Document{one.Host(): certificate, two.Host(): certificate}})
	p.recovered(two)
	p.use(Access{HostCAs: map[string]Document{one.Host(): {From: "key of a ConfigMap", Data: []byte("none")}}})
	contains(t, errors.New(p.Warning()), "key of a ConfigMap has no certificate")
}
