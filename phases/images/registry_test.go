package images

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

func TestPuller_reads_layers_in_every_compression_and_both_families_of_media_types(t *testing.T) {
	r := newRegistry(t)
	content := layerTar(t, profileAt(root+"/a", "a"))
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	must(t, err)
	_, err = w.Write(content)
	must(t, err)
	must(t, w.Close())
	oci := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	for name, image := range map[string]v1.Image{
		"gzip, Docker": imageWith(t, gzipLayer(t, content)),
		"zstd, OCI":    appended(t, oci, static.NewLayer(packed.Bytes(), types.OCILayerZStd)),
		"plain, OCI":   appended(t, oci, static.NewLayer(content, types.OCIUncompressedLayer)),
	} {
		ref := r.push(image)
		t.Run(name, func(t *testing.T) {
			p := runPuller(t, Options{})
			p.Want([]Ref{ref})
			if got := p.ready(ref).Profiles; len(got) != 1 || string(got[0].Manifests) != "a" {
				t.Errorf("got %v", got)
			}
		})
	}
}

func appended(t *testing.T, base v1.Image, layers ...v1.Layer) v1.Image {
	t.Helper()
	image, err := mutate.AppendLayers(base, layers...)
	must(t, err)
	return image
}

func TestPuller_chooses_the_architecture_in_a_manifest_list(t *testing.T) {
	r := newRegistry(t)
	of := func(os, arch, content string) mutate.IndexAddendum {
		return mutate.IndexAddendum{
			Add:        imageOf(t, profileAt(root+"/a", content)),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: os, Architecture: arch}},
		}
	}
	for _, media := range []types.MediaType{types.OCIImageIndex, types.DockerManifestList} {
		index := mutate.IndexMediaType(mutate.AppendManifests(empty.Index,
			of("windows", "arm64", "w"), of("linux", "amd64", "x"), of("linux", "arm64", "arm")), media)
		ref := r.pushIndex(index)
		p := runPuller(t, Options{Arch: "arm64"})
		p.Want([]Ref{ref})
		if got := string(p.ready(ref).Profiles[0].Manifests); got != "arm" {
			t.Errorf("arm64 got the image %q", got)
		}
		p = runPuller(t, Options{Arch: "s390x"})
		p.Want([]Ref{ref})
		_, err := p.failed(ref)
		contains(t, err, string(ref), "linux/s390x", "linux/amd64")
		if err.Kind != KindContent {
			t.Errorf("the kind is %s", err.Kind)
		}
	}
}

func TestPuller_refuses_manifests_that_are_no_image(t *testing.T) {
	r := newRegistry(t)
	for name, c := range map[string]struct{ manifest, says string }{
		"both an image and a list":       {`{"schemaVersion":2,"layers":[],"manifests":[]}`, "neither an image of layers nor a list"},
		"of schema 1":                    {`{"schemaVersion":1,"fsLayers":[]}`, "schemaVersion 1"},
		"with layers twice":              {`{"schemaVersion":2,"layers":[],"layers":[{}]}`, `the key "layers" twice`},
		"with a digest twice":            {`{"schemaVersion":2,"layers":[{"digest":"` + someDigest + `","digest":"` + someDigest + `"}]}`, `the key "digest" twice`},
		"with Layers":                    {`{"schemaVersion":2,"layers":[],"Layers":[{}]}`, `the key "Layers", which some readers take for "layers"`},
		"with Digest behind annotations": {`{"schemaVersion":2,"layers":[{"annotations":null},{"Digest":"x"}]}`, `the key "Digest"`},
		"with layerſ":                    {`{"schemaVersion":2,"layerſ":[{}]}`, `which some readers take for "layers"`},
		"with a list's media type":       {`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","layers":[]}`, `mediaType "application/vnd.oci.image.index.v1+json"`},
		"a list called an image":         {`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","manifests":[]}`, "neither an image of layers nor a list"},
		"with no known media type":       {`{"schemaVersion":2,"mediaType":"text/plain","layers":[]}`, `mediaType "text/plain"`},
		"of no schema":                   {`{"layers":[]}`, "schemaVersion 0"},
		"not JSON":                       {`<html>`, "cannot be read"},
		"a layer of negative size":       {`{"schemaVersion":2,"layers":[{"digest":"` + someDigest + `","size":-5}]}`, "size -5"},
		"a layer of enormous size":       {`{"schemaVersion":2,"layers":[{"digest":"` + someDigest + `","size":99999999999999}]}`, "99999999999999 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			digest, _, err := v1.SHA256(strings.NewReader(c.manifest))
			must(t, err)
			ref := r.ref(digest)
			r.breaks("/manifests/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.manifest) })
			p := runPuller(t, Options{})
			p.Want([]Ref{ref})
			_, failure := p.failed(ref)
			contains(t, failure, string(ref), c.says)
			if !failure.Terminal() {
				t.Errorf("it is not terminal: %v", failure)
			}
		})
	}
}

func TestParseManifest_leaves_annotations_and_unknown_fields_alone(t *testing.T) {
	m, err := parseManifest(someDigest, []byte(`{"schemaVersion":2,"layers":[{"size":3,"annotations":{"Size":"a","size":"b"}},{"size":4}],
		"annotations":{"Layers":"x","layers":"y"},"config":{"digest":"x"},"subject":null}`))
	must(t, err)
	if len(m.Layers) != 2 || m.Layers[0].Size != 3 || m.Layers[1].Size != 4 {
		t.Errorf("got %+v", m)
	}
}

func TestPuller_refuses_a_manifest_with_a_wrong_size_for_a_right_blob(t *testing.T) {
	r := newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a"))
	r.push(image)
	layers, err := image.Layers()
	must(t, err)
	digest, size := must1(t, layers[0].Digest), must1(t, layers[0].Size)
	manifest := fmt.Sprintf(`{"schemaVersion":2,"layers":[{"digest":%q,"size":%d}]}`, digest, size+1)
	wrong, _, err := v1.SHA256(strings.NewReader(manifest))
	must(t, err)
	r.breaks("/manifests/", answers(200, manifest))
	p := runPuller(t, Options{})
	p.Want([]Ref{r.ref(wrong)})
	_, failure := p.failed(r.ref(wrong))
	contains(t, failure, fmt.Sprintf("gives %d bytes to blob %s, which has %d", size+1, digest, size))
	if !failure.Terminal() {
		t.Errorf("it is not terminal: %v", failure)
	}
}

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// cuts sends a part of what the registry would have sent and then drops the connection.
func (r *testRegistry) cuts(w http.ResponseWriter, q *http.Request) {
	whole := r.original(q)
	w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
	_, _ = w.Write(whole[:len(whole)/2])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func (r *testRegistry) lies(change func([]byte) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) { _, _ = w.Write(change(r.original(q))) }
}

// announces sends all that the registry would have sent, as far as the length allows that it gives in the header.
func (r *testRegistry) announces(more int) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		whole := r.original(q)
		w.Header().Set("Content-Length", strconv.Itoa(len(whole)+more))
		_, _ = w.Write(whole[:min(len(whole), len(whole)+more)])
	}
}

func tooMany(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "120")
	w.WriteHeader(http.StatusTooManyRequests)
	fmt.Fprint(w, `{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}`)
}

// Half a character in a message would be stored as another one, so that the stored message would never be the wanted one.
func TestPuller_cuts_what_a_registry_says_between_characters(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	for _, before := range []string{"", "x"} {
		r.breaks("/manifests/", answers(403, `{"errors":[{"code":"DENIED","message":"`+before+strings.Repeat("é", 200)+`"}]}`))
		p := runPuller(t, Options{})
		p.Want([]Ref{ref})
		_, failure := p.failed(ref)
		if said := failure.Error(); !utf8.ValidString(said) || !strings.Contains(said, "ééé…)") {
			t.Errorf("after %q the message is cut to %q", before, said)
		}
	}
}

func TestPuller_tells_failures_apart_and_recovers_by_itself(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	other := layerTar(t, profileAt(root+"/half", "x")[:1])
	otherDigest, _, _ := v1.SHA256(bytes.NewReader(other))
	unauthorized := `{"errors":[{"code":"UNAUTHORIZED","message":"who are you"}]}`
	for _, c := range []struct {
		name, at string
		handle   http.HandlerFunc
		kind     Kind
		says     []string
	}{
		{
			"401 for the manifest", "/manifests/", answers(401, unauthorized),
			KindUnauthorized,
			[]string{"401", "who are you", "pull secret"},
		},
		{"401 at the door", "/v2/", answers(401, unauthorized), KindUnauthorized, []string{"401", "pull secret"}},
		{"403 for a blob", "/blobs/", answers(403, ""), KindUnauthorized, []string{"403", "right to pull"}},
		{
			"404 for the manifest", "/manifests/", answers(404, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"m"}]}`),
			KindNotFound,
			[]string{"404", "MANIFEST_UNKNOWN", "pushed or mirrored"},
		},
		{"404 for a blob", "/blobs/", answers(404, ""), KindNotFound, []string{"does not have blob sha256:", "pushed or mirrored"}},
		{"401 for a blob", "/blobs/", answers(401, unauthorized), KindUnauthorized, []string{"refused blob sha256:", "401", "pull secret"}},
		{"404 for everything", "/v2/", answers(404, ""), KindRegistry, []string{"handshake", "404"}},
		{"429 for the manifest", "/manifests/", tooMany, KindRegistry, []string{"429 Too Many Requests", "TOOMANYREQUESTS", "registry's own log"}},
		{"429 at the door", "/v2/", tooMany, KindRegistry, []string{"handshake", "429 Too Many Requests"}},
		{"500 for the manifest", "/manifests/", answers(500, "<html>oops</html>"), KindRegistry, []string{"failed on manifest " + ref.Digest(), "500 Internal Server Error"}},
		{"500 for a blob", "/blobs/", answers(500, ""), KindRegistry, []string{"500 Internal Server Error", "registry's own log"}},
		{
			"another manifest", "/manifests/", answers(200, "{}"),
			KindDigest,
			[]string{"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", ref.Digest(), "tried again by itself"},
		},
		{
			"an endless manifest", "/manifests/", answers(200, strings.Repeat(" ", manifestBytes+1)),
			KindDigest,
			[]string{"more than 4194304 bytes", ref.Digest()},
		},
		{"a blob cut short with a right length", "/blobs/", r.cuts, KindNetwork, []string{"unexpected EOF", "of its bytes"}},
		{"a manifest cut short with a right length", "/manifests/", r.cuts, KindNetwork, []string{"unexpected EOF", "manifest " + ref.Digest(), "of its bytes"}},
		{"a blob with a length that is too large", "/blobs/", r.announces(10), KindNetwork, []string{"unexpected EOF", "of its bytes"}},
		{"a blob with a length that is too small", "/blobs/", r.announces(-10), KindDigest, []string{"serves", "bytes with the digest sha256:"}},
		{"a manifest with a length that is too small", "/manifests/", r.announces(-10), KindDigest, []string{"serves", "as manifest " + ref.Digest()}},
		{
			"a blob cut short with a matching length", "/blobs/", r.lies(func(b []byte) []byte { return b[:len(b)-1] }),
			KindDigest,
			[]string{"serves", "bytes with the digest sha256:"},
		},
		{
			"a blob with something behind it", "/blobs/", r.lies(func(b []byte) []byte { return append(b, 'x') }),
			KindDigest,
			[]string{"serves more than"},
		},
		{
			"another blob that is not a tar", "/blobs/", r.lies(func(b []byte) []byte { return bytes.Repeat([]byte("x"), len(b)) }),
			KindDigest,
			[]string{"as blob sha256:"},
		},
		{"another blob that is a bad provider", "/blobs/", answers(200, string(other)), KindDigest, nil},
		{
			"a connection dropped before any answer", "/manifests/", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			KindNetwork,
			[]string{"cannot be reached or broke"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.breaks(c.at, c.handle)
			p := runPuller(t, Options{})
			p.Want([]Ref{ref})
			s, err := p.failed(ref)
			if err.Kind != c.kind || err.Terminal() {
				t.Errorf("got a %s error, terminal %t; want %s, to be tried again", err.Kind, err.Terminal(), c.kind)
			}
			contains(t, err, append(c.says, string(ref), r.host)...)
			if !s.NextTry.After(p.clock.Now()) || s.attempts != 1 {
				t.Errorf("no next try is set: %+v", s)
			}
			r.heal()
			p.clock.Step(firstRetry)
			if got := p.recovered(ref); string(got.Profiles[0].Manifests) != "a" {
				t.Errorf("got %v", got)
			}
			if s := p.State(ref); s.Err != nil || s.attempts != 2 || !s.NextTry.IsZero() {
				t.Errorf("the failure is still there: %+v", s)
			}
		})
	}
	t.Run("both digests are named", func(t *testing.T) {
		plain := r.push(appended(t, empty.Image, static.NewLayer(bytes.Repeat([]byte("y"), len(other)), types.OCIUncompressedLayer)))
		r.breaks("/blobs/", answers(200, string(other)))
		p := runPuller(t, Options{})
		p.Want([]Ref{plain})
		_, err := p.failed(plain)
		wanted, _, _ := v1.SHA256(strings.NewReader(strings.Repeat("y", len(other))))
		contains(t, err, otherDigest.String(), wanted.String())
		r.heal()
	})
}

func TestPuller_recovers_when_a_registry_is_started_again(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	r.stop()
	p := runPuller(t, Options{})
	p.Want([]Ref{ref})
	for failures := 1; failures <= 9; failures++ {
		s := p.await(ref, "one more failure", func(s State) bool { return s.Phase == Failed && s.attempts == failures })
		e := errorOf(t, s)
		if e.Kind != KindNetwork {
			t.Fatalf("the kind is %s: %v", e.Kind, e)
		}
		contains(t, e, "connection refused", "firewall")
		wait, nominal := s.NextTry.Sub(p.clock.Now()), min(time.Second<<(failures-1), time.Minute)
		if wait > nominal || wait < nominal/2 {
			t.Errorf("after %d failures it waits %s, want %s to %s", failures, wait, nominal/2, nominal)
		}
		if failures == 9 {
			r.start()
		}
		p.clock.Step(wait)
	}
	p.recovered(ref)
}
