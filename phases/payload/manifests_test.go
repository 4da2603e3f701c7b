package payload

import (
	"fmt"
	"strings"
	"testing"
)

const machineConfig = "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {name: 99-a}\nspec: {config: {ignition: {version: %s}}}\n"

func withManifests(t testing.TB, secrets ...ManifestSecret) Documents {
	d := given(t)
	d.Manifests = secrets
	return d
}

func TestRead_places_manifests_in_the_folder_of_their_Secret(t *testing.T) {
	in, err := Read(withManifests(t,
		secretOf("one", ManifestsFolder, "a.yaml", manifest("x", "k: v")+"---\n---\n"+manifest("w", "")),
		secretOf("two", OpenShiftFolder, "b.json", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`, "mc.yml", fmt.Sprintf(machineConfig, "3.4.0")),
	))
	must(t, err)
	files, err := Files(in.Manifests)
	must(t, err)
	if len(files) != 3 || strings.Count(string(files["manifests/a.yaml"]), "kind: ConfigMap") != 2 || files["openshift/b.json"] == nil || files["openshift/mc.yml"] == nil {
		t.Errorf("it has %q", files)
	}
}

func TestRead_refuses_manifests_that_nothing_could_be_made_of(t *testing.T) {
	large := manifest("x", "k: "+strings.Repeat("v", manifestMost))
	for name, c := range map[string]struct {
		secret ManifestSecret
		says   string
	}{
		"no folder":         {secretOf("one", "", "a.yaml", manifest("x", "")), "Secret one: it is chosen by spec.manifestsSelector and its annotation manifests.capstan.openshift.io/directory is neither"},
		"a strange folder":  {secretOf("one", "hunter2", "a.yaml", manifest("x", "")), "is neither manifests nor openshift"},
		"a strange name":    {secretOf("one", ManifestsFolder, "a.txt", manifest("x", "")), "Secret one, key a.txt: it is no name of a manifest"},
		"too large":         {secretOf("one", ManifestsFolder, "a.yaml", large), "more than the 524288 allowed; split it"},
		"no YAML":           {secretOf("one", ManifestsFolder, "a.yaml", "a: [hunter2"), "Secret one, key a.yaml: it is no YAML that can be read"},
		"the second is":     {secretOf("one", ManifestsFolder, "a.yaml", manifest("x", "")+"---\nhunter2\n"), "Secret one, key a.yaml, document 2: it is not an object"},
		"a hidden document": {secretOf("one", ManifestsFolder, "a.yaml", manifest("x", "")+"--- {kind: hunter2}\n"), "Secret one, key a.yaml: its documents cannot be told apart"},
		"no kind":           {secretOf("one", ManifestsFolder, "a.yaml", "apiVersion: v1\nmetadata: {name: hunter2}\n"), "it has no kind or no apiVersion"},
		"no name":           {secretOf("one", ManifestsFolder, "a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {generateName: hunter2}\n"), "it has no metadata.name"},
		"a list":            {secretOf("one", ManifestsFolder, "a.yaml", "apiVersion: v1\nkind: List\nitems: [hunter2]\n"), "it is a list of objects"},
		"nothing":           {secretOf("one", ManifestsFolder, "a.yaml", "# hunter2\n"), "it holds no object"},
		"bad Ignition":      {secretOf("one", ManifestsFolder, "a.yaml", fmt.Sprintf(machineConfig, "2.2.0")), "field spec.config: Ignition refuses the config at ignition.version: it is not of spec 3.0.0 to 3.5.0; mend it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(withManifests(t, c.secret))
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

func TestRead_merges_what_several_manifests_say_of_one_object(t *testing.T) {
	in, err := Read(withManifests(t,
		secretOf("two", OpenShiftFolder, "b.yaml", manifest("x", "b: 'two', both: same")),
		secretOf("one", ManifestsFolder, "z.yaml", manifest("x", "a: 'one', both: same")),
	))
	must(t, err)
	if len(in.Manifests) != 1 || in.Manifests[0].Path != "manifests/z.yaml" {
		t.Fatalf("it has %v", in.Manifests)
	}
	if data, _ := in.Manifests[0].Object.Object["data"].(map[string]any); len(data) != 3 {
		t.Errorf("it has %v", data)
	}
}

func TestRead_refuses_contradictions_and_names_all_places(t *testing.T) {
	_, err := Read(withManifests(t,
		secretOf("three", OpenShiftFolder, "c.yaml", manifest("x", "a: hunter2, c: d")),
		secretOf("two", ManifestsFolder, "b.yaml", manifest("w", "")+"---\n"+manifest("x", "a: hunter3")),
		secretOf("one", ManifestsFolder, "a.yaml", manifest("x", "a: hunter2")),
	))
	const want = "Secret one, key a.yaml and Secret three, key c.yaml and Secret two, key b.yaml, document 2: " +
		"ConfigMap a/x is in each of these places, with other values of data.a; keep one, or make them agree"
	if err == nil || err.Error() != want {
		t.Errorf("it says %v", err)
	}
}

func TestRead_takes_what_YAML_allows_before_a_document(t *testing.T) {
	in, err := Read(withManifests(t, secretOf("one", ManifestsFolder, "a.yaml", "# a comment\n--- # another\n"+manifest("x", "k: '--- no mark'")+"---\r\n"+manifest("w", "k: 'a\n  --- no mark'"))))
	must(t, err)
	if len(in.Manifests) != 2 {
		t.Errorf("it has %d", len(in.Manifests))
	}
}
