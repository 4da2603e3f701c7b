package clusterapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
	"github.com/capstan-capi/capstan/phases/status"
)

// fetching is a source of images that are there as they are told to be.
type fetching struct {
	images.Source
	retried bool
	wanted  []images.Ref
	ready   map[images.Ref][]images.Profile
}

func (f *fetching) Retry()                 { f.retried = true }
func (f *fetching) Want(refs []images.Ref) { f.wanted = refs }
func (f *fetching) State(ref images.Ref) images.State {
	profiles, ready := f.ready[ref]
	if !ready || !slices.Contains(f.wanted, ref) {
		return images.State{}
	}
	return images.State{Phase: images.Ready, Image: &images.Image{Profiles: profiles}}
}

func TestUnneeded_is_believed_of_the_same_release_and_architecture_only(t *testing.T) {
	ref := images.Ref("registry.example.com/other@" + digest)
	of := func(release string) *Phases { return &Phases{Release: release, name: "clusterapi"} }
	for name, row := range map[string]struct {
		by   string
		want bool
	}{
		"the same":             {of("4.22.5").imagesBy(), true},
		"another release":      {of("4.22.4").imagesBy(), false},
		"another architecture": {"4.22.5 s390", false},
		"nobody knows who":     {"", false},
	} {
		p := recallingBy(t, of("4.22.5"), Detail{ImagesBy: row.by, Images: []ImageDetail{{Reference: string(ref), State: notNeeded, Platform: "AWS"}}})
		if got := p.memory.unneeded.by("AWS", ref); got != row.want {
			t.Errorf("%s: it is taken for not needed: %v", name, got)
		}
	}
}

// recalling reads what an earlier process of the same kind has told.
func recalling(t *testing.T, p *Phases, told guards.ImageState) *Phases {
	t.Helper()
	return recallingBy(t, p, Detail{ImagesBy: p.imagesBy(), Images: imageDetails([]guards.ImageState{told})})
}

func recallingBy(t *testing.T, p *Phases, detail Detail) *Phases {
	t.Helper()
	raw := append([]byte(`{"`+status.DetailKey("clusterapi")+`":`), detail.encode()...)
	scheme := runtime.NewScheme()
	if err := configv1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	p.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(&configv1.ClusterOperator{
		ObjectMeta: metav1.ObjectMeta{Name: ClusterOperatorName},
		Status:     configv1.ClusterOperatorStatus{Extension: runtime.RawExtension{Raw: append(raw, '}')}},
	}).Build()
	if err := p.recallUnneeded(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestUnneeded_counts_after_another_attempt_was_asked_for_until_the_image_was_looked_into_again(t *testing.T) {
	ref := images.Ref("registry.example.com/other@" + digest)
	source := &fetching{}
	p := &Phases{Images: source}
	p.memory.unneeded = unneeded{ref: {retry: "one"}}
	look := func(retry string) (needed bool) {
		w := world{platform: "AWS", refs: []images.Ref{ref}, retry: retry}
		p.retryImages(w)
		p.wantImages(w, proofs{})
		return slices.Contains(p.neededOf(w, p.lookedIntoAnew(w)), ref)
	}
	if look("one") || len(source.wanted) > 0 || source.retried {
		t.Error("what was asked for before the start counts as another attempt")
	}
	if look("two") || !slices.Contains(source.wanted, ref) || !source.retried {
		t.Errorf("the old answer does not count, or the image is not fetched again: %v", source.wanted)
	}
	source.ready = map[images.Ref][]images.Profile{ref: nil}
	if !look("two") {
		t.Error("the image that is there again is not looked into")
	}
	w := world{platform: "AWS", refs: []images.Ref{ref}, retry: "two"}
	p.learnUnneeded(w, plan{needed: w.refs, revision: &render.Revision{}})
	if look("two") || len(source.wanted) > 0 {
		t.Errorf("it brings nothing again, and is fetched for ever: %v", source.wanted)
	}
	look("three")
	p.learnUnneeded(w, plan{needed: w.refs, revision: &render.Revision{Components: []render.Component{{Image: string(ref)}}}})
	if !look("three") {
		t.Error("it brings something now, and is taken for unneeded")
	}
}

func TestUnneeded_is_known_to_the_next_process_however_many_images_are_wanted(t *testing.T) {
	last := images.Ref("registry.example.com/zzz@" + digest)
	p := &Phases{Release: "4.22.5", name: "clusterapi", Images: &fetching{}}
	p.memory.unneeded = unneeded{last: {}}
	w := world{platform: "AWS"}
	for i := range 1000 {
		w.refs = append(w.refs, images.Ref(fmt.Sprintf("registry.example.com/image-%04d@%s", i, digest)))
	}
	w.refs = append(w.refs, last)
	told := guards.Display{ImageStates: p.toldStates(w, p.neededOf(w, nil))}
	stored := storedDetail(detailOf("", told, nil).encode())
	stored.ImagesBy = p.imagesBy()
	next := recallingBy(t, &Phases{Release: "4.22.5", name: "clusterapi"}, stored)
	if len(stored.Images) == len(w.refs) || !next.memory.unneeded.by("AWS", last) {
		t.Errorf("of %d images %d are told, and the one that is not needed is forgotten", len(w.refs), len(stored.Images))
	}
}

func TestUnneeded_is_remembered_while_the_list_is_for_another_release_or_broken(t *testing.T) {
	ref := images.Ref("registry.example.com/other@" + digest)
	for name, row := range map[string]struct {
		w    world
		want bool
	}{
		"it is listed":                   {world{refs: []images.Ref{ref}}, true},
		"it is not listed any more":      {world{}, false},
		"the list is of another release": {world{listRelease: "4.22.6"}, true},
		"the list cannot be read":        {world{refsErr: errors.New("by tag")}, true},
	} {
		p := &Phases{}
		p.memory.unneeded = unneeded{ref: {}}
		p.learnUnneeded(row.w, plan{})
		if got := p.memory.unneeded.by("AWS", ref); got != row.want {
			t.Errorf("%s: it is remembered: %v", name, got)
		}
	}
}

func TestUnneeded_is_looked_into_again_when_that_was_asked_for_while_no_process_ran(t *testing.T) {
	ref := images.Ref("registry.example.com/other@" + digest)
	for retry, want := range map[string]bool{"one": false, "two": true, "": true, strings.Repeat("one", 100): true} {
		p := recalling(t, &Phases{Release: "4.22.5", name: "clusterapi"}, guards.ImageState{Reference: string(ref), NotNeeded: true, Retry: "one"})
		w := world{refs: []images.Ref{ref}, retry: retry}
		if got := slices.Contains(p.memory.unneeded.doubted(w), ref); got != want || !p.memory.unneeded.by("AWS", ref) {
			t.Errorf("%q: it is looked into again: %v", retry, got)
		}
	}
}
