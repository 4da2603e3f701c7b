package providers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/capstan-capi/capstan/e2e/providers"
)

var update = flag.Bool("update", false, "write the golden content IDs anew; a change of one means that every cluster installs a new revision")

// goldenFile holds a line per rendering of a release: platform, revision, components.
const goldenFile = "testdata/content-ids.txt"

var releases = []string{providers.ReleaseOne, providers.ReleaseTwo, providers.CloudsOne, providers.CloudsTwo}

// platforms are those that a release has a component for, and one that none is for.
func platforms(release string) []string {
	if release == providers.CloudsOne || release == providers.CloudsTwo {
		return []string{"GCP", "Azure", "None"}
	}
	return []string{"AWS", "VSphere", "PowerVS", "None"}
}

var capstan = sync.OnceValues(func() (string, error) {
	path := filepath.Join(bin, "capstan")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-C", "../..", "-buildvcs=false", "-tags=grpcnotrace", "-o", "bin/capstan", "./cmd/capstan").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building capstan: %w\n%s", err, out)
	}
	return path, err
})

func runCapstan(t *testing.T, args ...string) []byte {
	t.Helper()
	binary, err := capstan()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	command := exec.CommandContext(t.Context(), binary, args...)
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		t.Fatalf("capstan %s: %v\n%s%s", strings.Join(args, " "), err, out.Bytes(), errs.Bytes())
	}
	return out.Bytes()
}

// mounted lays a built profile out as a mounted image with a reference that
// depends on nothing but component and version: content IDs depend on references.
func mounted(t *testing.T, p providers.Profile) string {
	t.Helper()
	dir := t.TempDir()
	reference := fmt.Sprintf("registry.example.com/providers/%s@sha256:%x", p.Component, sha256.Sum256([]byte(p.Version)))
	if err := os.WriteFile(filepath.Join(dir, "image-ref"), []byte(reference), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, providers.ManifestsDir), os.DirFS(p.Folder)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRender_of_the_real_providers_has_the_golden_content_IDs(t *testing.T) {
	var got strings.Builder
	for _, release := range releases {
		built := build(t, release)
		args := []string{"render", "--release-version", "4.22.5", "-o", "json"}
		for _, component := range slices.Backward(slices.Sorted(maps.Keys(built))) { // the order does not count
			args = append(args, "--dir", mounted(t, built[component]))
		}
		for _, platform := range platforms(release) {
			var revision struct {
				ContentID  string
				Components []struct{ Name, ContentID string }
				Skipped    []struct{ Name string }
			}
			if err := json.Unmarshal(runCapstan(t, append(args, "--platform", platform)...), &revision); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "release %s on %s: %s\n", release, platform, revision.ContentID)
			for _, c := range revision.Components {
				fmt.Fprintf(&got, "  %s %s: %s\n", c.Name, built[c.Name].Version, c.ContentID)
			}
			if len(revision.Components)+len(revision.Skipped) != len(built) {
				t.Errorf("release %s on %s: %d components and %d skipped of %d", release, platform, len(revision.Components), len(revision.Skipped), len(built))
			}
		}
	}
	if *update {
		if err := os.WriteFile(goldenFile, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the content IDs of the real providers have changed, so every cluster would install a new revision; "+
			"if that is meant, run this test with -update\ngot\n%swant\n%s", got.String(), want)
	}
}

func TestLint_of_the_real_providers_finds_nothing(t *testing.T) {
	for _, release := range releases {
		args, built := []string{"lint"}, build(t, release)
		for _, profile := range built {
			args = append(args, profile.Folder)
		}
		slices.Sort(args[1:])
		if out := string(runCapstan(t, args...)); out != fmt.Sprintf("no problem in %d profiles\n", len(built)) {
			t.Errorf("release %s: %s", release, out)
		}
	}
}
