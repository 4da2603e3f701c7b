package inputs

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// An attempt has one payload. What follows is what could make a second one.

func TestPayload_of_a_tag_that_has_moved_is_not_made_once_machines_have_the_first_one(t *testing.T) {
	b := installed(t, func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.ReleaseImage, p.Spec.ReleaseImagePolicy = "registry.example.com/release:4.22", v1alpha1.TagPolicy
	})
	edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.BootstrapMark] = "u1" })
	before := b.secret("a-ignition-bootstrap").Data
	b.remove(made("a-ignition-master", nil))
	b.releases.tagged = strings.ReplaceAll(image, "000", "111")
	b.restart(b.live)
	b.writes = nil
	_, err := b.generate()
	if _, is := errors.AsType[lostError](err); !is || len(b.writes) > 0 {
		t.Errorf("it says %v, and wrote %v", err, b.writes)
	}
	b.releases.tagged = ""
	b.restart(b.live)
	if answer, err := b.generate(); err != nil || answer.Truth != machine.Yes || !reflect.DeepEqual(b.secret("a-ignition-bootstrap").Data, before) {
		t.Errorf("once the tag is back: %s (%v)", answer.Reason, err)
	}
}

// Two processes think that they lead. One stands still before a write, the other one goes on.
func TestPayload_that_another_process_has_made_meanwhile_is_left_as_it_is(t *testing.T) {
	for _, still := range []string{"create a-ignition-keys", "create a-ignition-bootstrap", "create a-ignition-worker"} {
		b := whole(t)
		b.freeze()
		stood, of := false, map[string]map[string][]byte{}
		b.refuse = func(what string) error {
			if stood || what != still {
				return nil
			}
			stood = true
			slow := b.Resolver
			b.restart(b.live)
			for answer := (machine.Answer{}); answer.Truth != machine.Yes; {
				var err error
				answer, err = b.generate()
				must(t, err)
			}
			edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.BootstrapMark] = "u1" })
			for _, name := range secrets {
				of[name] = b.secret(name).Data
			}
			b.Resolver = slow
			return nil
		}
		if _, err := b.generate(); err != nil || !stood {
			t.Errorf("%s: it stood still: %t (%v)", still, stood, err)
		}
		for _, name := range secrets {
			if !reflect.DeepEqual(b.secret(name).Data, of[name]) {
				t.Errorf("%s: %s is another one", still, name)
			}
		}
	}
}

func TestPayload_that_was_made_anew_since_the_look_is_not_made_anew_once_more(t *testing.T) {
	b := installed(t)
	b.change = func(f *guards.Facts) { f.Bootstrap.Known, f.Provisioned.Known = true, true }
	b.now = noon.Add(23 * time.Hour)
	late, _ := b.see()
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	before := b.secret("a-ignition-keys").Data
	if _, err := late.GenerateIgnition(t.Context()); err != nil || !reflect.DeepEqual(b.secret("a-ignition-keys").Data, before) {
		t.Errorf("the keys are others (%v)", err)
	}
}

func TestBootstrap_has_the_time_of_the_platform_that_the_inputs_had_when_they_were_frozen(t *testing.T) {
	b := installed(t)
	_, facts := b.see()
	was := facts.Cluster.Platform
	b.remove(made("inputs", nil))
	if _, facts := b.see(); facts.Cluster.Platform != was || was == "" {
		t.Errorf("it is %q, and was %q", facts.Cluster.Platform, was)
	}
}

// The installer ends between two reads.
func TestInstallerJob_that_ends_after_its_result_was_read_has_not_failed(t *testing.T) {
	b, name := started(t)
	b.now = b.now.Add(time.Minute)
	seen, _ := b.see()
	stale := &corev1.Secret{}
	*stale = *b.secret(name)
	b.ended(batchv1.JobComplete, b.packed("the first"))
	in, err := seen.frozenInputs(t.Context())
	must(t, err)
	request, err := seen.request(t.Context(), in)
	must(t, err)
	if result, err := seen.run(t.Context(), request, stale); err != nil || result.LookAgain != soon {
		t.Errorf("it says %+v (%v)", result, err)
	}
}

func TestInstallerJob_whose_result_nobody_can_date_is_run_anew_while_no_machine_has_it(t *testing.T) {
	b, name := started(t)
	b.ended(batchv1.JobComplete, b.packed("the first"))
	edit(b, &corev1.Secret{}, name, func(s *corev1.Secret) { s.Annotations = nil })
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	list := &batchv1.JobList{}
	must(t, b.live.List(t.Context(), list))
	if len(list.Items) > 0 {
		t.Errorf("its Job is left: %v", list.Items[0].Name)
	}
	edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.BootstrapMark] = "u1" })
	if _, err := b.generate(); err == nil || !strings.Contains(err.Error(), v1alpha1.PayloadNotAfterAnnotation) {
		t.Errorf("with a machine it says %v", err)
	}
}

// Whoever may write the one Secret of an installer's result must not thereby have other machines made.
func TestInstallerJob_whose_result_was_altered_once_machines_have_it_gives_nothing_back(t *testing.T) {
	for name, of := range map[string]struct {
		lost  []string
		alter func(*bench, *corev1.Secret)
		stays bool
	}{
		"altered, a worker's lost": {[]string{"worker"}, func(b *bench, s *corev1.Secret) { s.Data = b.packed("somebody else") }, true},
		"altered, all lost":        {[]string{"bootstrap", "master", "worker"}, func(b *bench, s *corev1.Secret) { s.Data = b.packed("somebody else") }, true},
		"altered, with its sum": {[]string{"worker"}, func(b *bench, s *corev1.Secret) {
			s.Data = b.packed("somebody else")
			s.Annotations[v1alpha1.PayloadSumAnnotation] = wholeSum(installers(t, "somebody else"))
		}, true},
		"altered, and its sum lost": {[]string{"worker"}, func(b *bench, s *corev1.Secret) {
			s.Data = b.packed("somebody else")
			delete(s.Annotations, v1alpha1.PayloadSumAnnotation)
		}, true},
		"as it was, a worker's lost": {[]string{"worker"}, func(*bench, *corev1.Secret) {}, false},
		"as it was, all lost":        {[]string{"bootstrap", "master", "worker"}, func(*bench, *corev1.Secret) {}, false},
	} {
		b, result := started(t)
		b.ended(batchv1.JobComplete, b.packed("the first"))
		if answer, err := b.generate(); err != nil || answer.Truth != machine.Yes {
			t.Fatalf("%s: it is %s: %s (%v)", name, answer.Truth, answer.Reason, err)
		}
		edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.BootstrapMark] = "u1" })
		edit(b, &corev1.Secret{}, result, func(s *corev1.Secret) { of.alter(b, s) })
		for _, role := range of.lost {
			b.remove(made("a-ignition-"+role, nil))
		}
		b.writes = nil
		answer, err := b.generate()
		if _, is := errors.AsType[lostError](err); is != of.stays || of.stays && len(b.writes) > 0 || !of.stays && answer.Truth != machine.Yes {
			t.Errorf("%s: it is %s: %v, and it wrote %v", name, answer.Truth, err, b.writes)
		}
	}
}

// deprived is a payload that machines were made with, whose keys' Secret has lost its sum, or has that of another composer.
func deprived(t *testing.T, sum string) *bench {
	t.Helper()
	b := installed(t)
	edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.BootstrapMark] = "u1" })
	edit(b, &corev1.Secret{}, "a-ignition-keys", func(s *corev1.Secret) {
		s.Annotations[v1alpha1.PayloadSumAnnotation] = sum
		if sum == "" {
			delete(s.Annotations, v1alpha1.PayloadSumAnnotation)
		}
	})
	return b
}

func TestPayload_whose_sum_is_lost_is_given_back_where_what_is_left_of_it_is_the_same(t *testing.T) {
	b := deprived(t, "")
	before := b.secret("a-ignition-worker").Data
	b.remove(made("a-ignition-worker", nil))
	if answer, err := b.generate(); err != nil || answer.Truth != machine.Yes || !reflect.DeepEqual(b.secret("a-ignition-worker").Data, before) {
		t.Errorf("it is %s: %s (%v)", answer.Truth, answer.Reason, err)
	}
	if b.secret("a-ignition-keys").Annotations[v1alpha1.PayloadSumAnnotation] == "" {
		t.Error("the sum is not noted again")
	}
}

func TestPayload_of_which_nobody_knows_what_it_was_is_not_made_again_and_the_cause_is_named(t *testing.T) {
	for name, of := range map[string]struct{ sum, lost string }{
		"the bootstrap's, and the sum with it": {"", "bootstrap"},
		"made by another composer":             {strings.Repeat("0", 64), "worker"},
	} {
		b := deprived(t, of.sum)
		b.remove(made("a-ignition-"+of.lost, nil))
		b.writes = nil
		_, err := b.generate()
		if _, is := errors.AsType[lostError](err); !is || len(b.writes) > 0 || !strings.Contains(err.Error(), "role "+of.lost) || !strings.Contains(err.Error(), "another version of the provider") {
			t.Errorf("%s: it says %v, and wrote %v", name, err, b.writes)
		}
	}
}

func TestPayload_of_another_composer_keeps_what_it_makes_and_what_both_make_alike_is_put_right(t *testing.T) {
	b := deprived(t, strings.Repeat("0", 64))
	edit(b, &corev1.Secret{}, "a-ignition-bootstrap", func(s *corev1.Secret) {
		s.Data = b.secret("a-ignition-master").Data // as another version has made it
		s.Annotations[v1alpha1.PayloadSumAnnotation] = b.secret("a-ignition-master").Annotations[v1alpha1.PayloadSumAnnotation]
	})
	others, keys := b.secret("a-ignition-bootstrap"), b.secret("a-ignition-keys")
	edit(b, &corev1.Secret{}, "a-ignition-worker", func(s *corev1.Secret) { s.Data["value"] = []byte("{}") })
	if answer, err := b.generate(); err != nil || answer.Truth != machine.Yes {
		t.Errorf("it is %s: %s (%v)", answer.Truth, answer.Reason, err)
	}
	if b.secret("a-ignition-bootstrap").ResourceVersion != others.ResourceVersion || b.secret("a-ignition-keys").ResourceVersion != keys.ResourceVersion {
		t.Error("the bootstrap's config or the keys were written")
	}
}

func TestPayload_notes_which_cluster_it_makes_and_on_which_platform(t *testing.T) {
	b := installed(t)
	_, facts := b.see()
	if id := string(b.secret("a-ignition-keys").Data["cluster-id"]); facts.Payload.ClusterID != id || id == "" {
		t.Errorf("it is %q, and the keys say %q", facts.Payload.ClusterID, id)
	}
	b.change = func(f *guards.Facts) { f.Marks.Finished = true }
	b.restart(b.live)
	if _, finished := b.see(); finished.Payload.ClusterID != facts.Payload.ClusterID {
		t.Errorf("once the bootstrap is finished it is %q", finished.Payload.ClusterID)
	}
	b.remove(made("a-ignition-worker", nil))
	seen, _ := b.see()
	_, err := seen.KeepStubs(t.Context())
	must(t, err)
	if id := b.secret("a-ignition-worker").Annotations[v1alpha1.PayloadClusterIDAnnotation]; id != facts.Payload.ClusterID {
		t.Errorf("what was given back says %q", id)
	}
}

func TestBootstrap_of_which_nobody_knows_the_platform_has_the_longer_time(t *testing.T) {
	b := installed(t)
	for _, role := range []string{"bootstrap", "master", "worker"} {
		edit(b, &corev1.Secret{}, "a-ignition-"+role, func(s *corev1.Secret) { delete(s.Annotations, v1alpha1.PayloadPlatformAnnotation) })
	}
	if _, facts := b.see(); facts.Cluster.Platform == "" {
		t.Error("the frozen inputs tell it")
	}
	edit(b, &corev1.Secret{}, "inputs", func(s *corev1.Secret) {
		s.Data["install-config.yaml"] = append(s.Data["install-config.yaml"], "fips: true\n"...)
	})
	if _, facts := b.see(); facts.Cluster.Platform != "" || facts.PatienceOf(guards.Bootstrapping) != time.Hour {
		t.Errorf("by edited inputs it is %q, and %s are waited for", facts.Cluster.Platform, facts.PatienceOf(guards.Bootstrapping))
	}
}
