package providers_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/envsubst"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/providers"
)

const bin = "../../bin"

var tool = sync.OnceValues(func() (string, error) {
	path := filepath.Join(bin, "manifests-gen")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-C", "../../cmd/manifests-gen", "-o", "../../bin/manifests-gen", ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building manifests-gen: %w\n%s", err, out)
	}
	return path, err
})

// build uses the same tool and folder as the demo, so that the two share what is built.
func build(t *testing.T, release string) map[string]providers.Profile {
	t.Helper()
	manifestsGen, err := tool()
	if err != nil {
		t.Fatal(err)
	}
	options := providers.Options{Release: release, Dir: filepath.Join(bin, "providers"), ManifestsGen: manifestsGen}
	started := time.Now()
	profiles, err := providers.Build(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("release %s built in %s", release, time.Since(started).Round(time.Millisecond))
	byName := map[string]providers.Profile{}
	for _, profile := range profiles {
		byName[profile.Component] = profile
	}
	return byName
}

// newest are all components, each as the last release has it.
func newest(t *testing.T) map[string]providers.Profile {
	t.Helper()
	all := build(t, providers.ReleaseTwo)
	maps.Copy(all, build(t, providers.CloudsTwo))
	return all
}

func manifests(t *testing.T, profile providers.Profile) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(profile.Folder, "default", "manifests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func objects(t *testing.T, manifests []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for document := range bytes.SplitSeq(manifests, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &object.Object); err != nil {
			t.Fatalf("document %d: %v", len(all)+1, err)
		}
		all = append(all, object)
	}
	return all
}

func TestBuild_gives_every_component_of_a_release_its_objects(t *testing.T) {
	for release, want := range map[string]map[string]int{
		providers.ReleaseOne: {providers.Core: 23, providers.AWS: 33, providers.VSphere: 18, providers.PowerVS: 18},
		providers.ReleaseTwo: {providers.Core: 23, providers.AWS: 34, providers.VSphere: 18, providers.PowerVS: 18},
		providers.CloudsOne:  {providers.Core: 23, providers.GCP: 22, providers.Azure: 39},
		providers.CloudsTwo:  {providers.Core: 23, providers.GCP: 22, providers.Azure: 39},
		providers.OpenShift:  {providers.Core: 23, providers.Dev: 21},
	} {
		built := build(t, release)
		for component, count := range want {
			content := manifests(t, built[component])
			t.Logf("release %s: %s %s: %d KiB", release, component, built[component].Version, len(content)/1024)
			if got := len(objects(t, content)); got != count {
				t.Errorf("release %s: %s has %d objects, want %d", release, component, got, count)
			}
		}
		if len(built) != len(want) {
			t.Errorf("release %s has %d components, want %d", release, len(built), len(want))
		}
	}
}

func TestBuild_warm_takes_under_a_second_and_needs_no_Go_client(t *testing.T) {
	build(t, providers.ReleaseOne)
	t.Setenv("PATH", "")
	started := time.Now()
	_, err := providers.Build(t.Context(), providers.Options{
		Release: providers.ReleaseOne, Dir: filepath.Join(bin, "providers"), ManifestsGen: filepath.Join(bin, "manifests-gen"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(started); took > time.Second {
		t.Errorf("a warm build took %s", took)
	}
}

func TestBuild_without_the_tool_says_how_to_build_it(t *testing.T) {
	_, err := providers.Build(t.Context(), providers.Options{
		Release: providers.ReleaseOne, Dir: t.TempDir(), ManifestsGen: filepath.Join(t.TempDir(), "manifests-gen"),
	})
	if err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("got %v", err)
	}
}

func TestBuild_that_breaks_tells_the_tools_own_words_and_leaves_nothing_behind(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "manifests-gen")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho the Deployment is odd >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, err := providers.Build(t.Context(), providers.Options{Release: providers.ReleaseOne, Dir: dir, ManifestsGen: broken})
	if err == nil || !strings.Contains(err.Error(), "the Deployment is odd") || !strings.Contains(err.Error(), "sigs.k8s.io/cluster-api") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBuild_profiles_need_no_substitution_but_the_one_always_given(t *testing.T) {
	for component, profile := range newest(t) {
		content, err := envsubst.Eval(string(manifests(t, profile)), func(name string) (string, bool) {
			return map[string]string{"EXP_BOOTSTRAP_FORMAT_IGNITION": "true"}[name], true
		})
		if err != nil {
			t.Errorf("%s: %v", component, err)
			continue
		}
		objects(t, []byte(content))
	}
}
