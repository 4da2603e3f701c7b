package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
)

// readyPhases has a provider image of some size at hand, and a world that wants it.
func readyPhases(t testing.TB) (*Phases, world) {
	t.Helper()
	var manifests strings.Builder
	for i := range 200 {
		fmt.Fprintf(&manifests, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\ndata:\n  text: %s\n", i, strings.Repeat("x", 1000))
	}
	return phasesWith(t, manifests.String())
}

// phasesWith has a provider image with these manifests at hand, and a world that wants it.
func phasesWith(t testing.TB, manifests string) (*Phases, world) {
	t.Helper()
	ref := images.Ref("registry.example.com/core@sha256:" + strings.Repeat("0a", 32))
	dir := t.TempDir()
	for file, content := range map[string]string{
		images.ManifestsFolder + "/default/" + images.MetadataFile:  "name: core\n",
		images.ManifestsFolder + "/default/" + images.ManifestsFile: manifests,
	} {
		path := filepath.Join(dir, "core", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	changed := make(chan struct{}, 100)
	source := images.NewPuller(images.Options{
		Notify: func() { changed <- struct{}{} },
		Mounted: func(context.Context) (map[images.Ref]string, error) {
			return map[images.Ref]string{ref: filepath.Join(dir, "core")}, nil
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- source.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	source.Want([]images.Ref{ref})
	for source.State(ref).Phase != images.Ready {
		if err := source.State(ref).Err; err != nil {
			t.Fatal(err)
		}
		<-changed
	}
	w := world{api: singleton(), platform: "AWS", refs: []images.Ref{ref}, substitutions: map[string]string{"A": "b"}}
	return &Phases{Images: source, Release: "4.22.5"}, looked(t, w)
}

// looked is the world with the fingerprint that readWorld gives it.
func looked(t testing.TB, w world) world {
	t.Helper()
	var err error
	if w.inputs, err = w.fingerprint("4.22.5", map[string]string{"core": string(w.refs[0])}); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestPlan_again_with_nothing_changed_parses_nothing(t *testing.T) {
	p, w := readyPhases(t)
	first := p.makePlan(t.Context(), w)
	if first.err != nil || first.revision == nil {
		t.Fatalf("got %+v", first)
	}
	var again plan
	allocations := testing.AllocsPerRun(10, func() { again = p.makePlan(t.Context(), looked(t, w)) })
	if again.revision != first.revision {
		t.Error("the same inputs were rendered again")
	}
	// Parsing takes thousands; what is left is the fingerprint and the list of images.
	if allocations > 100 {
		t.Errorf("planning again takes %v allocations", allocations)
	}
	entry := NewEntry(p.Release, 1, first.revision)
	listed, err := p.revision(&entry, again.revision, proofs{})
	if err != nil {
		t.Fatal(err)
	}
	if later, err := p.revision(&entry, nil, proofs{}); err != nil || later != listed {
		t.Errorf("the listed revision was rendered again: %v", err)
	}
}

// taken are images that a policy takes back.
type taken struct {
	images.Source
	state images.State
}

func (s taken) State(images.Ref) images.State { return s.state }

func TestRevision_that_is_rolled_out_stops_when_a_policy_takes_an_image_back(t *testing.T) {
	p, w := readyPhases(t)
	planned := p.makePlan(t.Context(), w).revision
	entry := NewEntry(p.Release, 1, planned)
	w.api.Status.Revisions = []operatorv1alpha1.ClusterAPIInstallerRevision{entry}
	w.api.Status.DesiredRevision = entry.Name
	listed, err := p.desiredRevision(w, planned, proofs{})
	if err != nil || listed == nil {
		t.Fatalf("got %v, %v", listed, err)
	}
	had := p.Images
	refused := &images.Error{Ref: w.refs[0], Kind: images.KindPolicy, Err: errors.New("it is not signed")}
	for name, state := range map[string]images.State{
		"refused":        {Phase: images.Failed, Err: refused},
		"not judged yet": {Phase: images.Fetching},
	} {
		p.Images = taken{had, state}
		if got, err := p.desiredRevision(w, nil, proofs{}); got != nil || err == nil || state.Err != nil && !errors.Is(err, refused) {
			t.Errorf("%s: the rollout goes on with %v, %v", name, got, err)
		}
	}
	w.api.Status.CurrentRevision = entry.Name
	if got, err := p.desiredRevision(w, nil, proofs{}); got != listed || err != nil {
		t.Errorf("what is installed is not kept: %v, %v", got, err)
	}
	w.api.Status.CurrentRevision, p.Images = "", had
	if got, err := p.desiredRevision(w, nil, proofs{}); got != listed || err != nil {
		t.Errorf("let in again it does not go on: %v, %v", got, err)
	}
}

func TestRevision_that_its_images_do_not_render_to_is_rendered_once(t *testing.T) {
	p, w := readyPhases(t)
	entry := NewEntry(p.Release, 1, p.makePlan(t.Context(), w).revision)
	entry.ContentID = strings.Repeat("0badc0de", 8)
	proven := proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: entry.Revision, ContentID: entry.ContentID, Listed: ProofOf(entry)}}}}
	_, err := p.revision(&entry, nil, proven)
	if notOurs, is := errors.AsType[*notOursError](err); !is || !strings.Contains(notOurs.why, entry.ContentID) {
		t.Fatalf("got %v", err)
	}
	p.Images = nil // whoever asks for an image panics
	if _, again := p.revision(&entry, nil, proven); !errors.Is(again, err) {
		t.Errorf("got %v, want what it was before", again)
	}
}

func TestPlan_every_changed_input_is_rendered(t *testing.T) {
	p, w := readyPhases(t)
	first := p.makePlan(t.Context(), w)
	for name, change := range map[string]func(*world){
		"a substitution": func(w *world) { w.substitutions = map[string]string{"A": "c"} },
		"the unmanaged list": func(w *world) {
			w.api = singleton()
			w.api.Spec.UnmanagedCustomResourceDefinitions = []string{"a.b.c"}
		},
	} {
		changed := w
		change(&changed)
		if got := p.makePlan(t.Context(), looked(t, changed)); got.err != nil || got.revision == first.revision {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func BenchmarkPlan_again_with_nothing_changed(b *testing.B) {
	p, w := readyPhases(b)
	p.makePlan(b.Context(), w)
	b.ReportAllocs()
	for b.Loop() {
		p.makePlan(b.Context(), looked(b, w))
	}
}

func TestMakePlan_refuses_for_good_what_the_engine_would_refuse(t *testing.T) {
	things := "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.g}, spec: {group: g, scope: Cluster, names: {kind: Thing, plural: things}, versions: []}}"
	for manifests, want := range map[string]string{
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: "2024-01-01T00:00:00Z"}}`:                                   "metadata.creationTimestamp",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionGracePeriodSeconds: 3}}":                                               "metadata.deletionGracePeriodSeconds",
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {capi-operator.openshift.io/inventory: ""}}}`:                          "capi-operator.openshift.io/inventory",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {capi-operator.openshift.io/adopt-existing: sometimes}}}":         `is "sometimes"; it may be "always" or "force"`,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {capi-operator.openshift.io/on-immutable-change: ignore}}}":       `is "ignore"; it may be "recreate"`,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {capi-operator.openshift.io/complete-when: self.status.ready}}}":  "not bool",
		things + "\n---\n{apiVersion: g/v1, kind: Thing, metadata: {name: a, namespace: b}}":                                                  "cluster-scoped",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {capi-operator.openshift.io/complete-when: 'self.status.x =='}}}": "Syntax error",
	} {
		p, w := phasesWith(t, manifests)
		got := p.makePlan(t.Context(), w)
		if got.revision != nil || got.err == nil || !machine.IsTerminal(got.err) || !strings.Contains(got.err.Error(), want) {
			t.Errorf("%s: got %v, %v", manifests, got.revision, got.err)
		}
	}
}
