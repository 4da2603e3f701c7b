package inputs

import (
	"reflect"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
	"github.com/capstan-capi/capstan/phases/payload/job"
)

const (
	masters = "a-ignition-master"
	workers = "a-ignition-worker"
)

// finished is a management plane whose cluster does without its bootstrap, and without what that was started with.
func finished(t *testing.T) *bench {
	t.Helper()
	b := installed(t)
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	b.remove(made("a-ignition-bootstrap", nil))
	b.remove(made("a-ignition-keys", nil))
	b.see()
	return b
}

// stands has what is left of the payload kept, and says whether it is right then.
func (b *bench) stands() machine.Answer {
	b.t.Helper()
	for range 2 {
		seen, _ := b.see()
		_, err := seen.KeepStubs(b.t.Context())
		must(b.t, err)
	}
	_, facts := b.see()
	return guards.PayloadStands.Answer(facts)
}

func TestKeepStubs_gives_back_what_is_lost_or_altered(t *testing.T) {
	alter := func(change func(*corev1.Secret), names ...string) func(*bench) {
		return func(b *bench) {
			for _, name := range names {
				edit(b, &corev1.Secret{}, name, change)
			}
		}
	}
	lose := func(names ...string) func(*bench) {
		return func(b *bench) {
			for _, name := range names {
				b.remove(made(name, nil))
			}
		}
	}
	other := func(s *corev1.Secret) { s.Data["value"] = []byte(`{"ignition":{"version":"3.2.0"}}`) }
	for name, spoil := range map[string]func(*bench){
		"that of workers is gone":              lose(workers),
		"that of masters is gone":              lose(masters),
		"both are gone":                        lose(masters, workers),
		"that of workers is another":           alter(other, workers),
		"both are others":                      alter(other, masters, workers),
		"it is no Ignition":                    alter(func(s *corev1.Secret) { s.Data["value"] = []byte("{") }, workers),
		"it has lost the label of its Cluster": alter(func(s *corev1.Secret) { delete(s.Labels, clusterv1.ClusterNameLabel) }, workers),
		"nobody knows of what inputs it is":    alter(func(s *corev1.Secret) { delete(s.Annotations, v1alpha1.PayloadInputsAnnotation) }, workers),
	} {
		b := finished(t)
		before := map[string]*corev1.Secret{masters: b.secret(masters), workers: b.secret(workers)}
		spoil(b)
		if _, facts := b.see(); guards.PayloadStands.Answer(facts).Truth != machine.No {
			t.Errorf("%s, and that is not told", name)
		}
		if answer := b.stands(); answer.Truth != machine.Yes {
			t.Errorf("%s: %s", name, answer.Reason)
		}
		for secret, was := range before {
			if is := b.secret(secret); !reflect.DeepEqual(is.Data, was.Data) || is.Labels[clusterv1.ClusterNameLabel] != "c" || is.Annotations[v1alpha1.PayloadSumAnnotation] != was.Annotations[v1alpha1.PayloadSumAnnotation] {
				t.Errorf("%s: Secret %s is another one than before", name, secret)
			}
		}
		b.writes = nil
		if b.stands(); len(b.writes) > 0 {
			t.Errorf("%s: what is right was written: %v", name, b.writes)
		}
	}
}

func TestKeepStubs_makes_nothing_that_it_does_not_know(t *testing.T) {
	for name, spoil := range map[string]func(*bench){
		"it is somebody else's": func(b *bench) {
			edit(b, &corev1.Secret{}, workers, func(s *corev1.Secret) { s.OwnerReferences = nil })
		},
		"it was no twin": func(b *bench) {
			edit(b, &corev1.Secret{}, workers, func(s *corev1.Secret) {
				s.Data, s.Annotations[v1alpha1.PayloadSumAnnotation] = nil, strings.Repeat("0", 64)
			})
		},
		"the authority and both are gone": func(b *bench) {
			for _, name := range []string{"c-mcs", masters, workers} {
				b.remove(made(name, nil))
			}
		},
		"the inputs were edited and both are gone": func(b *bench) {
			edit(b, &corev1.Secret{}, "inputs", func(s *corev1.Secret) { s.Data = nil })
			b.remove(made(masters, nil))
			b.remove(made(workers, nil))
		},
	} {
		b := finished(t)
		spoil(b)
		b.writes = nil
		seen, facts := b.see()
		_, err := seen.KeepStubs(t.Context())
		if answer := guards.PayloadStands.Answer(facts); answer.Truth != machine.No || !strings.Contains(answer.Reason, workers) || len(b.writes) > 0 {
			t.Errorf("%s: it is told %q, and %v was written (%v)", name, answer.Reason, b.writes, err)
		}
	}
}

func TestKeepStubs_of_an_installer_give_each_role_back_by_the_other(t *testing.T) {
	b, _ := started(t)
	all := installers(t, "the installer")
	for role, config := range map[string]*[]byte{"master": &all.Master, "worker": &all.Worker} {
		text, err := ignition.Pointer("https://api-int.small.example.com:22623/config/"+role, []byte("the installer's own authority"))
		must(t, err)
		*config = text
	}
	data, err := job.Pack(all)
	must(t, err)
	b.ended(batchv1.JobComplete, data)
	answer, err := b.generate()
	must(t, err)
	if answer.Truth != machine.Yes {
		t.Fatal(answer.Reason)
	}
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	for _, name := range []string{workers, masters} {
		b.see()
		before := b.secret(name)
		b.remove(made(name, nil))
		if answer := b.stands(); answer.Truth != machine.Yes || !reflect.DeepEqual(b.secret(name).Data, before.Data) {
			t.Errorf("%s: %s", name, answer.Reason)
		}
	}
	b.remove(made(workers, nil))
	b.remove(made(masters, nil))
	if answer := b.stands(); answer.Truth != machine.No {
		t.Error("it was made of nothing")
	}
}

// unnoted is a payload beside which nobody has noted, or notes any more, which cluster it makes.
func unnoted(t *testing.T, roles ...string) (b *bench, id string) {
	t.Helper()
	b = installed(t)
	id = string(b.secret("a-ignition-keys").Data["cluster-id"])
	for _, role := range roles {
		edit(b, &corev1.Secret{}, "a-ignition-"+role, func(s *corev1.Secret) { delete(s.Annotations, v1alpha1.PayloadClusterIDAnnotation) })
	}
	b.restart(b.live)
	return b, id
}

func TestPayload_beside_which_no_cluster_is_noted_is_known_by_its_bootstrap_and_both_others_note_it(t *testing.T) {
	noted := func(b *bench, name, id string) {
		t.Helper()
		for _, secret := range []string{masters, workers} {
			if got := b.secret(secret).Annotations[v1alpha1.PayloadClusterIDAnnotation]; got != id || id == "" {
				t.Errorf("%s: Secret %s notes %q", name, secret, got)
			}
		}
		b.writes = nil
		if b.stands(); len(b.writes) > 0 {
			t.Errorf("%s: what is right was written: %v", name, b.writes)
		}
	}
	for name, gone := range map[string]bool{"the bootstrap's is there": false, "the bootstrap's went with the bootstrap": true} {
		b, id := unnoted(t, "bootstrap", "master", "worker")
		if _, facts := b.see(); facts.Payload.ClusterID != id {
			t.Errorf("%s: before the bootstrap is finished it is %q", name, facts.Payload.ClusterID)
		}
		b.change = func(f *guards.Facts) { f.Marks.Finished = true }
		if gone {
			b.remove(made("a-ignition-bootstrap", nil))
		} else {
			b.restart(b.live)
		}
		b.stands()
		noted(b, name, id)
	}
	b, id := unnoted(t, "master")
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	b.remove(made("a-ignition-bootstrap", nil))
	b.restart(b.live)
	b.stands()
	noted(b, "the other one has it", id)
}

func TestKeepStubs_takes_nobodys_word_for_the_cluster_whose_Secret_it_refuses(t *testing.T) {
	b := finished(t)
	b.remove(made(masters, nil))
	b.remove(made(workers, nil))
	another := made(workers, nil)
	another.Annotations = map[string]string{v1alpha1.PayloadClusterIDAnnotation: "99999999-2222-4333-8444-555555555555"}
	another.Labels = map[string]string{clusterv1.ClusterNameLabel: "c"}
	b.add(another)
	b.restart(b.live)
	seen, _ := b.see()
	_, err := seen.KeepStubs(t.Context())
	must(t, err)
	if id := b.secret(masters).Annotations[v1alpha1.PayloadClusterIDAnnotation]; id != "" {
		t.Errorf("it notes %q", id)
	}
}

func TestInputs_of_a_cluster_that_was_scaled_since_are_the_frozen_ones(t *testing.T) {
	b := finished(t)
	edit(b, &v1alpha1.OpenShiftControlPlane{}, key.Name, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.Replicas, p.Generation = new(int32(5)), p.Generation+1
	})
	if _, facts := b.see(); guards.InputsHaveDrifted.Answer(facts).Truth != machine.No {
		t.Errorf("it is told that %s", guards.InputsHaveDrifted.Answer(facts).Reason)
	}
	for _, name := range []string{masters, workers} {
		b.remove(made(name, nil))
	}
	if answer := b.stands(); answer.Truth != machine.Yes {
		t.Errorf("what is lost does not come back: %s", answer.Reason)
	}
}
