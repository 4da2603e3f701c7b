package guest

import (
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// keep keeps the kubeconfig once.
func (w *world) keep(t *testing.T) (string, error) {
	t.Helper()
	seen, _ := w.see(finished)
	return seen.KeepKubeconfig(t.Context())
}

func TestKubeconfig_has_the_form_of_Cluster_API(t *testing.T) {
	w := connected(t)
	s := w.kubeconfig()
	if s.Type != clusterv1.ClusterSecretType || s.Labels[clusterv1.ClusterNameLabel] != "c" || !metav1.IsControlledBy(s, asked()) || len(s.Data) != 1 {
		t.Errorf("it is %+v of type %s", s.ObjectMeta, s.Type)
	}
	config, err := clientcmd.Load(s.Data["value"])
	must(t, err)
	if config.CurrentContext != "c-admin@c" || config.Clusters["c"].Server != w.guest.URL {
		t.Errorf("it is %+v", config)
	}
	_, facts := w.see()
	if left := facts.Kubeconfig.NotAfter.Sub(w.clock.Now()); !facts.Kubeconfig.There || facts.Kubeconfig.External || left < certs.DefaultCertDuration-time.Hour || left > certs.DefaultCertDuration+time.Hour {
		t.Errorf("the facts are %+v", facts.Kubeconfig)
	}
}

func TestKubeconfig_is_renewed_at_half_of_its_life_and_not_before(t *testing.T) {
	w := connected(t)
	first := w.kubeconfig()
	w.see()
	w.clock.Step(certs.DefaultCertDuration/2 - time.Hour)
	w.read = nil
	did, err := w.keep(t)
	if did != "" || err != nil || len(w.read) > 0 {
		t.Errorf("before: it did %q (%v) and read %v", did, err, w.read)
	}
	w.clock.Step(2 * time.Hour)
	if did, err = w.keep(t); did != "stored Secret c-kubeconfig" || err != nil {
		t.Errorf("after: it did %q, %v", did, err)
	}
	if second := w.kubeconfig(); string(second.Data["value"]) == string(first.Data["value"]) || second.UID != first.UID {
		t.Error("it is not another one")
	}
	if facts := w.ask(); !facts.Guest.API {
		t.Errorf("the guest does not take it: %s", facts.Guest.APIProblem)
	}
}

func TestKubeconfig_is_as_old_as_the_time_says_and_not_the_clock_that_never_goes_back(t *testing.T) {
	w := connected(t)
	w.now = func() time.Time { return w.clock.Now().Add(certs.DefaultCertDuration/2 + time.Hour) }
	if did, err := w.keep(t); did != "stored Secret c-kubeconfig" || err != nil {
		t.Errorf("it did %q, %v", did, err)
	}
}

func TestKubeconfig_of_ours_that_was_spoilt_or_leads_elsewhere_is_made_anew(t *testing.T) {
	for name, change := range map[string]func(*corev1.Secret){
		"no kubeconfig": func(s *corev1.Secret) { s.Data["value"] = []byte("hunter2: [") },
		"empty":         func(s *corev1.Secret) { s.Data = nil },
		"elsewhere": func(s *corev1.Secret) {
			s.Data["value"] = []byte(strings.ReplaceAll(string(s.Data["value"]), "127.0.0.1", "192.0.2.1"))
		},
	} {
		w := connected(t)
		s := w.kubeconfig()
		change(s)
		must(t, w.plane.Update(t.Context(), s))
		if did, err := w.keep(t); did == "" || err != nil {
			t.Errorf("%s: it did nothing (%v)", name, err)
		}
		if facts := w.ask(); !facts.Guest.API {
			t.Errorf("%s: %s", name, facts.Guest.APIProblem)
		}
	}
}

// given is a kubeconfig that somebody else has made.
func given(change func(*clientcmdapi.Config)) *corev1.Secret {
	c := clientcmdapi.NewConfig()
	c.Clusters["x"] = &clientcmdapi.Cluster{Server: "https://guest.example.com:6443"}
	c.AuthInfos["x"] = &clientcmdapi.AuthInfo{Token: "hunter2"}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "x", AuthInfo: "x"}
	c.CurrentContext = "x"
	change(c)
	data, _ := clientcmd.Write(*c)
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c-kubeconfig"}, Data: map[string][]byte{"value": data}}
}

func TestKubeconfig_of_somebody_else_is_used_as_it_is_and_never_written(t *testing.T) {
	w := newWorld(t, given(func(*clientcmdapi.Config) {}))
	before := w.kubeconfig().ResourceVersion
	did, err := w.keep(t)
	_, facts := w.see(finished)
	answer := guards.KubeconfigStands.Answer(facts)
	if did != "" || err != nil || w.kubeconfig().ResourceVersion != before || answer.Truth != machine.Yes || !strings.HasPrefix(answer.Reason, "ExternallyIssued") {
		t.Errorf("it did %q (%v), and is %s: %s", did, err, answer.Truth, answer.Reason)
	}
}

func TestKubeconfig_is_not_made_without_the_key_of_the_authority(t *testing.T) {
	w := newWorld(t)
	ca := &corev1.Secret{}
	must(t, w.plane.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: "c-ca"}, ca))
	delete(ca.Data, secret.TLSKeyDataName)
	must(t, w.plane.Update(t.Context(), ca))
	if did, err := w.keep(t); did != "" || err != nil {
		t.Errorf("it did %q, %v", did, err)
	}
	must(t, w.plane.Delete(t.Context(), ca))
	if did, err := w.keep(t); did != "" || err != nil {
		t.Errorf("without authority it did %q, %v", did, err)
	}
	_, facts := w.see(finished)
	if answer := guards.KubeconfigStands.Answer(facts); answer.Truth != machine.No {
		t.Errorf("it is %s: %s", answer.Truth, answer.Reason)
	}
}

func TestKubeconfig_that_names_a_program_or_a_file_is_not_used(t *testing.T) {
	for name, change := range map[string]func(*clientcmdapi.Config){
		"a program": func(c *clientcmdapi.Config) { c.AuthInfos["x"].Exec = &clientcmdapi.ExecConfig{Command: "sh"} },
		"a provider": func(c *clientcmdapi.Config) {
			c.AuthInfos["x"].AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "p"}
		},
		"a file of a token":       func(c *clientcmdapi.Config) { c.AuthInfos["x"].TokenFile = "/etc/passwd" },
		"a file of a certificate": func(c *clientcmdapi.Config) { c.AuthInfos["x"].ClientCertificate = "/etc/passwd" },
		"a file of a key":         func(c *clientcmdapi.Config) { c.AuthInfos["x"].ClientKey = "/etc/passwd" },
		"a file of an authority":  func(c *clientcmdapi.Config) { c.Clusters["x"].CertificateAuthority = "/etc/passwd" },
		"no TLS":                  func(c *clientcmdapi.Config) { c.Clusters["x"].Server = "http://guest.example.com" },
		"no server":               func(c *clientcmdapi.Config) { c.Clusters["x"].Server = "" },
		"no context":              func(c *clientcmdapi.Config) { c.CurrentContext = "" },
		"a bad authority":         func(c *clientcmdapi.Config) { c.Clusters["x"].CertificateAuthorityData = []byte("hunter2") },
		"a bad certificate": func(c *clientcmdapi.Config) {
			c.AuthInfos["x"].ClientCertificateData, c.AuthInfos["x"].ClientKeyData = []byte("hunter2"), []byte("hunter2")
		},
	} {
		w := newWorld(t, given(change))
		facts := w.ask()
		if facts.Guest.API || !strings.Contains(facts.Guest.APIProblem, "the Secret c-kubeconfig cannot be used: key value: ") || strings.Contains(facts.Guest.APIProblem, "hunter2") {
			t.Errorf("%s: %+v", name, facts.Guest)
		}
	}
}

func TestKubeconfig_that_is_gone_is_made_anew(t *testing.T) {
	w := connected(t)
	must(t, w.plane.Delete(t.Context(), w.kubeconfig()))
	if did, err := w.keep(t); did == "" || err != nil {
		t.Errorf("it did %q, %v", did, err)
	}
	w.kubeconfig()
}

// another is an authority that no guest knows.
func another(t *testing.T) *secret.Certificate {
	t.Helper()
	c := &secret.Certificate{Purpose: secret.ClusterCA}
	must(t, c.Generate())
	return c
}

// signed is a kubeconfig by an authority, that trusts another one.
func signed(t *testing.T, w *world, by, trusts *secret.Certificate) []byte {
	t.Helper()
	certificate, err := certs.DecodeCertPEM(by.KeyPair.Cert)
	must(t, err)
	key, err := certs.DecodePrivateKeyPEM(by.KeyPair.Key)
	must(t, err)
	data, err := (&signer{name: "x", certificate: certificate, key: key}).kubeconfig("c", w.guest.URL)
	must(t, err)
	config, err := clientcmd.Load(data)
	must(t, err)
	config.Clusters["c"].CertificateAuthorityData = trusts.KeyPair.Cert
	data, err = clientcmd.Write(*config)
	must(t, err)
	return data
}

func TestKubeconfig_of_ours_with_what_the_authority_has_not_issued_is_made_anew_once_the_guest_refuses_it(t *testing.T) {
	own, err := authority()
	must(t, err)
	other := another(t)
	for name, given := range map[string][]*secret.Certificate{"another certificate": {other, own}, "another authority": {own, other}, "both": {other, other}} {
		w := connected(t)
		s := w.kubeconfig()
		s.Data["value"] = signed(t, w, given[0], given[1])
		must(t, w.plane.Update(t.Context(), s))
		if facts := w.ask(); facts.Guest.API {
			t.Fatalf("%s: the guest takes it", name)
		}
		if did, err := w.keep(t); did != "" || err != nil {
			t.Errorf("%s: at once it did %q (%v)", name, did, err)
		}
		w.clock.Step(silence)
		w.ask()
		if did, err := w.keep(t); did == "" || err != nil {
			t.Errorf("%s: it did nothing (%v)", name, err)
		}
		if facts := w.ask(); !facts.Guest.API {
			t.Errorf("%s: %s", name, facts.Guest.APIProblem)
		}
	}
}

func TestKubeconfig_that_the_authority_has_issued_stays_whatever_the_guest_says_of_it(t *testing.T) {
	w := connected(t)
	w.guest.set(readyPath, status(403))
	w.ask()
	before := w.kubeconfig().ResourceVersion
	if did, err := w.keep(t); did != "" || err != nil || w.kubeconfig().ResourceVersion != before {
		t.Errorf("it did %q (%v)", did, err)
	}
}

func TestKubeconfig_that_works_is_not_replaced_by_one_of_another_authority(t *testing.T) {
	w := connected(t)
	w.ask()
	ca := &corev1.Secret{}
	must(t, w.plane.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: "c-ca"}, ca))
	other := another(t)
	ca.Data = map[string][]byte{secret.TLSCrtDataName: other.KeyPair.Cert, secret.TLSKeyDataName: other.KeyPair.Key}
	must(t, w.plane.Update(t.Context(), ca))
	w.clock.Step(certs.DefaultCertDuration/2 + time.Hour)
	before := w.kubeconfig().ResourceVersion
	did, err := w.keep(t)
	if did != "" || err == nil || !strings.Contains(err.Error(), "Secret c-ca is another authority") || w.kubeconfig().ResourceVersion != before {
		t.Errorf("it did %q (%v)", did, err)
	}
	if facts := w.ask(finished); !facts.Guest.API {
		t.Errorf("the guest is lost: %s", facts.Guest.APIProblem)
	}
	// Another process has not asked the guest yet, and one that is away has said nothing.
	w.Forget(key)
	if did, err := w.keep(t); did != "" || err == nil || w.kubeconfig().ResourceVersion != before {
		t.Errorf("another process did %q (%v)", did, err)
	}
}

func TestLine_that_is_gone_between_two_looks_is_an_error(t *testing.T) {
	w := connected(t)
	w.see(finished)
	w.mu.Lock()
	g := w.guests[key]
	w.mu.Unlock()
	g.mu.Lock()
	g.line = nil
	g.mu.Unlock()
	if l, _, err := w.lineOf(t.Context(), g, client.ObjectKey{Namespace: key.Namespace, Name: "c"}); l != nil || err == nil {
		t.Errorf("it is %v (%v)", l, err)
	}
}

func TestPoller_outlives_a_fault_of_its_own(t *testing.T) {
	w := connected(t)
	if found, same := w.unbroken(t.Context(), nil, wanted{cluster: client.ObjectKey{Namespace: key.Namespace, Name: "c"}}); same || !strings.Contains(found.problem, "a fault of this program") {
		t.Errorf("it has seen %+v", found)
	}
}

func TestPoller_reads_a_kubeconfig_once_for_whoever_asks_at_the_same_time(t *testing.T) {
	w := connected(t)
	seen, _ := w.see()
	seen.guest.mu.Lock()
	seen.guest.use(kubeconfig{}, nil)
	seen.guest.mu.Unlock()
	w.read = nil
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, there, err := w.readKubeconfig(t.Context(), seen.guest, client.ObjectKey{Namespace: key.Namespace, Name: "c"}); err != nil || !there {
				t.Errorf("it is there: %t, %v", there, err)
			}
		})
	}
	group.Wait()
	equal(t, "the requests", w.read, []string{"get c-kubeconfig"})
}
