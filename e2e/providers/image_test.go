package providers_test

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/capstan-capi/capstan/e2e/providers"
	"github.com/capstan-capi/capstan/e2e/registry"
)

// contents are the entries of an image's file system; a folder is an empty one.
func contents(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	files := map[string]string{}
	stream := mutate.Extract(image)
	defer stream.Close()
	reader := tar.NewReader(stream)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := files[header.Name]; twice {
			t.Errorf("%s is in the image twice", header.Name)
		}
		files[header.Name] = string(content)
	}
}

func startRegistry(t *testing.T) *registry.Registry {
	t.Helper()
	r, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Stop() })
	return r
}

func TestImage_holds_the_files_and_the_folders_above_them(t *testing.T) {
	image, err := providers.Image(map[string][]byte{
		"capi-operator-manifests/default/metadata.yaml":   []byte("name: core"),
		"/capi-operator-manifests/default/manifests.yaml": []byte("kind: ConfigMap"),
		"capi-operator-manifests/odd/metadata.yaml":       nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"capi-operator-manifests":                        "",
		"capi-operator-manifests/default":                "",
		"capi-operator-manifests/default/metadata.yaml":  "name: core",
		"capi-operator-manifests/default/manifests.yaml": "kind: ConfigMap",
		"capi-operator-manifests/odd":                    "",
		"capi-operator-manifests/odd/metadata.yaml":      "",
	}
	if got := contents(t, image); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if mediaType, err := image.MediaType(); err != nil || mediaType != types.OCIManifestSchema1 {
		t.Errorf("the image is a %s (%v), want an OCI image", mediaType, err)
	}
}

func TestImage_of_the_same_files_has_the_same_digest(t *testing.T) {
	digests := map[v1.Hash]bool{}
	for _, content := range []string{"a", "a", "b"} {
		image, err := providers.Image(map[string][]byte{"x/one": []byte(content), "x/two": []byte("two"), "y": nil})
		if err != nil {
			t.Fatal(err)
		}
		digest, err := image.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests[digest] = true
	}
	if len(digests) != 2 {
		t.Errorf("got %d digests for two contents: %v", len(digests), digests)
	}
}

func TestImage_without_files_is_an_image_too(t *testing.T) {
	image, err := providers.Image(nil)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := providers.PushImage(t.Context(), startRegistry(t).Host(), "bad/empty", image)
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, pull(t, reference)); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestPush_gives_references_by_digest_that_can_be_pulled(t *testing.T) {
	built := build(t, providers.ReleaseOne)
	host := startRegistry(t).Host()
	references, err := providers.Push(t.Context(), host, slices.Collect(maps.Values(built)))
	if err != nil {
		t.Fatal(err)
	}
	if len(references) != len(built) {
		t.Errorf("got %d references for %d components", len(references), len(built))
	}
	for component, reference := range references {
		if want := host + "/providers/" + component + "@sha256:"; !strings.HasPrefix(reference, want) {
			t.Errorf("%s is pushed as %s, want %s...", component, reference, want)
		}
		files := contents(t, pull(t, reference))
		if files["capi-operator-manifests/default/manifests.yaml"] != string(manifests(t, built[component])) {
			t.Errorf("the image of %s holds other manifests than its profile", component)
		}
		if !strings.HasPrefix(files["capi-operator-manifests/default/metadata.yaml"], "name: "+component+"\n") {
			t.Errorf("the image of %s has metadata %s", component, files["capi-operator-manifests/default/metadata.yaml"])
		}
	}
}

func pull(t *testing.T, reference string) v1.Image {
	t.Helper()
	digest, err := name.NewDigest(reference)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}
