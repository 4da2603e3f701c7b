package providers

import (
	"strings"
	"testing"
)

func TestReleases_pin_every_component_by_version_and_hash(t *testing.T) {
	for _, release := range []string{ReleaseOne, ReleaseTwo, CloudsOne, CloudsTwo, OpenShift} {
		pinned, err := components(release)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pinned {
			if !strings.HasPrefix(p.Version, "v") || !strings.HasPrefix(p.Sum, "h1:") {
				t.Errorf("release %s pins %s to %q, %q", release, p.Name, p.Version, p.Sum)
			}
			kustomization, err := kustomizationOf(p)
			if err != nil {
				t.Error(err)
			}
			repository, tag, _ := strings.Cut(p.SelfImageRef, ":")
			if text := string(kustomization); !strings.Contains(text, "newName: "+repository) || !strings.Contains(text, "newTag: "+tag) {
				t.Errorf("the kustomization of %s does not set the image %s", p.Name, p.SelfImageRef)
			}
		}
	}
}

func TestReleases_an_unknown_release_is_refused_with_the_known_ones(t *testing.T) {
	if _, err := components("three"); err == nil || !strings.Contains(err.Error(), `"three"`) || !strings.Contains(err.Error(), "clouds-one, clouds-two, one, openshift, two") {
		t.Errorf("got %v", err)
	}
}

func TestVerify(t *testing.T) {
	wanted := []pinned{{component{Name: "core", Module: "example.com/core"}, pin{Version: "v1.0.0", Sum: "h1:good="}}}
	for name, row := range map[string]struct{ report, want string }{
		"the pinned hash is accepted":   {`{"Path": "example.com/core", "Version": "v1.0.0", "Dir": "/cache/core", "Sum": "h1:good="}`, ""},
		"another hash is refused":       {`{"Path": "example.com/core", "Version": "v1.0.0", "Dir": "/cache/core", "Sum": "h1:evil="}`, "component core has hash h1:evil=, but releases.yaml pins h1:good="},
		"the Go client's error is told": {`{"Path": "example.com/core", "Version": "v1.0.0", "Error": "not found"}`, "downloading module example.com/core@v1.0.0 of component core: not found"},
		"no answer is an error":         {``, "reports no folder"},
		"a broken answer is an error":   {`{"Path"`, "reading the report"},
	} {
		t.Run(name, func(t *testing.T) {
			folders, err := verify(strings.NewReader(row.report), wanted)
			if row.want == "" {
				if err != nil || folders["example.com/core@v1.0.0"] != "/cache/core" {
					t.Errorf("got %v, %v", folders, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want ...%s...", err, row.want)
			}
		})
	}
}

func TestDownload_refuses_a_real_module_that_has_another_hash_than_pinned(t *testing.T) {
	release, err := components(ReleaseOne)
	if err != nil {
		t.Fatal(err)
	}
	core := release[0]
	core.Sum = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	if _, err := download(t.Context(), []pinned{core}); err == nil || !strings.Contains(err.Error(), "otherwise do not trust it") {
		t.Errorf("got %v", err)
	}
}

func TestCacheKey_changes_with_everything_a_profile_is_made_from(t *testing.T) {
	release, err := components(ReleaseOne)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for name, change := range map[string]func(p *pinned, tool *[]byte){
		"nothing":   func(*pinned, *[]byte) {},
		"tool":      func(_ *pinned, tool *[]byte) { *tool = []byte("newer") },
		"version":   func(p *pinned, _ *[]byte) { p.Version = "v9.9.9" },
		"hash":      func(p *pinned, _ *[]byte) { p.Sum = "h1:other=" },
		"order":     func(p *pinned, _ *[]byte) { p.InstallOrder++ },
		"component": func(p *pinned, _ *[]byte) { p.Name = release[1].Name },
	} {
		p, tool := release[0], []byte("tool")
		change(&p, &tool)
		key, err := cacheKey(p, tool)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := keys[key]; twice {
			t.Errorf("changing %s and changing %s give the same key", name, other)
		}
		keys[key] = name
	}
}
