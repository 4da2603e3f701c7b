package render

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// image is a valid reference for a short name.
func image(name string) string {
	return fmt.Sprintf("registry.example.com/capi/%s@sha256:%064x", name, name)
}

// profile is a minimal valid profile: one ConfigMap called after it.
func profile(name string, metadata ...string) Profile {
	return Profile{
		Image: image(name), Name: "default",
		Metadata:  []byte("name: " + name + "\n" + strings.Join(metadata, "\n")),
		Manifests: []byte(configMap(name)),
	}
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

// manifests is a profile with these manifests.
func manifests(text string) Profile {
	p := profile("core")
	p.Manifests = []byte(text)
	return p
}

func mustRender(t *testing.T, in Input) *Revision {
	t.Helper()
	rev, err := Render(in)
	if err != nil {
		t.Fatalf("rendering: %v", err)
	}
	return rev
}

// problems renders what must not render, and returns what is wrong.
func problems(t *testing.T, in Input) ProblemsError {
	t.Helper()
	rev, err := Render(in)
	var found ProblemsError
	if !errors.As(err, &found) || len(found) == 0 {
		t.Fatalf("want problems, got revision %v and error %v", rev, err)
	}
	if rev != nil {
		t.Fatalf("want no revision beside problems, got %v", rev)
	}
	return found
}

// testdata reads the profiles kept in testdata, one image each.
func testdata(t testing.TB, images ...string) []Profile {
	t.Helper()
	var profiles []Profile
	for _, name := range images {
		p := Profile{Image: image(name), Name: "default"}
		for file, content := range map[string]*[]byte{metadataFile: &p.Metadata, manifestsFile: &p.Manifests} {
			text, err := os.ReadFile(filepath.Join("testdata", name, p.Name, file))
			if err != nil {
				t.Fatal(err)
			}
			*content = text
		}
		profiles = append(profiles, p)
	}
	return profiles
}

func names(rev *Revision) []string {
	var all []string
	for _, c := range rev.Components {
		all = append(all, c.Name)
	}
	return all
}

func TestRender_selects_the_cluster_s_platform_and_what_has_none(t *testing.T) {
	in := Input{Profiles: []Profile{
		profile("core"), profile("aws", "ocpPlatform: AWS"), profile("vsphere", "ocpPlatform: VSphere"),
	}}
	for platform, want := range map[string][]string{
		"AWS": {"core", "aws"}, "VSphere": {"core", "vsphere"}, "GCP": {"core"}, "": {"core"},
	} {
		in.Platform = platform
		if diff := cmp.Diff(want, names(mustRender(t, in))); diff != "" {
			t.Errorf("platform %q: %s", platform, diff)
		}
	}
	in.Platform = "AWS"
	want := []Skipped{{Name: "vsphere", Image: image("vsphere"), Profile: "default", Platform: "VSphere", Reason: `for platform VSphere, the cluster's is "AWS"`}}
	if diff := cmp.Diff(want, mustRender(t, in).Skipped); diff != "" {
		t.Error(diff)
	}
}

func TestRender_nothing_that_matches_is_a_revision_without_components(t *testing.T) {
	rev := mustRender(t, Input{Profiles: []Profile{profile("aws", "ocpPlatform: AWS")}, Platform: "GCP"})
	if len(rev.Components) != 0 || len(rev.ContentID) != 64 {
		t.Errorf("want an empty revision with an ID, got %+v", rev)
	}
}

func TestRender_orders_by_install_order_then_platform_name_image_and_profile(t *testing.T) {
	same := func(imageName, profileName, object string) Profile {
		p := profile("same", "installOrder: 5")
		p.Image, p.Name, p.Manifests = image(imageName), profileName, []byte(configMap(object))
		return p
	}
	want := []Profile{
		profile("z-first", "installOrder: -1"),
		profile("b-none", "installOrder: 1"),
		profile("a-aws", "installOrder: 1\nocpPlatform: AWS"),
		profile("b-aws", "installOrder: 1\nocpPlatform: AWS"),
		profile("a-last", "installOrder: 4"),
		same("one", "a", "one-a"), same("one", "b", "one-b"), same("two", "a", "two-a"),
	}
	var order []ComponentRef
	for _, p := range want {
		order = append(order, ComponentRef{Image: p.Image, Profile: p.Name})
	}
	shuffled := slices.Clone(want)
	slices.Reverse(shuffled)
	var got []ComponentRef
	for _, c := range mustRender(t, Input{Profiles: shuffled, Platform: "AWS"}).Components {
		got = append(got, ComponentRef{Image: c.Image, Profile: c.Profile})
	}
	if diff := cmp.Diff(order, got); diff != "" {
		t.Error(diff)
	}
}

func TestRender_a_profile_given_twice_counts_once(t *testing.T) {
	rev := mustRender(t, Input{Profiles: []Profile{profile("core"), profile("core")}})
	if len(rev.Components) != 1 {
		t.Errorf("want one component, got %v", names(rev))
	}
	other := profile("core")
	other.Manifests = []byte(configMap("other"))
	found := problems(t, Input{Profiles: []Profile{profile("core"), other}})
	if found[0].Cause != "the profile is given twice with different content" {
		t.Error(found)
	}
}

func TestRender_reports_all_problems_at_once_sorted_by_place(t *testing.T) {
	broken := profile("broken", "colour: red")
	found := problems(t, Input{
		Profiles:      []Profile{manifests(configMap("a") + "---\n" + configMap("${B}") + "---\na: [\n---\n" + configMap("a")), broken},
		Substitutions: map[string]string{"not-a-key": ""},
	})
	var got []string
	for _, p := range found {
		got = append(got, strings.Join([]string{p.Profile, p.File, fmt.Sprint(p.Document), fmt.Sprint(p.Line), p.Path}, " "))
	}
	want := []string{
		"  0 0 ",
		"default metadata.yaml 1 2 colour",
		"default manifests.yaml 2 6 metadata.name",
		"default manifests.yaml 3 11 ",
		"default manifests.yaml 4 13 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff, found)
	}
}

func TestRender_a_variable_without_a_value_is_empty_and_told_with_its_place(t *testing.T) {
	in := Input{Profiles: []Profile{manifests(configMap("a") + "---\n" + configMap("b") + "data:\n  region: \"${REGION}-1${SIZE^^}\"\n")}}
	rev := mustRender(t, in)
	region, _, err := unstructured.NestedString(rev.Components[0].Objects[1].Object, "data", "region")
	if err != nil || region != "-1" {
		t.Errorf("the region is %q, %v", region, err)
	}
	var told []string
	for _, w := range rev.Warnings {
		told = append(told, fmt.Sprintf("%s %d %d %s", w.File, w.Document, w.Line, w.Cause))
	}
	want := []string{
		"manifests.yaml 2 11 variable REGION has neither a value nor a default, and is taken as empty; give it a default in the provider image, as ${REGION:=default}",
		"manifests.yaml 2 11 variable SIZE has neither a value nor a default, and is taken as empty; give it a default in the provider image, as ${SIZE:=default}",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	in.Substitutions = map[string]string{"REGION": "", "SIZE": ""}
	if rev = mustRender(t, in); len(rev.Warnings) > 0 {
		t.Errorf("of variables that are given, it tells %v", rev.Warnings)
	}
}

func TestRender_manifests_of_another_platform_are_not_looked_at_but_its_metadata_is(t *testing.T) {
	p := profile("vsphere", "ocpPlatform: VSphere")
	p.Manifests = []byte("not: [valid")
	mustRender(t, Input{Profiles: []Profile{p}, Platform: "AWS"})
	p.Metadata = append(p.Metadata, "\ncolour: red"...)
	if found := problems(t, Input{Profiles: []Profile{p}, Platform: "AWS"}); len(found) != 1 || found[0].Path != "colour" {
		t.Errorf("want the unknown field alone, got %v", found)
	}
}

func TestRender_the_same_object_twice_names_both_places(t *testing.T) {
	role := func(version string) string {
		return "apiVersion: rbac.authorization.k8s.io/" + version + "\nkind: Role\nmetadata:\n  name: r\n  namespace: ns\n"
	}
	one, two := profile("one"), profile("two", "installOrder: 1")
	one.Manifests, two.Manifests = []byte(role("v1")+"---\n"+configMap("c")), []byte(configMap("d")+"---\n"+role("v1beta1"))
	found := problems(t, Input{Profiles: []Profile{two, one}})
	want := ProblemsError{{
		Image: image("two"), Profile: "default", File: manifestsFile, Document: 2, Line: 6,
		Object: "rbac.authorization.k8s.io/v1beta1 Role ns/r",
		Cause:  "the same object is in image " + image("one") + ", profile default, file manifests.yaml, document 1, line 1",
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	found = problems(t, Input{Profiles: []Profile{manifests(configMap("c") + "---\n" + configMap("c"))}})
	if want := "the same object is in document 1, line 1 of this file"; found[0].Cause != want {
		t.Errorf("want %q, got %v", want, found)
	}
}

func TestRender_objects_that_differ_in_group_kind_namespace_or_name_are_not_the_same(t *testing.T) {
	mustRender(t, Input{Profiles: []Profile{manifests(strings.Join([]string{
		configMap("a"), configMap("b"), configMap("a\n  namespace: ns"),
		strings.Replace(configMap("a"), "ConfigMap", "Secret", 1), strings.Replace(configMap("a"), "v1", "g/v1", 1),
	}, "---\n"))}})
}

func TestListed_renders_exactly_the_components_and_order_of_the_list(t *testing.T) {
	in := Input{
		Profiles: []Profile{profile("core"), profile("aws", "ocpPlatform: AWS", "installOrder: 9"), profile("other")},
		Platform: "GCP", Substitutions: map[string]string{"A": "b"}, Unmanaged: []string{thingsCRD},
	}
	in.Profiles[0].Manifests = append(in.Profiles[0].Manifests, "---\n"+crd("")...)
	rev, err := Listed(in, []ComponentRef{{image("aws"), "default"}, {image("core"), "default"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"aws", "core"}, names(rev)); diff != "" {
		t.Error(diff)
	}
	if len(rev.Skipped) != 0 || len(rev.Substitutions) != 1 || len(rev.Unmanaged) != 1 {
		t.Errorf("want no profile skipped, the substitution and the name: %+v", rev)
	}
}

func TestListed_gives_a_rendered_revision_its_content_ID_again(t *testing.T) {
	in := Input{
		Profiles: testdata(t, "core", "aws", "vsphere"), Platform: "AWS",
		Substitutions: map[string]string{"TLS_MIN_VERSION": "VersionTLS12", "AWS_B64ENCODED_CREDENTIALS": ""},
	}
	rev := mustRender(t, in)
	var order []ComponentRef
	for _, c := range rev.Components {
		order = append(order, ComponentRef{Image: c.Image, Profile: c.Profile})
	}
	in.Platform = ""
	again, err := Listed(in, order)
	if err != nil || again.ContentID != rev.ContentID {
		t.Errorf("want content ID %s, got %+v and error %v", rev.ContentID, again, err)
	}
}

func TestListed_takes_a_selfImageRef_that_no_new_revision_may_have(t *testing.T) {
	p := profile("core")
	p.Metadata = append(p.Metadata, "selfImageRef: SELF\n"...)
	in := Input{Profiles: []Profile{p}}
	if _, err := Render(in); err == nil || !strings.Contains(err.Error(), "is not an image reference") {
		t.Errorf("a new revision: got %v", err)
	}
	if _, err := Listed(in, []ComponentRef{{p.Image, p.Name}}); err != nil {
		t.Errorf("a listed revision: got %v", err)
	}
}

func TestListed_a_component_without_profile_is_not_terminal(t *testing.T) {
	_, err := Listed(Input{Profiles: []Profile{profile("core")}}, []ComponentRef{{image("core"), "default"}, {image("gone"), "p"}})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("want a MissingError, got %v", err)
	}
	if diff := cmp.Diff([]ComponentRef{{image("gone"), "p"}}, missing.Components); diff != "" {
		t.Error(diff)
	}
	var terminal interface{ Terminal() bool }
	if errors.As(err, &terminal) {
		t.Error("a missing image may still be fetched, so the error must not be terminal")
	}
}
