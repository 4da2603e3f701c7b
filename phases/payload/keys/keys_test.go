package keys

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

var names = Names{MachineConfigServer: []string{"api-int.small.example.com", "192.168.0.5"}, APIServer: []string{"api.small.example.com", "127.0.0.1"}}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// generated are authorities made once, since their keys take long.
var generated = sync.OnceValues(func() (secret.Certificates, error) {
	all := Authorities()
	return all, Generate(all)
})

// authorities are a copy that a test may spoil.
func authorities(t testing.TB) secret.Certificates {
	t.Helper()
	all, err := generated()
	must(t, err)
	var copied secret.Certificates
	for _, one := range all {
		c := *one
		pair := *one.KeyPair
		c.KeyPair = &pair
		copied = append(copied, &c)
	}
	return copied
}

func TestComplete_makes_what_is_missing_and_nothing_again(t *testing.T) {
	all := authorities(t)
	first, err := Complete(nil, all, names)
	must(t, err)
	again, err := Complete(first, all, names)
	must(t, err)
	if !reflect.DeepEqual(first, again) || len(first) != 7 {
		t.Errorf("%d are stored, and again %d", len(first), len(again))
	}
	m, err := Read(first, all, names)
	must(t, err)
	if len(m.ClusterID) != 36 || len(m.Admin.Key) == 0 || !bytes.Equal(m.EtcdCA.Key, all.GetByPurpose(secret.EtcdCA).KeyPair.Key) {
		t.Errorf("it has read %+v", m.ClusterID)
	}

	for name, spoil := range map[string]struct {
		change func(map[string][]byte)
		remade []string
	}{
		"one is gone":      {func(m map[string][]byte) { delete(m, "admin.key") }, []string{"admin.crt", "admin.key"}},
		"one is torn":      {func(m map[string][]byte) { m["kube-apiserver.crt"] = m["kube-apiserver.crt"][:100] }, []string{"kube-apiserver.crt", "kube-apiserver.key"}},
		"keys are swapped": {func(m map[string][]byte) { m["admin.key"] = m["kube-apiserver.key"] }, []string{"admin.crt", "admin.key"}},
		"another authority's is": {func(m map[string][]byte) {
			m["admin.key"], m["admin.crt"] = m["machine-config-server.key"], m["machine-config-server.crt"]
		}, []string{"admin.crt", "admin.key"}},
		"the cluster has no ID": {func(m map[string][]byte) { delete(m, ClusterIDKey) }, []string{ClusterIDKey}},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := maps.Clone(first)
			spoil.change(spoilt)
			if _, err := Read(spoilt, all, names); err == nil || strings.Contains(err.Error(), "PRIVATE") {
				t.Errorf("read, it says %v", err)
			}
			healed, err := Complete(spoilt, all, names)
			must(t, err)
			_, err = Read(healed, all, names)
			must(t, err)
			var changed []string
			for _, name := range []string{"admin.crt", "admin.key", ClusterIDKey, "kube-apiserver.crt", "kube-apiserver.key", "machine-config-server.crt", "machine-config-server.key"} {
				if !bytes.Equal(healed[name], first[name]) {
					changed = append(changed, name)
				}
			}
			if !reflect.DeepEqual(changed, spoil.remade) {
				t.Errorf("it made %v anew, want %v", changed, spoil.remade)
			}
		})
	}
}

func TestGenerate_makes_the_authorities_that_are_missing_and_no_other(t *testing.T) {
	all := authorities(t)
	kept := *all.GetByPurpose(secret.ClusterCA).KeyPair
	all.GetByPurpose(MachineConfigServer).KeyPair = nil
	must(t, Generate(all))
	if !reflect.DeepEqual(*all.GetByPurpose(secret.ClusterCA).KeyPair, kept) {
		t.Error("one that is there is made anew")
	}
	made := all.GetByPurpose(MachineConfigServer)
	if made.KeyPair == nil || !made.Generated {
		t.Fatalf("one that is missing is %+v", made)
	}
	if _, err := Complete(nil, all, names); err != nil {
		t.Errorf("what is made cannot be signed with: %v", err)
	}
}

func TestComplete_signs_anew_for_other_names(t *testing.T) {
	all := authorities(t)
	first, err := Complete(nil, all, names)
	must(t, err)
	second, err := Complete(first, all, Names{MachineConfigServer: []string{"192.168.0.6", "other.example.com"}, APIServer: names.APIServer})
	must(t, err)
	if bytes.Equal(first["machine-config-server.crt"], second["machine-config-server.crt"]) || !bytes.Equal(first["admin.crt"], second["admin.crt"]) {
		t.Error("not that certificate, and no other, is made anew")
	}
	certificate, err := certs.DecodeCertPEM(second["machine-config-server.crt"])
	must(t, err)
	must(t, certificate.VerifyHostname("192.168.0.6"))
	must(t, certificate.VerifyHostname("other.example.com"))
}

func TestComplete_says_what_an_authority_lacks(t *testing.T) {
	other, err := certs.NewPrivateKey()
	must(t, err)
	for name, c := range map[string]struct {
		spoil func(*certs.KeyPair)
		says  string
	}{
		"no certificate":  {func(p *certs.KeyPair) { p.Cert = nil }, "the Secret <cluster>-mcs has no tls.crt"},
		"a torn one":      {func(p *certs.KeyPair) { p.Cert = []byte("hunter2") }, "tls.crt of the Secret <cluster>-mcs is no certificate"},
		"a torn key":      {func(p *certs.KeyPair) { p.Key = []byte("hunter2") }, "tls.key of the Secret <cluster>-mcs is no key"},
		"another's key":   {func(p *certs.KeyPair) { p.Key = certs.EncodePrivateKeyPEM(other) }, "tls.key is not the key of tls.crt"},
		"no key":          {func(p *certs.KeyPair) { p.Key = nil }, "no certificate can be signed by it"},
		"no pair at all":  {nil, "the Secret <cluster>-mcs has no tls.crt"},
		"a leaf, no root": {func(p *certs.KeyPair) { *p = leafPair(t) }, "is no certificate of an authority"},
	} {
		t.Run(name, func(t *testing.T) {
			all := authorities(t)
			mcs := all.GetByPurpose(MachineConfigServer)
			if c.spoil == nil {
				mcs.KeyPair = nil
			} else {
				c.spoil(mcs.KeyPair)
			}
			_, err := Complete(nil, all, names)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
			if _, keyless := errors.AsType[KeylessError](err); keyless != (name == "no key") {
				t.Errorf("it is %T", err)
			}
		})
	}
}

func TestComplete_needs_no_key_where_all_is_signed(t *testing.T) {
	all := authorities(t)
	first, err := Complete(nil, all, names)
	must(t, err)
	all.GetByPurpose(secret.ClusterCA).KeyPair.Key = nil
	again, err := Complete(first, all, names)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("it says %v", err)
	}
	_, err = Read(first, all, names)
	must(t, err)
	all.GetByPurpose(secret.ServiceAccount).KeyPair.Cert = []byte("hunter2")
	if _, err := Read(first, all, names); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("with a torn key of service accounts it says %v", err)
	}
}

func leafPair(t testing.TB) certs.KeyPair {
	t.Helper()
	made, err := Complete(nil, authorities(t), names)
	must(t, err)
	return certs.KeyPair{Cert: made["admin.crt"], Key: made["admin.key"]}
}
