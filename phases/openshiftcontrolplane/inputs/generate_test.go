package inputs

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
	"github.com/capstan-capi/capstan/phases/payload/keys"
)

var secrets = []string{"a-ignition-bootstrap", "a-ignition-keys", "a-ignition-master", "a-ignition-worker"}

func TestGenerateIgnition_stores_keys_first_and_then_the_three_configs(t *testing.T) {
	b := newBench(t, asked(), owner(), configured(t, ""), definition(), machineTemplate())
	b.freeze()
	b.writes = nil
	answer, err := b.generate()
	must(t, err)
	if answer.Truth != machine.Yes {
		t.Fatalf("it is %s: %s", answer.Truth, answer.Reason)
	}
	if want := []string{
		"create c-ca", "create c-etcd", "create c-proxy", "create c-sa", "create c-mcs",
		"create a-ignition-keys", "create a-ignition-bootstrap", "create a-ignition-master", "create a-ignition-worker",
	}; !slices.Equal(b.writes, want) {
		t.Errorf("it wrote %v, want %v", b.writes, want)
	}
	for _, name := range append([]string{"c-ca", "c-etcd", "c-proxy", "c-sa"}, secrets...) {
		s := b.secret(name)
		if s.Type != clusterv1.ClusterSecretType || s.Labels[clusterv1.ClusterNameLabel] != "c" || !metav1.IsControlledBy(s, asked()) {
			t.Errorf("%s is %+v of type %s", name, s.ObjectMeta, s.Type)
		}
	}
	_, facts := b.see()
	if want := noon.Add(24 * time.Hour); !facts.Payload.NotAfter.Equal(want) || facts.Payload.Ending {
		t.Errorf("it ends at %s (soon: %v), want %s", facts.Payload.NotAfter, facts.Payload.Ending, want)
	}
}

func TestGenerateIgnition_masters_and_workers_point_at_the_machine_config_server_and_trust_its_authority(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*v1alpha1.OpenShiftControlPlane)
		host   string
	}{
		"the internal name": {func(*v1alpha1.OpenShiftControlPlane) {}, "api-int.small.example.com"},
		"the host of the spec": {func(p *v1alpha1.OpenShiftControlPlane) {
			p.Spec.MachineConfigServer = &v1alpha1.MachineConfigServer{Host: "10.0.0.7"}
		}, "10.0.0.7"},
	} {
		b := installed(t, row.change)
		authority := b.secret("c-mcs").Data[secret.TLSCrtDataName]
		for _, role := range []payload.Role{payload.Master, payload.Worker} {
			source, err := ignition.PointsAt(b.secret(payload.SecretName("a", role)).Data[payload.ValueKey])
			must(t, err)
			if want := "https://" + row.host + ":22623/config/" + string(role); source.URL != want || len(source.Authorities) != 1 || len(authority) == 0 {
				t.Errorf("%s: role %s points at %+v, want %s", name, role, source, want)
			}
		}
	}
}

func TestGenerateIgnition_gives_the_same_bytes_wherever_it_was_interrupted(t *testing.T) {
	b := installed(t)
	all := map[string]map[string][]byte{}
	for _, name := range secrets {
		all[name] = b.secret(name).Data
	}
	for _, name := range secrets {
		if name == "a-ignition-keys" {
			continue
		}
		b.remove(made(name, nil))
		b.restart(b.live)
		b.now = b.now.Add(time.Hour)
		if _, facts := b.see(); guards.PayloadStands.Answer(facts).Truth != machine.No {
			t.Errorf("%s is gone, and the payload stands", name)
		}
		answer, err := b.generate()
		must(t, err)
		if answer.Truth != machine.Yes || !reflect.DeepEqual(b.secret(name).Data, all[name]) {
			t.Errorf("%s is another one than before (%s)", name, answer.Reason)
		}
	}
}

func TestGenerateIgnition_killed_before_any_write_goes_on_to_the_same_end(t *testing.T) {
	for kill := range 4 {
		b := whole(t)
		b.freeze()
		b.writes = nil
		b.refuse = func(string) error {
			if len(b.writes) > kill {
				return errBroken
			}
			return nil
		}
		if _, err := b.generate(); err == nil {
			t.Fatalf("write %d was not refused", kill)
		}
		b.refuse = nil
		b.restart(b.live)
		answer, err := b.generate()
		must(t, err)
		if answer.Truth != machine.Yes {
			t.Errorf("killed before write %d: %s", kill, answer.Reason)
		}
		if keys := b.secret("a-ignition-keys"); len(keys.Data) == 0 {
			t.Error("no keys")
		}
	}
}

func TestGenerateIgnition_writes_nothing_when_the_payload_stands(t *testing.T) {
	b := installed(t)
	answer, err := b.generate()
	must(t, err)
	if answer.Truth != machine.Yes || len(b.writes) > 0 {
		t.Errorf("it wrote %v (%s)", b.writes, answer.Reason)
	}
}

func TestGenerateIgnition_puts_back_what_was_altered(t *testing.T) {
	for name, change := range map[string]func(*corev1.Secret){
		"another config":  func(s *corev1.Secret) { s.Data[payload.ValueKey] = []byte(`{"ignition":{"version":"3.2.0"}}`) },
		"no Ignition":     func(s *corev1.Secret) { s.Data[payload.ValueKey] = []byte(`{`) },
		"no config":       func(s *corev1.Secret) { s.Data = nil },
		"no time":         func(s *corev1.Secret) { delete(s.Annotations, v1alpha1.PayloadNotAfterAnnotation) },
		"of other inputs": func(s *corev1.Secret) { s.Annotations[v1alpha1.PayloadInputsAnnotation] = "others" },
	} {
		b := installed(t)
		before := b.secret("a-ignition-master")
		edit(b, &corev1.Secret{}, "a-ignition-master", change)
		if _, facts := b.see(); guards.PayloadStands.Answer(facts).Truth != machine.No {
			t.Errorf("%s: the payload stands", name)
		}
		answer, err := b.generate()
		must(t, err)
		if after := b.secret("a-ignition-master"); answer.Truth != machine.Yes || !reflect.DeepEqual(after.Data, before.Data) || !reflect.DeepEqual(after.Annotations, before.Annotations) {
			t.Errorf("%s: it was not put back: %s", name, answer.Reason)
		}
	}
}

func TestGenerateIgnition_overwrites_nothing_that_is_somebody_elses(t *testing.T) {
	for _, name := range secrets {
		b := whole(t)
		b.freeze()
		b.add(made(name, map[string][]byte{"a": []byte("b")}))
		answer, err := b.generate()
		if err == nil || !strings.Contains(err.Error(), name) || answer.Truth == machine.Yes {
			t.Errorf("%s: %v, %s", name, err, answer.Reason)
		}
		if data := b.secret(name).Data; string(data["a"]) != "b" || len(data) != 1 {
			t.Errorf("%s was overwritten", name)
		}
	}
}

func TestGenerateIgnition_refuses_other_inputs_than_the_frozen_ones(t *testing.T) {
	b := whole(t)
	b.freeze()
	edit(b, &corev1.Secret{}, "inputs", func(s *corev1.Secret) {
		s.Data[payload.ConfigKey] = append(s.Data[payload.ConfigKey], "fips: true\n"...)
	})
	b.writes = nil
	if _, err := b.generate(); err == nil || !strings.Contains(err.Error(), "edited after they were frozen") || len(b.writes) > 0 {
		t.Errorf("it says %v and wrote %v", err, b.writes)
	}
}

func TestGenerateIgnition_makes_anew_what_would_end_too_soon_while_no_Machine_exists(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*bench)
		facts  func(*guards.Facts)
		// remade says that it is, stands that it stands then.
		remade, stands bool
	}{
		"no Machine": {func(*bench) {}, func(*guards.Facts) {}, true, true},
		"one was intended": {func(b *bench) {
			edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) {
				p.Annotations[v1alpha1.BootstrapMark] = v1alpha1.BootstrapIntended
			})
		}, func(*guards.Facts) {}, true, true},
		"one was intended, and no list shows it yet": {func(b *bench) {
			edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) {
				p.Annotations[v1alpha1.BootstrapMark] = v1alpha1.BootstrapIntended
			})
			b.add(&clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "a-bootstrap", OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(asked(), v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane")),
			}}})
		}, func(*guards.Facts) {}, false, false},
		"the attempt is cleared away": {func(b *bench) {
			edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.ClearingMark] = "r" })
		}, func(*guards.Facts) {}, false, false},
		"one is there": {func(*bench) {}, func(f *guards.Facts) { f.Bootstrap.UID = "m1" }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := installed(t)
			before := map[string]*corev1.Secret{}
			for _, name := range secrets {
				before[name] = b.secret(name)
			}
			row.change(b)
			b.change = func(f *guards.Facts) {
				f.Bootstrap.Known, f.Provisioned.Known = true, true
				row.facts(f)
			}
			b.now = noon.Add(23 * time.Hour)
			if _, facts := b.see(); !facts.Payload.Ending {
				t.Error("it does not end")
			}
			answer, err := b.generate()
			must(t, err)
			if stands := answer.Truth == machine.Yes; stands != row.stands {
				t.Errorf("it stands: %t (%s)", stands, answer.Reason)
			}
			after := b.secret("a-ignition-bootstrap")
			if remade := !reflect.DeepEqual(after.Data, before["a-ignition-bootstrap"].Data); remade != row.remade {
				t.Errorf("it was made anew: %v", remade)
			}
			if id := b.secret("a-ignition-keys").Data["cluster-id"]; string(id) != string(before["a-ignition-keys"].Data["cluster-id"]) {
				t.Error("the cluster has another UUID")
			}
			if _, facts := b.see(); facts.Payload.Ending == row.remade {
				t.Errorf("it ends too soon: %v", facts.Payload.Ending)
			}
		})
	}
}

func TestGenerateIgnition_makes_nothing_anew_that_machines_were_made_with(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*bench)
		says   string
	}{
		"an authority is gone": {func(b *bench) { b.remove(made("c-etcd", nil)) }, "Secret c-etcd is gone"},
		"the keys are gone":    {func(b *bench) { b.remove(made("a-ignition-keys", nil)) }, "Secret a-ignition-keys is gone, or not what it was"},
		"the keys were altered": {func(b *bench) {
			edit(b, &corev1.Secret{}, "a-ignition-keys", func(s *corev1.Secret) { delete(s.Data, "admin.crt") })
		}, "a-ignition-keys"},
		"another authority": {func(b *bench) { b.anotherAuthority() }, "a-ignition-keys"},
		"nobody knows the time": {func(b *bench) {
			edit(b, &corev1.Secret{}, "a-ignition-keys", func(s *corev1.Secret) { s.Annotations = nil })
		}, "a-ignition-keys"},
	} {
		t.Run(name, func(t *testing.T) {
			b := installed(t)
			row.change(b)
			b.remove(made("a-ignition-bootstrap", nil))
			edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.BootstrapMark] = "u1" })
			b.writes = nil
			answer, err := b.generate()
			if _, is := errors.AsType[lostError](err); !is || !strings.Contains(err.Error(), row.says) || answer.Truth == machine.Yes || len(b.writes) > 0 {
				t.Errorf("it says %v, wrote %v, and is %s", err, b.writes, answer.Truth)
			}
		})
	}
}

func TestGenerateIgnition_says_what_is_too_large_and_keeps_it_compressed_for_a_stub(t *testing.T) {
	large := manifests("m1", "openshift", settings+"data:\n  a: "+strings.Repeat("hunter2 ", 60_000)+"\n")
	more := manifests("m2", "openshift", strings.Replace(string(large.Data["m1.yaml"]), "extra", "more", 1))
	refused := whole(t, chosen)
	refused.add(large.DeepCopy(), more.DeepCopy())
	refused.freeze()
	if _, err := refused.generate(); err == nil || !machine.IsTerminal(err) || !strings.Contains(err.Error(), "spec.ignition.delivery to Stub") {
		t.Errorf("it says %v", err)
	}
	b := whole(t, chosen, func(p *v1alpha1.OpenShiftControlPlane) { p.Spec.Ignition.Delivery = v1alpha1.StubDelivery })
	b.add(large, more)
	b.freeze()
	answer, err := b.generate()
	must(t, err)
	data := b.secret("a-ignition-bootstrap").Data
	config, err := payload.Unpacked(data)
	must(t, err)
	if answer.Truth != machine.Yes || len(data[payload.ValueKey]) > 0 || len(config) < 1<<20 || !json.Valid(config) {
		t.Errorf("it is %s (%s), with %d bytes", answer.Truth, answer.Reason, len(config))
	}
}

func TestGenerateIgnition_an_authority_without_its_key_is_named(t *testing.T) {
	b := whole(t)
	edit(b, &corev1.Secret{}, "c-ca", func(s *corev1.Secret) { delete(s.Data, secret.TLSKeyDataName) })
	b.freeze()
	if _, err := b.generate(); err == nil || !strings.Contains(err.Error(), "the Secret <cluster>-ca has no tls.key") {
		t.Errorf("it says %v", err)
	}
}

func TestPayload_is_not_read_once_the_bootstrap_is_finished(t *testing.T) {
	b := installed(t)
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	b.remove(made("a-ignition-bootstrap", nil))
	b.restart(b.live)
	b.read = nil
	if _, facts := b.see(); !facts.Payload.Roles.IsDone() || facts.Payload.Roles.Wanted != 2 || facts.Payload.Ending {
		t.Errorf("it says %+v", facts.Payload)
	}
	if len(b.read) > 0 {
		t.Errorf("another process read %v, and nothing has changed", b.read)
	}
	edit(b, &corev1.Secret{}, "inputs", func(s *corev1.Secret) { s.Data = nil })
	b.restart(b.live)
	b.read = nil
	if _, facts := b.see(); guards.InputsHaveDrifted.Answer(facts).Truth != machine.Yes || !slices.Equal(b.read, []string{"get inputs"}) {
		t.Errorf("of inputs that have changed it read %v", b.read)
	}
	b.remove(made("a-ignition-worker", nil))
	b.restart(b.live)
	if _, facts := b.see(); guards.InputsHaveDrifted.Answer(facts).Truth != machine.Yes {
		t.Error("nothing tells the versions, and inputs that have changed have not drifted")
	}
}

func TestCertificates_are_told_of_by_the_Secrets_that_are_there(t *testing.T) {
	b := installed(t)
	if _, facts := b.see(); !facts.Certificates.IsDone() || facts.Certificates.Wanted != len(keys.Purposes) {
		t.Errorf("with all of them: %+v", facts.Certificates)
	}
	b.remove(made("c-sa", nil))
	if _, facts := b.see(); !slices.Equal(facts.Certificates.Missing, []string{"Secret c-sa"}) {
		t.Errorf("without one: %+v", facts.Certificates)
	}
	if _, facts := whole(t, byInstaller).see(); !facts.Certificates.Known || facts.Certificates.Wanted != 0 {
		t.Errorf("by the installer: %+v", facts.Certificates)
	}
}
