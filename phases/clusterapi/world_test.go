package clusterapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func listOf(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: ImagesConfigMap}, Data: data}
}

func TestParseImages_sorts_and_takes_each_image_once(t *testing.T) {
	refs, err := parseImages(listOf(map[string]string{
		"x": "registry.example/b@" + digest, "a": "registry.example/b@" + digest, "b": "registry.example/a@" + digest,
	}))
	if err != nil || len(refs) != 2 || !strings.HasPrefix(string(refs[0]), "registry.example/a@") {
		t.Errorf("got %v, %v", refs, err)
	}
}

func TestParseImages_names_the_key_of_a_reference_by_tag(t *testing.T) {
	_, err := parseImages(listOf(map[string]string{"core": "registry.example/core:v1", "aws": "registry.example/aws@" + digest}))
	if err == nil || !machine.IsTerminal(err) || !strings.Contains(err.Error(), "key core of ConfigMap ops/"+ImagesConfigMap) {
		t.Errorf("got %v", err)
	}
}

func TestFollowed_takes_the_keys_that_the_release_names_and_without_names_all(t *testing.T) {
	for names, want := range map[string]struct{ followed, left string }{
		"":             {"a b", ""},
		"a,b":          {"a b", ""},
		"b , gone":     {"b", "a"},
		"none-of-them": {"", "a b"},
	} {
		list := listOf(map[string]string{"a": "1", "b": "2"})
		if names != "" {
			list.Annotations = map[string]string{KeysAnnotation: names}
		}
		data, left := followed(list)
		if got := strings.Join(slices.Sorted(maps.Keys(data)), " "); got != want.followed || strings.Join(left, " ") != want.left {
			t.Errorf("of keys %q %q are followed, and %q are left over", names, got, left)
		}
	}
}

func TestFingerprint_changes_with_every_input(t *testing.T) {
	data := map[string]string{"core": "ref"}
	base := world{platform: "AWS", substitutions: map[string]string{"A": "1"}, api: &operatorv1alpha1.ClusterAPI{}}
	first, err := base.fingerprint("4.22.5", data)
	if err != nil {
		t.Fatal(err)
	}
	platform, tls, spec := base, base, base
	platform.platform = "VSphere"
	tls.substitutions = map[string]string{"A": "2"}
	spec.api = &operatorv1alpha1.ClusterAPI{Spec: &operatorv1alpha1.ClusterAPISpec{UnmanagedCustomResourceDefinitions: []string{"a.b.c"}}}
	seen := map[string]string{first: "nothing"}
	for what, w := range map[string]world{"the platform": platform, "the TLS profile": tls, "the spec": spec, "the absence of ClusterAPI": {platform: "AWS"}} {
		got, err := w.fingerprint("4.22.5", data)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[got]; twice {
			t.Errorf("changing %s gives the same fingerprint as changing %s", what, other)
		}
		seen[got] = what
	}
	if release, err := base.fingerprint("4.22.6", data); err != nil || release == first {
		t.Errorf("the release does not count: %v", err)
	}
	if images, err := base.fingerprint("4.22.5", map[string]string{"core": "other"}); err != nil || images == first {
		t.Errorf("the images do not count: %v", err)
	}
}

func TestWorld_knows_desired_and_current_without_an_order_in_the_list(t *testing.T) {
	w := world{current: "two", api: &operatorv1alpha1.ClusterAPI{Status: operatorv1alpha1.ClusterAPIStatus{
		Revisions: []operatorv1alpha1.ClusterAPIInstallerRevision{
			{Name: "three", Revision: 3}, {Name: "one", Revision: 1}, {Name: "two", Revision: 2},
		},
	}}}
	if got := w.desiredEntry(); got == nil || got.Name != "three" {
		t.Errorf("desired is %+v", got)
	}
	if got := w.currentEntry(); got == nil || got.Name != "two" {
		t.Errorf("current is %+v", got)
	}
	if (world{}).desiredEntry() != nil || (world{}).currentEntry() != nil {
		t.Error("without a ClusterAPI there is none")
	}
}

func TestCurrent_is_remembered_when_it_was_taken_out_as_long_as_it_is_listed(t *testing.T) {
	p := &Phases{}
	for i, look := range []struct {
		says, want operatorv1alpha1.RevisionName
		listed     []operatorv1alpha1.RevisionName
	}{
		{"", "", []operatorv1alpha1.RevisionName{"one"}},
		{"one", "one", []operatorv1alpha1.RevisionName{"one"}},
		{"", "one", []operatorv1alpha1.RevisionName{"one", "two"}},
		{"two", "two", []operatorv1alpha1.RevisionName{"one", "two"}},
		{"", "two", []operatorv1alpha1.RevisionName{"one", "two"}},
		{"", "", []operatorv1alpha1.RevisionName{"one"}},
		{"", "", []operatorv1alpha1.RevisionName{"one", "two"}},
	} {
		api := &operatorv1alpha1.ClusterAPI{Status: operatorv1alpha1.ClusterAPIStatus{CurrentRevision: look.says}}
		for _, name := range look.listed {
			api.Status.Revisions = append(api.Status.Revisions, operatorv1alpha1.ClusterAPIInstallerRevision{Name: name})
		}
		if got := p.currentOf(api); got != look.want {
			t.Errorf("look %d: %q is current, want %q", i, got, look.want)
		}
	}
}

func TestCurrent_is_forgotten_when_the_versions_of_the_ClusterAPI_go_back(t *testing.T) {
	p := &Phases{}
	of := func(version string, says operatorv1alpha1.RevisionName) *operatorv1alpha1.ClusterAPI {
		return &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}, Status: operatorv1alpha1.ClusterAPIStatus{
			CurrentRevision: says, Revisions: []operatorv1alpha1.ClusterAPIInstallerRevision{{Name: "one"}},
		}}
	}
	p.currentOf(of("20", "one"))
	if got := p.currentOf(of("21", "")); got != "one" {
		t.Errorf("somebody took it out, and %q is current", got)
	}
	if got := p.currentOf(of("15", "")); got != "" {
		t.Errorf("etcd was restored to before it was current, and %q is", got)
	}
	p.currentOf(of("30", "one"))
	p.currentOf(nil)
	if got := p.currentOf(of("15", "")); got != "" {
		t.Errorf("etcd was restored after the ClusterAPI was away, and %q is current", got)
	}
}

func TestParseImages_refuses_more_images_than_it_installs(t *testing.T) {
	list := &corev1.ConfigMap{Data: map[string]string{}}
	for i := range images.MaxImages {
		list.Data[fmt.Sprint(i)] = fmt.Sprintf("quay.io/a@sha256:%064d", i)
	}
	list.Data["again"] = list.Data["0"]
	if refs, err := parseImages(list); err != nil || len(refs) != images.MaxImages {
		t.Errorf("got %d images and %v", len(refs), err)
	}
	list.Data["more"] = "quay.io/b@sha256:" + strings.Repeat("b", 64)
	_, err := parseImages(list)
	if err == nil || !machine.IsTerminal(err) || !strings.Contains(err.Error(), "lists 33 provider images, and at most 32 are installed: take 1 out") {
		t.Errorf("got %v", err)
	}
}

func TestApplyOptions_say_that_nothing_is_installed_until_a_revision_is_current(t *testing.T) {
	for name, row := range map[string]struct {
		pass  *Pass
		first bool
	}{
		"nothing was ever listed":          {&Pass{olderSeen: true}, true},
		"a revision is current":            {&Pass{world: world{current: "4.22.5-one-1"}, olderSeen: true}, false},
		"the status was lost":              {&Pass{olderSeen: true, older: []int64{1}}, false},
		"the inventories are not seen yet": {&Pass{}, false},
	} {
		if got := engine.ReconcileOptionsOf(row.pass.applyOptions()...); got.FirstInstall != row.first || got.Keep {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
