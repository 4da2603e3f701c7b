package images

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"go.uber.org/goleak"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far more than anything takes; it only ends a test that would hang.
const patience = 30 * time.Second

// entry is one entry of a layer: a file unless a link or a type is given.
type entry struct {
	name, data    string
	symlink, hard string
	dir, fifo     bool
}

func profileAt(dir, content string) []entry {
	return []entry{{name: dir + "/metadata.yaml", data: "name: a"}, {name: dir + "/manifests.yaml", data: content}}
}

func layerTar(t *testing.T, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, writeTar(&b, entries))
	return b.Bytes()
}

func writeTar(to io.Writer, entries []entry) error {
	w := tar.NewWriter(to)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.data)), Typeflag: tar.TypeReg}
		switch {
		case e.symlink != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.symlink
		case e.hard != "":
			h.Typeflag, h.Linkname = tar.TypeLink, e.hard
		case e.dir:
			h.Typeflag = tar.TypeDir
		case e.fifo:
			h.Typeflag = tar.TypeFifo
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.WriteString(w, e.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func gzipLayer(t *testing.T, content []byte) v1.Layer {
	t.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	must(t, err)
	return l
}

func imageOf(t *testing.T, layers ...[]entry) v1.Image {
	t.Helper()
	var ls []v1.Layer
	for _, l := range layers {
		ls = append(ls, gzipLayer(t, layerTar(t, l)))
	}
	return imageWith(t, ls...)
}

func imageWith(t *testing.T, layers ...v1.Layer) v1.Image {
	t.Helper()
	image, err := mutate.AppendLayers(empty.Image, layers...)
	must(t, err)
	return image
}

// testRegistry is a real registry on loopback that can be stopped, started again on the same port, and made to answer
// a request in another way.
type testRegistry struct {
	t        *testing.T
	host     string
	content  http.Handler
	fault    atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
	requests atomic.Int64
	agents   chan string
	server   *httptest.Server
}

func newRegistry(t *testing.T) *testRegistry {
	t.Helper()
	r := &testRegistry{t: t, content: registry.New(registry.Logger(log.New(io.Discard, "", 0))), agents: make(chan string, 1000)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r.host = listener.Addr().String()
	r.serve(listener)
	t.Cleanup(func() { r.server.Close() })
	return r
}

func (r *testRegistry) serve(listener net.Listener) {
	r.server = httptest.NewUnstartedServer(r)
	r.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	must(r.t, r.server.Listener.Close())
	r.server.Listener = listener
	r.server.Start()
}

func (r *testRegistry) stop() { r.server.Close() }

func (r *testRegistry) start() {
	r.t.Helper()
	listener, err := net.Listen("tcp", r.host)
	must(r.t, err)
	r.serve(listener)
}

func (r *testRegistry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.requests.Add(1)
	select {
	case r.agents <- q.UserAgent():
	default:
	}
	if fault := r.fault.Load(); fault != nil && (*fault)(w, q) {
		return
	}
	r.content.ServeHTTP(w, q)
}

// breaks answers requests whose path contains part with the given handler, until heal.
func (r *testRegistry) breaks(part string, handle http.HandlerFunc) {
	fault := func(w http.ResponseWriter, q *http.Request) bool {
		if !strings.Contains(q.URL.Path, part) {
			return false
		}
		handle(w, q)
		return true
	}
	r.fault.Store(&fault)
}

func (r *testRegistry) heal() { r.fault.Store(nil) }

// original is what the registry would have answered.
func (r *testRegistry) original(q *http.Request) []byte {
	answer := httptest.NewRecorder()
	r.content.ServeHTTP(answer, q)
	return answer.Body.Bytes()
}

func (r *testRegistry) push(image v1.Image) Ref {
	r.t.Helper()
	repo := r.repo()
	must(r.t, remote.Write(repo.Tag("pushed"), image))
	digest, err := image.Digest()
	must(r.t, err)
	return r.ref(digest)
}

func (r *testRegistry) pushIndex(index v1.ImageIndex) Ref {
	r.t.Helper()
	repo := r.repo()
	must(r.t, remote.WriteIndex(repo.Tag("pushed"), index))
	digest, err := index.Digest()
	must(r.t, err)
	return r.ref(digest)
}

func (r *testRegistry) repo() name.Repository {
	r.t.Helper()
	repo, err := name.NewRepository(r.host + "/providers/some")
	must(r.t, err)
	return repo
}

func (r *testRegistry) ref(digest v1.Hash) Ref {
	r.t.Helper()
	ref, err := ParseRef(r.host + "/providers/some@" + digest.String())
	must(r.t, err)
	return ref
}

// running is a started source with the channel its changes are heard on.
type running struct {
	Source
	t       *testing.T
	changes chan struct{}
	clock   *clocktesting.FakeClock
	stop    func()
}

func run(t *testing.T, build func(notify func(), clk *clocktesting.FakeClock) Source) *running {
	t.Helper()
	changes := make(chan struct{}, 1)
	notify := func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	}
	clk := clocktesting.NewFakeClock(time.Now())
	r := &running{Source: build(notify, clk), t: t, changes: changes, clock: clk}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Start(ctx) }()
	r.stop = func() {
		cancel()
		if err, more := <-ended; more {
			must(t, err)
			close(ended)
		}
	}
	t.Cleanup(r.stop)
	return r
}

func runPuller(t *testing.T, o Options) *running {
	t.Helper()
	return run(t, func(notify func(), clk *clocktesting.FakeClock) Source {
		o.Notify, o.Clock = notify, clk
		return NewPuller(o)
	})
}

// use says how registries are reached from now on.
func (r *running) use(a Access) { r.Source.(*Puller).Use(a) }

// await wants the image and gives its state once it is as asked for.
func (r *running) await(ref Ref, what string, right func(State) bool) State {
	r.t.Helper()
	end := time.After(patience)
	for {
		if s := r.State(ref); right(s) {
			return s
		}
		select {
		case <-r.changes:
		case <-end:
			r.t.Fatalf("waiting for %s: the state is still %+v", what, r.State(ref))
		}
	}
}

func (r *running) ready(ref Ref) *Image {
	r.t.Helper()
	s := r.await(ref, "Ready", func(s State) bool { return s.Phase == Ready || s.Phase == Failed })
	if s.Phase != Ready {
		r.t.Fatalf("the image failed: %v", s.Err)
	}
	return s.Image
}

// recovered is ready for an image that has failed before.
func (r *running) recovered(ref Ref) *Image {
	r.t.Helper()
	return r.await(ref, "Ready", func(s State) bool { return s.Phase == Ready }).Image
}

func (r *running) failed(ref Ref) (State, *Error) {
	r.t.Helper()
	s := r.await(ref, "Failed", func(s State) bool { return s.Phase == Ready || s.Phase == Failed })
	if s.Phase != Failed {
		r.t.Fatalf("the image is ready, with %d profiles, but should have failed", len(s.Image.Profiles))
	}
	return s, errorOf(r.t, s)
}

func errorOf(t *testing.T, s State) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](s.Err)
	if !ok {
		t.Fatalf("the error is a %T, not an *Error: %v", s.Err, s.Err)
	}
	return e
}

// mount lays out what a kubelet would mount of an image with these layers, with real files and links, and returns where.
func mount(t *testing.T, layers ...[]entry) string {
	t.Helper()
	root := t.TempDir()
	for _, layer := range layers {
		for _, e := range layer {
			parent, base := path.Split(path.Join(root, e.name))
			if base == opaqueMark {
				must(t, os.RemoveAll(parent))
			} else if hidden, ok := strings.CutPrefix(base, whiteoutPrefix); ok {
				must(t, os.RemoveAll(parent+hidden))
			}
		}
		for _, e := range layer {
			mountEntry(t, root, e)
		}
	}
	return root
}

func mountEntry(t *testing.T, root string, e entry) {
	t.Helper()
	where := path.Join(root, e.name)
	if strings.HasPrefix(path.Base(where), whiteoutPrefix) {
		return
	}
	must(t, os.MkdirAll(path.Dir(where), 0o755))
	if info, err := os.Lstat(where); err == nil && !(info.IsDir() && e.dir) {
		must(t, os.RemoveAll(where))
	}
	switch {
	case e.dir:
		must(t, os.MkdirAll(where, 0o755))
	case e.symlink != "":
		must(t, os.Symlink(e.symlink, where))
	case e.hard != "":
		must(t, os.Link(path.Join(root, e.hard), where))
	case e.fifo:
		must(t, syscall.Mkfifo(where, 0o644))
	default:
		must(t, os.WriteFile(where, []byte(e.data), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func contains(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the message does not say %q: %v", part, err)
		}
	}
}
