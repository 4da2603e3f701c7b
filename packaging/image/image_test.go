package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	spdxjson "github.com/spdx/tools-golang/json"
)

const testCommit = "01d932c8a5c90123456789abcdef0123456789ab"

func testBuild() *Build {
	return &Build{
		Commit: testCommit, Time: time.Date(2026, 11, 22, 16, 0, 56, 0, time.UTC), OS: "linux", Arch: "amd64",
		Go: "go1.26.8", Module: "github.com/capstan-capi/capstan",
		Modules: []*debug.Module{{Path: "example.com/a_b", Version: "v1.2.3+incompatible", Sum: "h1:abc"}, {Path: "example.com/B", Version: "v0.1.0"}},
	}
}

// source is what an image is made of.
type source struct {
	payload  string
	programs []Program
}

// sources writes a payload into a folder of its own, and has a program and another one beside it.
func sources(t *testing.T, b *Build, program string, payload map[string]string) source {
	t.Helper()
	helper := *b
	helper.Modules = append(slices.Clone(b.Modules[:1]), &debug.Module{Path: "example.com/z", Version: "v3.0.0"})
	s := source{payload: t.TempDir(), programs: []Program{{"capstan", []byte(program), b}, {"capstan-stub", []byte("helper"), &helper}}}
	for name, text := range payload {
		write(t, filepath.Join(s.payload, name), text)
	}
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func standard(t *testing.T, b *Build) source {
	t.Helper()
	return sources(t, b, "program", map[string]string{"image-references": "{}", "0000_30_b.yaml": "b: 1", "0000_30_a.yaml": "a: 1"})
}

// made is an image in a new folder.
func made(t *testing.T, s source) (Written, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "image")
	w, err := Write(s.payload, s.programs, folder)
	if err != nil {
		t.Fatal(err)
	}
	return w, folder
}

func TestImage_two_folders_give_the_same_bytes(t *testing.T) {
	one, first := made(t, standard(t, testBuild()))
	two, second := made(t, standard(t, testBuild()))
	if one != two {
		t.Errorf("the digests are %v and %v", one, two)
	}
	if a, b := tree(t, first), tree(t, second); !maps.Equal(a, b) || len(a) < 9 {
		t.Errorf("the layouts differ: %q and %q", slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
	}
}

func TestImage_whatever_it_is_made_of_is_in_its_digest(t *testing.T) {
	seen := map[v1.Hash]string{}
	other := testBuild()
	other.Commit = strings.Repeat("a", 40)
	dirty := testBuild()
	dirty.Modified = true
	helper := standard(t, testBuild())
	helper.programs[1].Content = []byte("another helper")
	for name, source := range map[string]source{
		"as it is":               standard(t, testBuild()),
		"another binary":         sources(t, testBuild(), "another", map[string]string{"image-references": "{}"}),
		"another second binary":  helper,
		"another payload":        sources(t, testBuild(), "another", map[string]string{"image-references": "{} "}),
		"another commit":         standard(t, other),
		"changes in no commit":   standard(t, dirty),
		"another name of a file": sources(t, testBuild(), "another", map[string]string{"image-reference": "{}"}),
	} {
		w, _ := made(t, source)
		if same, ok := seen[w.Image]; ok {
			t.Errorf("%s and %s have one digest", name, same)
		}
		seen[w.Image] = name
	}
}

func TestImage_is_what_a_release_takes_and_a_cluster_runs(t *testing.T) {
	w, folder := made(t, standard(t, testBuild()))
	img := find(t, folder, w.Image)
	if err := validate.Image(img); err != nil {
		t.Errorf("the image is not sound: %v", err)
	}
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c.Config.Labels["io.openshift.release.operator"] != "true" || c.Config.Labels["io.openshift.build.commit.id"] != testCommit {
		t.Errorf("its labels are %v", c.Config.Labels)
	}
	if uid, _, _ := strings.Cut(c.Config.User, ":"); uid == "" || uid == "0" || strings.Trim(uid, "0123456789") != "" {
		t.Errorf("it runs as %q: runAsNonRoot wants a number that is not 0", c.Config.User)
	}
	if c.OS != "linux" || c.Architecture != "amd64" || !c.Created.Equal(testBuild().Time) {
		t.Errorf("it is of %s/%s and %s", c.OS, c.Architecture, c.Created)
	}
	files := unpack(t, img)
	want := map[string]string{
		"usr/bin/capstan": "program", "usr/bin/capstan-stub": "helper", "manifests/image-references": "{}", "manifests/0000_30_a.yaml": "a: 1", "manifests/0000_30_b.yaml": "b: 1",
	}
	if !maps.Equal(files, want) {
		t.Errorf("it has %q", files)
	}
	if c.Config.Entrypoint[0] != "/usr/bin/capstan" || !slices.Contains(c.Config.Env, "PATH=/usr/bin") {
		t.Errorf("it starts %q with %q; the Deployment's command is capstan", c.Config.Entrypoint, c.Config.Env)
	}
}

func TestImage_of_a_provider_has_its_profiles_and_stays_out_of_releases(t *testing.T) {
	s := sources(t, testBuild(), "program", nil)
	profile := filepath.Join(s.payload, "default")
	if err := os.Mkdir(profile, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(profile, "metadata.yaml"), "name: a")
	folder := filepath.Join(t.TempDir(), "image")
	w, err := WriteProvider(s.payload, s.programs[:1], folder)
	if err != nil {
		t.Fatal(err)
	}
	img := find(t, folder, w.Image)
	if files, want := unpack(t, img), map[string]string{"usr/bin/capstan": "program", "capi-operator-manifests/default/metadata.yaml": "name: a"}; !maps.Equal(files, want) {
		t.Errorf("it has %q", files)
	}
	if c, err := img.ConfigFile(); err != nil || c.Config.Labels["io.openshift.release.operator"] != "" || c.Config.Labels["io.openshift.build.commit.id"] != testCommit {
		t.Errorf("its labels are %v (%v)", c.Config.Labels, err)
	}
	write(t, filepath.Join(s.payload, "letter"), "dear")
	if _, err := WriteProvider(s.payload, s.programs[:1], folder); err == nil || !strings.Contains(err.Error(), "letter is not a folder") {
		t.Errorf("a file beside profiles gives %v", err)
	}
}

func TestImage_replaces_a_layout_and_nothing_else(t *testing.T) {
	s := standard(t, testBuild())
	folder := filepath.Join(t.TempDir(), "image")
	for range 2 {
		if _, err := Write(s.payload, s.programs, folder); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := filepath.Glob(filepath.Dir(folder) + "/*"); err != nil || len(left) != 1 {
		t.Errorf("beside it are %q (%v)", left, err)
	}
	home := t.TempDir()
	write(t, filepath.Join(home, "letters"), "dear")
	if _, err := Write(s.payload, s.programs, home); err == nil || !strings.Contains(err.Error(), "no OCI layout") {
		t.Errorf("a folder with other files gives %v", err)
	}
	if _, err := os.Stat(filepath.Join(home, "letters")); err != nil {
		t.Error(err)
	}
}

func TestImage_needs_a_payload_of_files(t *testing.T) {
	s := sources(t, testBuild(), "program", nil)
	if _, err := Write(s.payload, s.programs, filepath.Join(t.TempDir(), "image")); err == nil || !strings.Contains(err.Error(), "no files") {
		t.Errorf("an empty payload gives %v", err)
	}
	s = standard(t, testBuild())
	if err := os.Mkdir(filepath.Join(s.payload, "more"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(s.payload, s.programs, filepath.Join(t.TempDir(), "image")); err == nil || !strings.Contains(err.Error(), "more is not a file") {
		t.Errorf("a folder in the payload gives %v", err)
	}
}

func TestImage_removes_no_folder_that_is_no_layout(t *testing.T) {
	for _, ending := range []string{"", ".new"} {
		folder := filepath.Join(t.TempDir(), "image")
		if err := os.Mkdir(folder+ending, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder+ending, "letter"), "text")
		s := standard(t, testBuild())
		if _, err := Write(s.payload, s.programs, folder); err == nil || !strings.Contains(err.Error(), "no OCI layout") {
			t.Errorf("with files in %s%s the error is %v", folder, ending, err)
		}
		if _, err := os.Stat(filepath.Join(folder+ending, "letter")); err != nil {
			t.Error(err)
		}
	}
}

func TestSBOM_names_what_is_replaced_and_what_stands_for_it(t *testing.T) {
	b := testBuild()
	b.Modules = []*debug.Module{
		{Path: "example.com/c", Version: "v1.0.0", Replace: &debug.Module{Path: "./third_party/c"}},
		{Path: "example.com/d", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1", Sum: "h1:def"}},
	}
	w, folder := made(t, standard(t, b))
	doc, err := spdxjson.Read(bytes.NewReader(referrer(t, folder, w.Image, w.SBOM, "application/spdx+json")))
	if err != nil {
		t.Fatal(err)
	}
	local, fork := doc.Packages[3], doc.Packages[4]
	if local.PackageName != "example.com/c" || local.PackageVersion != "v1.0.0" || len(local.PackageExternalReferences) > 0 ||
		!strings.HasPrefix(local.PackageComment, "third_party/c of "+repository) {
		t.Errorf("of a folder it says %s %s: %s", local.PackageName, local.PackageVersion, local.PackageComment)
	}
	if fork.PackageExternalReferences[0].Locator != "pkg:golang/example.com/fork@v1.0.1" ||
		fork.PackageComment != "stands in for example.com/d v1.0.0 by a replace in go.mod; go.sum has h1:def" {
		t.Errorf("of a module it says %s: %s", fork.PackageName, fork.PackageComment)
	}
}

func TestSBOM_names_every_module_of_each_binary(t *testing.T) {
	w, folder := made(t, standard(t, testBuild()))
	content := referrer(t, folder, w.Image, w.SBOM, "application/spdx+json")
	doc, err := spdxjson.Read(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, p := range doc.Packages {
		urls = append(urls, p.PackageExternalReferences[0].Locator)
	}
	want := []string{
		"pkg:golang/github.com/capstan-capi/capstan@" + testCommit, "pkg:golang/github.com/capstan-capi/capstan@" + testCommit, "pkg:golang/stdlib@1.26.8",
		"pkg:golang/example.com/a_b@v1.2.3%2Bincompatible", "pkg:golang/example.com/b@v0.1.0", "pkg:golang/example.com/z@v3.0.0",
	}
	if !slices.Equal(urls, want) {
		t.Errorf("it has %q", urls)
	}
	var related []string
	for _, r := range doc.Relationships {
		related = append(related, fmt.Sprintf("%s %s %s", r.RefA.ElementRefID, r.Relationship, r.RefB.ElementRefID))
	}
	if want := []string{
		"DOCUMENT DESCRIBES Package-capstan", "DOCUMENT DESCRIBES Package-capstan-stub",
		"Package-capstan DEPENDS_ON Package-0-stdlib", "Package-capstan DEPENDS_ON Package-1-example.com-a-b", "Package-capstan DEPENDS_ON Package-2-example.com-B",
		"Package-capstan-stub DEPENDS_ON Package-0-stdlib", "Package-capstan-stub DEPENDS_ON Package-1-example.com-a-b", "Package-capstan-stub DEPENDS_ON Package-3-example.com-z",
	}; !slices.Equal(related, want) || doc.CreationInfo.Created != "2026-11-22T16:00:56Z" {
		t.Errorf("it has %q, and is of %s", related, doc.CreationInfo.Created)
	}
	for i, content := range []string{"program", "helper"} {
		digest := sha256.Sum256([]byte(content))
		if sum := doc.Packages[i].PackageChecksums[0].Value; sum != hex.EncodeToString(digest[:]) {
			t.Errorf("the checksum of %s is %s", doc.Packages[i].PackageFileName, sum)
		}
	}
}

func TestProvenance_binds_the_image_to_its_commit(t *testing.T) {
	w, folder := made(t, standard(t, testBuild()))
	var statement struct {
		Type          string `json:"_type"`
		PredicateType string
		Subject       []struct{ Digest map[string]string }
		Predicate     struct {
			BuildDefinition struct {
				ResolvedDependencies []struct{ Digest map[string]string }
			}
		}
	}
	if err := json.Unmarshal(referrer(t, folder, w.Image, w.Provenance, "application/vnd.in-toto+json"), &statement); err != nil {
		t.Fatal(err)
	}
	if statement.Type != "https://in-toto.io/Statement/v1" || statement.PredicateType != "https://slsa.dev/provenance/v1" {
		t.Errorf("it is a %s of %s", statement.Type, statement.PredicateType)
	}
	if got := statement.Subject[0].Digest["sha256"]; got != w.Image.Hex {
		t.Errorf("it is about %s, the image is %s", got, w.Image)
	}
	if got := statement.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"]; got != testCommit {
		t.Errorf("it names the commit %s", got)
	}
}

// tree is every file of a folder.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func find(t *testing.T, folder string, digest v1.Hash) v1.Image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	img, err := index.Image(digest)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// referrer is the document in a manifest of the layout, whose subject must be the image.
func referrer(t *testing.T, folder string, subject, digest v1.Hash, kind string) []byte {
	t.Helper()
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(manifests.Manifests, func(d v1.Descriptor) bool { return d.Digest == digest && d.ArtifactType == kind }) {
		t.Errorf("the index does not name %s as %s", digest, kind)
	}
	m, err := find(t, folder, digest).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if m.Subject == nil || m.Subject.Digest != subject || m.ArtifactType != kind || string(m.Config.MediaType) != "application/vnd.oci.empty.v1+json" {
		t.Errorf("the manifest is of %v and %s with config %s", m.Subject, m.ArtifactType, m.Config.MediaType)
	}
	content, err := layout.Path(folder).Bytes(m.Layers[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// unpack is what an image has, all of it of root and of the commit's time.
func unpack(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	flat := mutate.Extract(img)
	defer flat.Close()
	files := map[string]string{}
	r := tar.NewReader(flat)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(testBuild().Time) || h.Mode&0o022 != 0 {
			t.Errorf("%s is of %d:%d, mode %o, from %s", h.Name, h.Uid, h.Gid, h.Mode, h.ModTime)
		}
		if h.FileInfo().IsDir() {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(content)
	}
}
