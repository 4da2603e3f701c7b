package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMetadata_every_field_reaches_the_component(t *testing.T) {
	p := profile("core")
	p.Metadata = []byte(`# A comment.
---
name: cluster-api
installOrder: -3
ocpPlatform: AWS
selfImageRef: quay.io/self
attributes: {type: core, version: "1.13"}
`)
	got := mustRender(t, Input{Profiles: []Profile{p}, Platform: "AWS"}).Components[0]
	want := Component{
		Name: "cluster-api", Image: p.Image, Profile: "default", Platform: "AWS", InstallOrder: -3,
		Attributes: map[string]string{"type": "core", "version": "1.13"}, ContentID: got.ContentID, Objects: got.Objects,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMetadata_all_but_the_name_may_be_left_out(t *testing.T) {
	for _, text := range []string{"name: a", "name: a\nattributes:\nocpPlatform:\nselfImageRef:\n", "name: a\n...\n---\n# nothing\n"} {
		p := profile("core")
		p.Metadata = []byte(text)
		mustRender(t, Input{Profiles: []Profile{p}})
	}
}

func TestMetadata_what_is_wrong_is_reported_with_its_line_and_path(t *testing.T) {
	for _, c := range []struct {
		metadata string
		want     []string // line path: part of the cause
	}{
		{"", []string{"0 : is empty"}},
		{"# only a comment\n", []string{"0 : is empty"}},
		{"name: a\ncolour: red\n", []string{"2 colour: unknown field"}},
		{"name: a\nattributes: {type: core}\nspec:\n  x: 1\n", []string{"3 spec: unknown field"}},
		{"installOrder: 1\n", []string{"1 name: no name"}},
		{"name: ''\n", []string{`1 name: the name ""`}},
		{"name: a b\n", []string{`1 name: the name "a b" must consist`}},
		{"name: -a\n", []string{`1 name: the name "-a" must consist`}},
		{"name: " + strings.Repeat("a", 64), []string{"1 name: has 64 characters, at most 63"}},
		{"name: 7\n", []string{"1 name: must be a string", `1 name: the name ""`}},
		{"name: [a]\n", []string{"1 name: must be a string"}},
		{"name: a\nname: b\n", []string{"2 name: twice, first on line 1"}},
		{"name: a\ninstallOrder: first\n", []string{"2 installOrder: whole number"}},
		{"name: a\ninstallOrder: 1.5\n", []string{"2 installOrder: whole number"}},
		{"name: a\ninstallOrder: 4294967296\n", []string{"2 installOrder: whole number"}},
		{"name: a\nocpPlatform: Aws\n", []string{`2 ocpPlatform: unknown platform "Aws": the platforms are AWS, `}},
		{"name: a\nattributes:\n  version: 1.13\n", []string{"3 attributes.version: must be a string"}},
		{"name: a\nattributes:\n  type: a\n  type: b\n", []string{"4 attributes.type: twice, first on line 3"}},
		{"name: a\nattributes: [a]\n", []string{"2 attributes: must be a mapping"}},
		{"- name: a\n", []string{"1 : must be a mapping", "1 name: no name"}},
		{"name: a\n---\nname: b\n", []string{"3 : more than one YAML document"}},
		{"name: a\nb\n", []string{"2 : not valid YAML"}},
		{"name: *a\nx: 1", []string{"1 : not valid YAML: unknown anchor"}},
	} {
		p := profile("core")
		p.Metadata = []byte(c.metadata)
		found := problems(t, Input{Profiles: []Profile{p}})
		if len(found) != len(c.want) {
			t.Errorf("%q: want %d problems, got %v", c.metadata, len(c.want), found)
			continue
		}
		for i, want := range c.want {
			place, cause, _ := strings.Cut(want, ": ")
			got := fmt.Sprintf("%d %s", found[i].Line, found[i].Path)
			if got != place || !strings.Contains(found[i].Cause, cause) || found[i].File != metadataFile || found[i].Image != p.Image {
				t.Errorf("%q: want %q, got %v", c.metadata, want, found[i])
			}
		}
	}
}

func TestMetadata_every_platform_of_the_API_is_known(t *testing.T) {
	if len(platforms) != 16 {
		t.Errorf("the API has 16 platform types, %d are known", len(platforms))
	}
	for _, platform := range platforms {
		in := Input{Profiles: []Profile{profile("core", "ocpPlatform: "+string(platform))}, Platform: string(platform)}
		if rev := mustRender(t, in); len(rev.Components) != 1 {
			t.Errorf("platform %s does not match itself", platform)
		}
	}
}
