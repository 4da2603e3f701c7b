package golden_test

import (
	"encoding/json"
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/phases/golden"
)

// FuzzRead reads whatever there may be: it ends, and what it takes can be asked and remembered.
func FuzzRead(f *testing.F) {
	text, err := json.Marshal(made())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "null", "{}", string(text), `{"architectures": {"x86_64": null}}`, `{"architectures": {"x86_64": {"images": {"aws": {"regions": null}, "gcp": {}}, "rhel-coreos-extensions": {"marketplace": {"azure": {"ocp": {}}}}}}}`} {
		f.Add(seed)
	}
	targets := map[configv1.PlatformType]string{
		"AWS": `{"ami": {"id": "ami-old"}}`, "GCP": `{"disks": [{"boot": true, "image": "` + someGCP + `old"}]}`, "Azure": `{"image": {"resourceID": "` + upload + infra + `"}}`,
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := golden.Read(map[string]string{golden.StreamKey: text})
		if err != nil {
			return
		}
		for platform, spec := range targets {
			verdict := g.Judge(on(platform), golden.FromMachineSet(machineSet(spec)))
			if verdict.Outcome == golden.Outdated {
				if _, err := apply(t, machineSet(spec), verdict.Patch); err != nil {
					t.Error(err)
				}
			}
		}
		if data, changed := golden.Remember(nil, g); changed != (len(data) == 1) || changed != (len(g.Images()) > 0) {
			t.Errorf("%v: %q", changed, data)
		}
	})
}

// FuzzJudge looks at whatever a target may hold: it ends, and what it would write the API server takes.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		"null", "{}", "[]", "3", `{"ami": {"id": "ami-old"}}`, `{"ami": null, "placement": null}`, `{"disks": [null, {"boot": true, "image": "` + someGCP + `a"}]}`, `{"disks": null}`,
		`{"image": {"resourceID": "` + upload + infra + `"}, "securityProfile": null}`, `{"image": {"publisher": "azureopenshift", "offer": "aro4"}}`, `{"template": "a", "workspace": null}`, `{"image": "` + someGCP + `a"}`,
	} {
		f.Add(seed, "kubernetes.io/arch=amd64", "ami-mine,")
	}
	g := read(f, made())
	f.Fuzz(func(t *testing.T, spec, labels, adopted string) {
		annotations := annotated(golden.ArchAnnotation, labels, adopt, adopted)
		for _, platform := range []configv1.PlatformType{"AWS", "GCP", "Azure", "VSphere"} {
			set, cluster := machineSet(spec), on(platform)
			set.Annotations, cluster.Templates = annotations, templates{"9.8": "new"}
			verdict := g.Judge(cluster, golden.FromMachineSet(set))
			if verdict.Outcome == golden.Outdated {
				if _, err := apply(t, set, verdict.Patch); err != nil {
					t.Error(err)
				}
			}
		}
		var machine map[string]any
		if json.Unmarshal([]byte(spec), &machine) != nil {
			return
		}
		for _, kind := range []string{awsTemplate, gcpTemplate} {
			set := capiSet(t, kind, "first")
			set.SetAnnotations(annotations)
			verdict := g.Judge(on("AWS"), golden.FromClusterAPI(golden.CAPIMachineSets, set, template(t, kind, spec)))
			if verdict.Outcome == golden.Outdated {
				if _, err := apply(t, set, verdict.Patch); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
