package images

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// longNames is a layer of a few hundred kilobytes, as it is served, that names links for so many megabytes.
func longNames(t *testing.T, megabytes int) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	must(t, err)
	w := tar.NewWriter(zip)
	for i := range megabytes {
		name := fmt.Sprintf("%s/%s%d", root, strings.Repeat("a", 1<<20-500), i)
		must(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: "x", Format: tar.FormatPAX}))
	}
	must(t, errors.Join(w.Close(), zip.Close()))
	return packed.Bytes()
}

func noise(bytes int) []byte {
	random := rand.NewChaCha8([32]byte{})
	b := make([]byte, bytes)
	_, _ = random.Read(b)
	return b
}

func TestPuller_unpacks_nothing_whose_digest_it_does_not_know(t *testing.T) {
	r := newRegistry(t)
	lie := longNames(t, 100)
	ref := r.push(appended(t, empty.Image, static.NewLayer(noise(2*len(lie)), types.OCIUncompressedLayer)))
	r.breaks("/blobs/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(lie) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := runPuller(t, Options{})
	p.Want([]Ref{ref})
	if _, err := p.failed(ref); err.Kind != KindDigest {
		t.Errorf("got a %s error: %v", err.Kind, err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
		t.Errorf("%d MiB were allocated", allocated>>20)
	}
}

func TestPuller_refuses_an_image_with_names_of_megabytes(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(appended(t, empty.Image, static.NewLayer(longNames(t, 2), types.OCILayer)))
	p := runPuller(t, Options{})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "more than the 4096 allowed", "make it shorter")
	if err.Kind != KindLimit || len(err.Error()) > 1000 {
		t.Errorf("got a %s error of %d bytes", err.Kind, len(err.Error()))
	}
}

func TestPuller_keeps_layers_on_disk_under_no_name(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", string(noise(100_000)))))
	half, more := make(chan struct{}), make(chan struct{})
	r.breaks("/blobs/", func(w http.ResponseWriter, q *http.Request) {
		whole := r.original(q)
		_, _ = w.Write(whole[:len(whole)/2])
		w.(http.Flusher).Flush()
		close(half)
		<-more
		_, _ = w.Write(whole[len(whole)/2:])
	})
	dir := filepath.Join(t.TempDir(), "cache")
	transport := tapped(remoteHost(t, r.host, nil), "/blobs/")
	p := runPuller(t, Options{CacheDir: dir, Transport: transport})
	p.Want([]Ref{ref})
	<-half
	transport.await(1) // a part has been written
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("a process killed now would leave %v (%v)", files, err)
	}
	close(more)
	p.ready(ref)
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder has %v (%v)", files, err)
	}
}

func TestPuller_says_that_no_disk_takes_a_layer_and_goes_on_when_one_does(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	blocker := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(blocker, nil, 0o600))
	t.Setenv("TMPDIR", filepath.Join(blocker, "temporary"))
	p := runPuller(t, Options{CacheDir: filepath.Join(blocker, "cache")})
	p.use(Access{Mirrors: []Mirrors{{Source: r.host, Mirrors: []string{r.host + "/mirror"}}}})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, filepath.Join(blocker, "cache"), filepath.Join(blocker, "temporary"), "not a directory", "tried again by itself")
	if err.Kind != KindDisk || err.Terminal() {
		t.Errorf("got a %s error, terminal %t", err.Kind, err.Terminal())
	}
	must(t, os.Remove(blocker))
	p.clock.Step(firstRetry)
	p.recovered(ref)
}

func TestSpool_goes_on_in_the_next_folder_when_one_is_full(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	s, err := newSpool(first, second)
	must(t, err)
	defer s.close()
	_, err = s.Write([]byte("before "))
	must(t, err)
	// As a full disk does, a file that is open for reading only refuses what is written and gives what it has.
	name := filepath.Join(first, "full")
	must(t, os.WriteFile(name, []byte("before "), 0o600))
	full, err := os.Open(name)
	must(t, err)
	s.close()
	s.file = full
	_, err = s.Write([]byte("and after"))
	must(t, err)
	if got, err := io.ReadAll(s.content()); err != nil || string(got) != "before and after" || filepath.Dir(s.file.Name()) != second {
		t.Errorf("%s has %q (%v)", s.file.Name(), got, err)
	}
	_, err = full.WriteAt([]byte("x"), 0)
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("the first file is still open: %v", err)
	}
}

func TestPuller_refuses_more_layers_than_a_container_may_have(t *testing.T) {
	r := newRegistry(t)
	layer := `{"digest":"` + someDigest + `","size":5}`
	manifest := `{"schemaVersion":2,"layers":[` + strings.Repeat(layer+",", layersMost) + layer + `]}`
	digest, _, err := v1.SHA256(strings.NewReader(manifest))
	must(t, err)
	r.breaks("/manifests/", answers(200, manifest))
	p := runPuller(t, Options{})
	p.Want([]Ref{r.ref(digest)})
	_, failure := p.failed(r.ref(digest))
	contains(t, failure, "129 layers, more than the 128 allowed")
	if failure.Kind != KindLimit {
		t.Errorf("the kind is %s", failure.Kind)
	}
}

func TestTree_ends_looking_for_profiles_with_its_context(t *testing.T) {
	filled := newTree(ManifestsFolder, standardLimits)
	must(t, filled.add(ManifestsFolder+"/a", &node{kind: link, target: strings.Repeat("./", 2000)}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filled.profiles(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
