package inputs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/images"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/release"
)

// chosen has manifests chosen by label manifests=c.
func chosen(p *v1alpha1.OpenShiftControlPlane) {
	p.Spec.ManifestsSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"manifests": "c"}}
}

// manifests is a Secret of one file that is chosen.
func manifests(name, directory, text string) *corev1.Secret {
	s := made(name, map[string][]byte{name + ".yaml": []byte(text)})
	s.Labels = map[string]string{"manifests": "c"}
	if directory != "" {
		s.Annotations = map[string]string{v1alpha1.ManifestsDirectoryAnnotation: directory}
	}
	return s
}

const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: openshift-config}\n"

func TestResolveInputs_install_config_or_state_suffices_and_both_must_agree(t *testing.T) {
	config, state := fixture(t, "install-config.yaml"), fixture(t, "state.json")
	for name, row := range map[string]struct {
		data map[string][]byte
		says string
	}{
		"only the install-config": {map[string][]byte{payload.ConfigKey: config}, ""},
		"only the state":          {map[string][]byte{payload.StateKey: state}, ""},
		"both":                    {map[string][]byte{payload.ConfigKey: config, payload.StateKey: state}, ""},
		"they disagree": {
			map[string][]byte{payload.ConfigKey: []byte(strings.Replace(string(config), "example.com", "example.org", 1)), payload.StateKey: state},
			"field baseDomain: it differs",
		},
		"neither": {nil, "it has neither the key install-config.yaml nor .openshift_install_state.json"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, asked(), owner(), made("inputs", row.data), definition(), machineTemplate())
			_, facts := b.see()
			answer := guards.InputsAreResolved.Answer(facts)
			if want := map[bool]machine.Truth{true: machine.Yes, false: machine.No}[row.says == ""]; answer.Truth != want || !strings.Contains(answer.Reason, row.says) {
				t.Errorf("it is %s: %s", answer.Truth, answer.Reason)
			}
			if row.says == "" && (facts.Cluster.Platform != "none" || len(facts.Inputs.Digest) != 64) {
				t.Errorf("platform %q, digest %q", facts.Cluster.Platform, facts.Inputs.Digest)
			}
			if strings.Contains(answer.Reason, "hunter2") {
				t.Errorf("it quotes a secret: %s", answer.Reason)
			}
		})
	}
}

func TestResolveInputs_waits_for_the_Secret_and_goes_on_once_it_is_there(t *testing.T) {
	b := newBench(t, asked(), owner(), definition(), machineTemplate())
	seen, facts := b.see()
	if answer := guards.InputsAreResolved.Answer(facts); answer.Truth != machine.No || !strings.Contains(answer.Reason, "Secret inputs: it is not there") {
		t.Errorf("without it: %s: %s", answer.Truth, answer.Reason)
	}
	if result, err := seen.ResolveInputs(t.Context()); err != nil || result.LookAgain == 0 {
		t.Errorf("the work says %+v, %v", result, err)
	}
	b.add(configured(t, ""))
	if _, facts = b.see(); guards.InputsAreResolved.Answer(facts).Truth != machine.Yes {
		t.Errorf("with it: %v", facts.Inputs)
	}
}

func TestResolveInputs_names_all_places_of_what_is_wrong_with_manifests(t *testing.T) {
	for name, row := range map[string]struct {
		secrets []client.Object
		says    []string
	}{
		"no directory":      {[]client.Object{manifests("m1", "", settings)}, []string{"Secret m1: ", v1alpha1.ManifestsDirectoryAnnotation}},
		"another directory": {[]client.Object{manifests("m1", "etc", settings)}, []string{"Secret m1: ", "neither manifests nor openshift"}},
		"malformed":         {[]client.Object{manifests("m1", "openshift", "hunter2: [")}, []string{"Secret m1, key m1.yaml"}},
		"no object":         {[]client.Object{manifests("m1", "openshift", "a: hunter2")}, []string{"Secret m1, key m1.yaml", "no kind"}},
		"Ignition that no machine takes": {
			[]client.Object{manifests("m1", "openshift", "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {name: m}\nspec: {config: {ignition: {version: 9.0.0}}}\n")},
			[]string{"Secret m1, key m1.yaml, field spec.config"},
		},
		"they contradict each other": {
			[]client.Object{manifests("m1", "openshift", settings+"data: {a: hunter2}\n"), manifests("m2", "manifests", settings+"data: {a: other}\n")},
			[]string{"Secret m1, key m1.yaml", "Secret m2, key m2.yaml", "data.a"},
		},
		"one contradicts what is made": {
			[]client.Object{manifests("m1", "manifests", "apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata: {name: cluster}\nspec: {baseDomain: hunter2}\n")},
			[]string{"Secret m1, key m1.yaml", "cluster-dns-02-config.yml", "spec.baseDomain"},
		},
		"two of them are wrong": {
			[]client.Object{manifests("m1", "", settings), manifests("m2", "manifests", "a: b")}, []string{"Secret m1: ", "Secret m2, key m2.yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := whole(t, chosen)
			b.add(row.secrets...)
			_, facts := b.see()
			answer := guards.InputsAreResolved.Answer(facts)
			for _, says := range row.says {
				if answer.Truth != machine.No || !strings.Contains(answer.Reason, says) {
					t.Errorf("it is %s: %s, and not %s", answer.Truth, answer.Reason, says)
				}
			}
			if all := strings.Join(facts.Inputs.Problems, " "); strings.Contains(all, "hunter2") {
				t.Errorf("it quotes a value: %s", all)
			}
		})
	}
}

func TestResolveInputs_takes_manifests_and_leaves_out_what_was_made_for_control_planes(t *testing.T) {
	b := whole(t, chosen)
	_, without := b.see()
	ours := manifests("a-ignition-master", "", "no: manifest")
	ours.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(asked(), v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane"))}
	b.add(ours)
	if _, facts := b.see(); facts.Inputs.Digest != without.Inputs.Digest || len(facts.Inputs.Problems) > 0 {
		t.Errorf("what was made is an input: %v", facts.Inputs)
	}
	b.add(manifests("m1", "openshift", settings))
	if _, facts := b.see(); facts.Inputs.Digest == without.Inputs.Digest || len(facts.Inputs.Problems) > 0 {
		t.Errorf("a manifest is no input: %v", facts.Inputs)
	}
}

func TestResolveInputs_tells_of_templates_that_machines_cannot_be_cloned_from(t *testing.T) {
	own := func(p *v1alpha1.OpenShiftControlPlane) {
		ref := p.Spec.MachineTemplate.Spec.InfrastructureRef
		ref.Name = "of-bootstrap"
		p.Spec.BootstrapMachine.InfrastructureRef = &ref
	}
	for name, row := range map[string]struct {
		objects []client.Object
		plane   *v1alpha1.OpenShiftControlPlane
		says    string
	}{
		"its kind is not served": {nil, asked(), "kind DevMachineTemplate of group infrastructure.cluster.x-k8s.io is not served"},
		"its kind is of no contract": {
			[]client.Object{func() client.Object {
				d := definition()
				d.Labels = nil
				return d
			}(), machineTemplate()}, asked(), "is not served with a version for the contract",
		},
		"it is not there":        {[]client.Object{definition()}, asked(), "DevMachineTemplate t, named by spec.machineTemplate.spec.infrastructureRef: it is not there"},
		"the bootstrap's is not": {[]client.Object{definition(), machineTemplate()}, asked(own), "DevMachineTemplate of-bootstrap, named by spec.bootstrapMachine.infrastructureRef: it is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, append(row.objects, row.plane, owner(), configured(t, ""))...)
			_, facts := b.see()
			if answer := guards.InputsAreResolved.Answer(facts); answer.Truth != machine.No || !strings.HasPrefix(answer.Reason, "InfraTemplateInvalid: ") || !strings.Contains(answer.Reason, row.says) {
				t.Errorf("it is %s: %s", answer.Truth, answer.Reason)
			}
		})
	}
}

func TestResolveInputs_looks_again_at_what_is_not_watched(t *testing.T) {
	b := newBench(t, asked(), owner(), configured(t, ""))
	b.see()
	b.add(definition(), machineTemplate())
	if _, facts := b.see(); len(facts.Inputs.Problems) == 0 {
		t.Error("nothing has told of the template, and it was looked for")
	}
	b.now = b.now.Add(again)
	_, facts := b.see()
	if answer := guards.InputsAreResolved.Answer(facts); answer.Truth != machine.Yes {
		t.Errorf("it was not looked for: %s", answer.Reason)
	}
}

func TestResolveInputs_has_the_Cluster_own_the_templates(t *testing.T) {
	b := whole(t)
	for range 2 {
		seen, _ := b.see()
		if _, err := seen.ResolveInputs(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o := machineTemplate()
	must(t, b.live.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	owners := o.GetOwnerReferences()
	if len(owners) != 1 || owners[0].Kind != "Cluster" || owners[0].UID != "c1" || owners[0].Controller != nil {
		t.Errorf("its owners are %+v", owners)
	}
	if !slices.Equal(b.writes, []string{"patch t"}) {
		t.Errorf("it wrote %v", b.writes)
	}
}

func TestResolveInputs_asks_for_the_release_with_the_access_of_the_install_config(t *testing.T) {
	b := newBench(t, asked(), owner(), configured(t, "imageDigestSources: [{source: registry.example.com/release, mirrors: [mirror.example.com/release]}]\n"), definition(), machineTemplate())
	b.releases.fails = release.NoReleaseError{Image: images.Ref(image), Why: "it has no label"}
	_, facts := b.see()
	if answer := guards.InputsAreResolved.Answer(facts); answer.Truth != machine.No || !strings.Contains(answer.Reason, "spec.releaseImage: image "+image+" is no release") {
		t.Errorf("it is %s: %s", answer.Truth, answer.Reason)
	}
	access := b.releases.asked[0]
	if len(access.Credentials) != 1 || !json.Valid(access.Credentials[0].Data) || len(access.Mirrors) != 1 || access.Mirrors[0].Mirrors[0] != "mirror.example.com/release" {
		t.Errorf("asked with %+v", access)
	}
	b.releases.fails = nil
	b.now = b.now.Add(again)
	for range 3 {
		if _, facts = b.see(); guards.InputsAreResolved.Answer(facts).Truth != machine.Yes {
			t.Errorf("it says %v", facts.Inputs.Problems)
		}
		b.now = b.now.Add(time.Second)
	}
	if len(b.releases.asked) != 2 {
		t.Errorf("registries were asked %d times", len(b.releases.asked))
	}
}

func TestAsked_is_what_the_image_stands_for_and_an_image_by_digest_is_asked_for_once(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*v1alpha1.OpenShiftControlPlane)
		asked  int
	}{
		"by digest": {func(*v1alpha1.OpenShiftControlPlane) {}, 1},
		"by tag": {func(p *v1alpha1.OpenShiftControlPlane) {
			p.Spec.ReleaseImage, p.Spec.ReleaseImagePolicy = "registry.example.com/release:4.22.1", v1alpha1.TagPolicy
		}, 2},
	} {
		b := whole(t, row.change)
		look, err := phases.Read(t.Context(), b.cluster, key)
		must(t, err)
		for range 2 {
			b.read = nil
			got, err := b.Asked(t.Context(), look)
			must(t, err)
			if got.Version != "4.22.1" {
				t.Errorf("%s: it is %+v", name, got)
			}
			b.now = b.now.Add(tagFor)
		}
		if len(b.releases.asked) != row.asked || row.asked == 1 && len(b.read) > 0 || len(b.releases.asked[0].Credentials) != 1 {
			t.Errorf("%s: registries were asked %d times, and it read %v", name, len(b.releases.asked), b.read)
		}
		b.remove(made("inputs", nil))
		b.Forget(key)
		if _, err := b.Asked(t.Context(), look); err != nil || len(b.releases.asked[len(b.releases.asked)-1].Credentials) != 0 {
			t.Errorf("%s: without the install-config: %v", name, err)
		}
	}
}

func TestResolveInputs_an_API_server_that_does_not_answer_is_no_problem_of_the_inputs(t *testing.T) {
	b := whole(t)
	b.restart(broken{b.live})
	seen, facts := b.see()
	if answer := guards.InputsAreResolved.Answer(facts); answer.Truth != machine.Unknown {
		t.Errorf("it is %s: %s", answer.Truth, answer.Reason)
	}
	for name, work := range map[string]func() (machine.Result, error){
		"ResolveInputs": func() (machine.Result, error) { return seen.ResolveInputs(t.Context()) },
		"FreezeInputs":  func() (machine.Result, error) { return seen.FreezeInputs(t.Context()) },
		"Generate":      func() (machine.Result, error) { return seen.GenerateIgnition(t.Context()) },
	} {
		if _, err := work(); err == nil || machine.IsTerminal(err) {
			t.Errorf("%s says %v", name, err)
		}
	}
}

func TestFreezeInputs_writes_the_digest_once_the_API_server_has_the_same(t *testing.T) {
	b := whole(t)
	b.freeze()
	plane := asked()
	must(t, b.live.Get(t.Context(), key, plane))
	_, facts := b.see()
	if mark := plane.Annotations[v1alpha1.InputsMark]; mark != facts.Inputs.Digest || len(mark) != 64 {
		t.Errorf("the mark is %q", mark)
	}
	if want := []string{"patch t", "patch a"}; !slices.Equal(b.writes, want) {
		t.Errorf("it wrote %v, want %v", b.writes, want)
	}
}

func TestFreezeInputs_refuses_inputs_that_have_changed_since_they_were_seen(t *testing.T) {
	for name, change := range map[string]func(*corev1.Secret){
		"others": func(s *corev1.Secret) {
			s.Data[payload.ConfigKey] = append(s.Data[payload.ConfigKey], "fips: true\n"...)
		},
		"invalid": func(s *corev1.Secret) { s.Data = nil },
	} {
		b := whole(t)
		seen, _ := b.see()
		edit(b, &corev1.Secret{}, "inputs", change)
		if _, err := seen.FreezeInputs(t.Context()); err == nil {
			t.Errorf("%s: frozen", name)
		}
		plane := asked()
		must(t, b.live.Get(t.Context(), key, plane))
		if plane.Annotations[v1alpha1.InputsMark] != "" {
			t.Errorf("%s: the mark is written", name)
		}
	}
}

func TestInputs_edited_after_the_freeze_have_drifted_and_that_is_all(t *testing.T) {
	for name, change := range map[string]func(*bench){
		"the install-config": func(b *bench) {
			edit(b, &corev1.Secret{}, "inputs", func(s *corev1.Secret) {
				s.Data[payload.ConfigKey] = append(s.Data[payload.ConfigKey], "fips: true\n"...)
			})
		},
		"another manifest": func(b *bench) { b.add(manifests("m1", "openshift", settings)) },
		"they are gone":    func(b *bench) { b.remove(made("inputs", nil)) },
		"they are broken": func(b *bench) {
			edit(b, &corev1.Secret{}, "inputs", func(s *corev1.Secret) { s.Data = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := installed(t, chosen)
			_, before := b.see()
			if answer := guards.InputsHaveDrifted.Answer(before); answer.Truth != machine.No {
				t.Errorf("before: %s: %s", answer.Truth, answer.Reason)
			}
			change(b)
			_, facts := b.see()
			if answer := guards.InputsHaveDrifted.Answer(facts); answer.Truth != machine.Yes {
				t.Errorf("after: %s: %s", answer.Truth, answer.Reason)
			}
			if guards.PayloadStands.Answer(facts).Truth != machine.Yes || facts.Reached().Inputs != before.Reached().Inputs {
				t.Error("the payload does not stand any more")
			}
		})
	}
}

func TestSee_reads_Secrets_only_when_they_have_changed(t *testing.T) {
	b := installed(t)
	b.see()
	b.read = nil
	for range 3 {
		b.see()
		b.now = b.now.Add(time.Hour)
	}
	if len(b.read) > 0 || len(b.writes) > 0 {
		t.Errorf("at rest it read %v and wrote %v", b.read, b.writes)
	}
	edit(b, &corev1.Secret{}, "inputs", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
	b.read = nil
	b.see()
	b.see()
	if want := []string{"get inputs"}; !slices.Equal(b.read, want) {
		t.Errorf("it read %v, want %v", b.read, want)
	}
	b.Forget(key)
	b.read = nil
	if b.see(); len(b.read) != 4 {
		t.Errorf("forgotten, it read %v", b.read)
	}
}

func TestSee_reads_nothing_of_what_is_being_deleted_or_has_no_owner(t *testing.T) {
	b := whole(t)
	b.change = func(f *guards.Facts) { f.Object.Deleting = true }
	if _, facts := b.see(); facts.Inputs.Known || len(b.read) > 0 {
		t.Errorf("it read %v", b.read)
	}
	b.change = nil
	b.remove(owner())
	if _, facts := b.see(); facts.Inputs.Known || len(b.read) > 0 {
		t.Errorf("without owner it read %v", b.read)
	}
}

func TestManifests_are_read_by_pages(t *testing.T) {
	b := whole(t, chosen)
	for i := range 3 {
		b.add(manifests(fmt.Sprintf("m%d", i), "openshift", strings.Replace(settings, "extra", fmt.Sprintf("extra-%d", i), 1)))
	}
	_, facts := b.see()
	if len(facts.Inputs.Problems) > 0 {
		t.Errorf("it says %v", facts.Inputs.Problems)
	}
}
