package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	coreMetadata  = "name: core\ninstallOrder: 10\nselfImageRef: quay.io/self\n"
	coreManifests = `apiVersion: v1
kind: Namespace
metadata:
  name: openshift-cluster-api
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: manager
  namespace: openshift-cluster-api
spec:
  template:
    spec:
      containers:
      - image: quay.io/self
        args: ["--tls-min-version=${TLS_MIN_VERSION}", "--v=${LEVEL:=0}"]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.test.cluster.x-k8s.io
spec:
  group: test.cluster.x-k8s.io
  names: {kind: Thing, plural: things}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`
	awsMetadata  = "name: aws\ninstallOrder: 20\nocpPlatform: AWS\n"
	awsManifests = "apiVersion: test.cluster.x-k8s.io/v1\nkind: Thing\nmetadata:\n  name: <a>\n"
)

var coreRef = "registry.example.com/core@sha256:" + strings.Repeat("0a", 32)

// write makes a folder with files, by their paths in it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for file, content := range files {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// imageFolder is laid out as an image is mounted, with the reference coreRef.
func imageFolder(t *testing.T) string {
	return write(t, map[string]string{
		"image-ref": coreRef + "\n",
		"capi-operator-manifests/default/metadata.yaml":  coreMetadata,
		"capi-operator-manifests/default/manifests.yaml": coreManifests,
	})
}

// awsFolder is laid out as manifests-gen writes profiles.
func awsFolder(t *testing.T) string {
	return write(t, map[string]string{"aws/metadata.yaml": awsMetadata, "aws/manifests.yaml": awsManifests, "README": "no profile"})
}

// capstan runs a command line as main does.
func capstan(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

func mustCapstan(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, err := capstan(t, args...)
	if err != nil || errs != "" {
		t.Fatalf("capstan %s: %v\n%s", strings.Join(args, " "), err, errs)
	}
	return out
}

func TestRender_JSON_has_the_promised_shape(t *testing.T) {
	aws := awsFolder(t)
	out := mustCapstan(t, "render", "--dir", aws, "--dir", imageFolder(t), "--platform", "VSphere", "--release-version", "4.22.5",
		"--set", "LEVEL=4", "--set", "TLS_CIPHER_SUITES=a=b", "--revision", "7", "--unmanaged", "things.test.cluster.x-k8s.io", "-o", "json")
	var got revision
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.ContentID) != 64 || len(got.Components) != 1 || len(got.Components[0].ContentID) != 64 {
		t.Fatalf("got %s", out)
	}
	want := revision{
		Name: "4.22.5-" + got.ContentID[:8] + "-7", ContentID: got.ContentID, Revision: 7, Platform: "VSphere",
		Components: []component{{
			Name: "core", Image: coreRef, Profile: "default", InstallOrder: 10, ContentID: got.Components[0].ContentID,
			Objects: []object{
				{"v1", "Namespace", "", "openshift-cluster-api"},
				{"apps/v1", "Deployment", "openshift-cluster-api", "manager"},
				{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things.test.cluster.x-k8s.io"},
			},
		}},
		Skipped:       []skipped{{"aws", `for platform AWS, the cluster's is "VSphere"`}},
		Substitutions: map[string]string{"EXP_BOOTSTRAP_FORMAT_IGNITION": "true", "LEVEL": "4", "TLS_CIPHER_SUITES": "a=b", "TLS_MIN_VERSION": "VersionTLS12"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	keys := []string{
		"name", "contentID", "revision", "platform", "components", "image", "profile", "installOrder", "objects",
		"apiVersion", "kind", "namespace", "skipped", "reason", "substitutions",
	}
	for _, key := range keys {
		if !strings.Contains(out, fmt.Sprintf("%q: ", key)) {
			t.Errorf("no key %s in %s", key, out)
		}
	}
}

func TestRender_a_revision_of_nothing_has_empty_lists(t *testing.T) {
	out := mustCapstan(t, "render", "--dir", awsFolder(t), "--platform", "None", "--release-version", "4.22.5", "-o", "json")
	if !strings.Contains(out, `"components": []`) {
		t.Errorf("got %s", out)
	}
}

func TestRender_YAML_is_the_objects_as_they_would_be_applied(t *testing.T) {
	args := []string{"render", "--dir", imageFolder(t), "--dir", awsFolder(t), "--platform", "AWS", "--release-version", "4.22.5", "-o", "yaml"}
	out := mustCapstan(t, args...)
	for _, want := range []string{
		"# Component core: profile default of " + coreRef + "\n---\n", "image: " + coreRef, "--tls-min-version=VersionTLS12",
		"capi-operator.openshift.io/managed-by: core", "kind: CustomResourceDefinition", "managed-by: aws", "name: <a>",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in %s", want, out)
		}
	}
	if out := mustCapstan(t, append(args, "--unmanaged", "things.test.cluster.x-k8s.io")...); strings.Contains(out, "\nkind: CustomResourceDefinition") ||
		!strings.Contains(out, "# Component capstan.requirements\n---\n") || !strings.Contains(out, "name: capstan-shape.things.test.cluster.x-k8s.io.") {
		t.Errorf("an unmanaged CustomResourceDefinition is among the objects, or its requirement is not: %s", out)
	}
}

func TestRender_summary_is_for_people(t *testing.T) {
	out := mustCapstan(t, "render", "--dir", imageFolder(t), "--dir", awsFolder(t), "--platform", "GCP", "--release-version", "4.22.5", "--unmanaged", "a.b.c")
	for _, want := range []string{"4.22.5-", "components 1 with 3 objects", "10     core", coreRef, "aws      for platform AWS", "TLS_MIN_VERSION", "UNMANAGED\na.b.c  (in no profile"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in %s", want, out)
		}
	}
}

func TestRender_an_image_gives_what_its_folder_gives(t *testing.T) {
	ref := push(t, map[string]string{
		"capi-operator-manifests/default/metadata.yaml":  coreMetadata,
		"capi-operator-manifests/default/manifests.yaml": coreManifests,
	})
	dir := write(t, map[string]string{
		"image-ref": ref,
		"capi-operator-manifests/default/metadata.yaml":  coreMetadata,
		"capi-operator-manifests/default/manifests.yaml": coreManifests,
	})
	args := []string{"render", "--platform", "AWS", "--release-version", "4.22.5", "-o", "json"}
	pulled := mustCapstan(t, append(args, "--image", ref, "--image", ref)...)
	if diff := cmp.Diff(mustCapstan(t, append(args, "--dir", dir)...), pulled); diff != "" || !strings.Contains(pulled, ref) {
		t.Errorf("%s\n%s", pulled, diff)
	}
}

func TestRender_pulls_with_the_credentials_of_a_file(t *testing.T) {
	ref := push(t, map[string]string{
		"capi-operator-manifests/default/metadata.yaml":  coreMetadata,
		"capi-operator-manifests/default/manifests.yaml": coreManifests,
	}, func(inner http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); r.Method != http.MethodGet || user == "me" && password == "secret" {
				inner.ServeHTTP(w, r)
				return
			}
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
		})
	})
	host, _, _ := strings.Cut(ref, "/")
	dir := write(t, map[string]string{
		"good.json": fmt.Sprintf(`{"auths": {%q: {"auth": "bWU6c2VjcmV0"}}}`, host), "bad.json": "no JSON",
	})
	args := []string{"render", "--image", ref, "--platform", "AWS", "--release-version", "4.22.5", "--registry-config"}
	mustCapstan(t, append(args, filepath.Join(dir, "good.json"))...)
	for file, want := range map[string]string{
		"bad.json":  "the credentials in file " + filepath.Join(dir, "bad.json") + " are not used",
		"gone.json": "reading credentials for registries: open " + filepath.Join(dir, "gone.json"),
	} {
		if _, errs, err := capstan(t, append(args, filepath.Join(dir, file))...); err == nil || !strings.Contains(errs, want) {
			t.Errorf("want %q, got %v\n%s", want, err, errs)
		}
	}
	t.Setenv("REGISTRY_AUTH_FILE", filepath.Join(dir, "good.json"))
	mustCapstan(t, args[:len(args)-1]...)
}

// push serves an image with these files from a registry on loopback, behind guards.
func push(t *testing.T, files map[string]string, guards ...func(http.Handler) http.Handler) string {
	t.Helper()
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	for _, guard := range guards {
		handler = guard(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	var layer bytes.Buffer
	writer := tar.NewWriter(&layer)
	for file, content := range files {
		if err := writer.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	packed, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, packed)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewDigest(strings.TrimPrefix(server.URL, "http://") + "/capi/core@" + digest.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image); err != nil {
		t.Fatal(err)
	}
	return ref.String()
}

func TestRender_the_same_folder_has_the_same_content_ID_wherever_it_is_run(t *testing.T) {
	var first string
	for range 3 {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(awsFolder(t))); err != nil {
			t.Fatal(err)
		}
		out := mustCapstan(t, "render", "--dir", dir, "--platform", "AWS", "--release-version", "4.22.5", "-o", "json")
		if first == "" {
			first = out
		}
		if diff := cmp.Diff(first, out); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRender_refuses_what_an_image_may_not_contain_but_for_exceptions(t *testing.T) {
	dir := write(t, map[string]string{"a/metadata.yaml": "name: a\n", "a/manifests.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: there}\n"})
	args := []string{"render", "--dir", dir, "--platform", "AWS", "--release-version", "4.22.5"}
	if _, errs, err := capstan(t, args...); err == nil || !strings.Contains(errs, "rule namespace of the policy") {
		t.Errorf("got %s, %v", errs, err)
	}
	mustCapstan(t, append(args, "--namespace", "there")...)
	list := write(t, map[string]string{"list.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\ndata: {one: \"reason: r\\nimage: i\\nrule: namespace\\nobject: Secret there/s\"}\n"})
	mustCapstan(t, append(args, "--exceptions", filepath.Join(list, "list.yaml"))...)
}

func TestRender_refuses_command_lines_that_make_no_sense(t *testing.T) {
	dir := imageFolder(t)
	for want, args := range map[string][]string{
		"no provider image is given: name at least one with --image or --dir": {"--platform", "AWS", "--release-version", "4.22.5"},
		"--platform is needed":                      {"--dir", dir, "--release-version", "4.22.5"},
		`--platform: unknown platform "aws"`:        {"--dir", dir, "--release-version", "4.22.5", "--platform", "aws"},
		"--release-version (or env":                 {"--dir", dir, "--platform", "AWS"},
		"is not a version such as 4.22.5":           {"--dir", dir, "--platform", "AWS", "--release-version", "a b"},
		"--revision 0 is less than 1":               {"--dir", dir, "--platform", "AWS", "--release-version", "4.22.5", "--revision", "0"},
		`--output "xml" is neither`:                 {"--dir", dir, "--platform", "AWS", "--release-version", "4.22.5", "-o", "xml"},
		`--set "A" is not of the form KEY=VALUE`:    {"--dir", dir, "--platform", "AWS", "--release-version", "4.22.5", "--set", "A"},
		"unknown flag: --everything":                {"--everything", "a"},
		`unknown command "dir" for "capstan render`: {"dir"},
	} {
		out, _, err := capstan(t, append([]string{"render"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("want %q, got %v and %q", want, err, out)
		}
	}
}

func TestRender_reports_all_that_is_wrong_a_line_each(t *testing.T) {
	broken := write(t, map[string]string{
		"a/metadata.yaml": "name: a\ncolour: red\n", "a/manifests.yaml": "kind: ConfigMap\nvalue: ${REGION}\n",
		"b/manifests.yaml": "", "c/metadata.yaml": "",
	})
	out, errs, err := capstan(t, "render", "--dir", broken, "--dir", "/not/there", "--image", "quay.io/a:latest", "--platform", "AWS", "--release-version", "4.22.5")
	if err == nil || err.Error() != "nothing is rendered, because of 7 problems" || out != "" {
		t.Errorf("got %v and %q", err, out)
	}
	for _, want := range []string{
		"image " + broken + ": profile b has no metadata.yaml",
		"image " + broken + ": profile c has no manifests.yaml",
		"image /not/there: there is no such folder",
		`image reference "quay.io/a:latest" is by tag`,
		"image " + broken + ", profile a, file metadata.yaml, document 1, line 2, field colour: unknown field",
		"image " + broken + ", profile a, file manifests.yaml, document 1, line 1, ConfigMap, field apiVersion: is missing",
		"image " + broken + ", profile a, file manifests.yaml, document 1, line 1, ConfigMap, field metadata: the object has no metadata",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("want %q in\n%s", want, errs)
		}
	}
}

func TestRender_an_image_that_cannot_be_had_is_named_with_the_cause(t *testing.T) {
	ref := push(t, map[string]string{"etc/os-release": "x"})
	gone := strings.Replace(ref, "/capi/core@", "/capi/gone@", 1)
	_, errs, err := capstan(t, "render", "--image", ref, "--image", gone, "--platform", "AWS", "--release-version", "4.22.5")
	if err == nil || !strings.Contains(errs, "image "+ref+": it has no folder /capi-operator-manifests") || !strings.Contains(errs, "image "+gone+": registry ") {
		t.Errorf("got %v\n%s", err, errs)
	}
}

func TestRender_a_variable_without_a_value_is_a_warning_and_to_lint_a_problem(t *testing.T) {
	dir := write(t, map[string]string{
		"a/metadata.yaml": "name: a\n", "a/manifests.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: openshift-cluster-api}\ndata: {region: \"${REGION}\"}\n",
	})
	out, errs, err := capstan(t, "render", "--dir", dir, "--platform", "AWS", "--release-version", "4.22.5")
	if err != nil || out == "" || !strings.Contains(errs, "warning: image "+dir+", profile a, file manifests.yaml, document 1, line 4: variable REGION has neither a value nor a default, and is taken as empty") {
		t.Errorf("got %v and %s", err, errs)
	}
	if out, _, err = capstan(t, "lint", dir); err == nil || !strings.Contains(out, "line 4: variable REGION has neither a value nor a default: add it") {
		t.Errorf("lint says %s, %v", out, err)
	}
}

func TestCredentialFiles_are_none_of_the_working_directory(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("REGISTRY_AUTH_FILE", "")
	for _, file := range credentialFiles() {
		if file != "" && !filepath.IsAbs(file) {
			t.Errorf("%s is in the working directory", file)
		}
	}
}
