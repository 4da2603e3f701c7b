package images

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/capstan-capi/capstan/phases/images/trust/trusttest"
)

func TestPuller_reads_an_image_where_it_is_mounted_and_pulls_the_others(t *testing.T) {
	r := newRegistry(t)
	mounted, pulled := r.push(imageOf(t, profileAt(root+"/a", "mounted"))), r.push(imageOf(t, profileAt(root+"/a", "pulled")))
	folder := mount(t, profileAt(root+"/a", "mounted"))
	before := r.requests.Load()
	dir := t.TempDir()
	p := runPuller(t, Options{CacheDir: dir, Mounted: func(context.Context) (map[Ref]string, error) { return map[Ref]string{mounted: folder}, nil }})
	p.Want([]Ref{mounted})
	if got := p.ready(mounted); got.Ref != mounted || string(got.Profiles[0].Manifests) != "mounted" {
		t.Errorf("got %v", got)
	}
	if asked := r.requests.Load() - before; asked != 0 {
		t.Errorf("the registry got %d requests", asked)
	}
	// Whose images the nodes let in is judged by the nodes.
	p.use(askedOf(r.host, trusttest.NewKey(), nil))
	if now := p.State(mounted).Phase; now != Ready {
		t.Errorf("under a policy it is %s", now)
	}
	p.use(Access{})
	p.Want([]Ref{mounted, pulled})
	if got := p.ready(pulled); string(got.Profiles[0].Manifests) != "pulled" {
		t.Errorf("got %v", got)
	}
}

func TestPuller_asks_again_what_is_mounted_until_it_is_told(t *testing.T) {
	ref, folder := refs(1)[0], mount(t, profileAt(root+"/a", "a"))
	fails := errors.New("the API server is away")
	asked := 0
	p := runPuller(t, Options{Mounted: func(context.Context) (map[Ref]string, error) {
		asked++
		return map[Ref]string{ref: folder}, fails
	}})
	p.Want([]Ref{ref})
	s, err := p.failed(ref)
	contains(t, err, "the API server is away")
	if err.Terminal() || s.NextTry.IsZero() {
		t.Errorf("it is not tried again: %v", err)
	}
	fails = nil
	p.clock.Step(firstRetry)
	p.recovered(ref)
	p.Want(nil)
	p.Want([]Ref{ref})
	p.ready(ref)
	if asked != 2 {
		t.Errorf("it was asked %d times", asked)
	}
}

func TestPuller_a_mounted_image_without_the_folder_brings_nothing(t *testing.T) {
	ref, folder := refs(1)[0], mount(t, []entry{{name: "etc/passwd", data: "x"}})
	p := runPuller(t, Options{Mounted: func(context.Context) (map[Ref]string, error) { return map[Ref]string{ref: folder}, nil }})
	p.Want([]Ref{ref})
	if got := p.ready(ref); got.Profiles == nil || len(got.Profiles) != 0 {
		t.Errorf("got %v", got.Profiles)
	}
}

func TestPuller_says_where_a_volume_is_that_cannot_be_read(t *testing.T) {
	ref, nowhere := refs(1)[0], filepath.Join(t.TempDir(), "nowhere")
	p := runPuller(t, Options{Mounted: func(context.Context) (map[Ref]string, error) { return map[Ref]string{ref: nowhere}, nil }})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, nowhere, "volumes of the operator's Pod")
	if err.Kind != KindDisk {
		t.Errorf("the kind is %s", err.Kind)
	}
}
