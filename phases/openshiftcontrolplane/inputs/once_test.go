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
	if _, is := errors.AsType[LostError](err); !is || len(b.writes) > 0 {
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
