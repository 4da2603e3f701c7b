package clusterapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/render"
)

func singleton() *operatorv1alpha1.ClusterAPI {
	return &operatorv1alpha1.ClusterAPI{
		TypeMeta:   metav1.TypeMeta{APIVersion: "operator.openshift.io/v1alpha1", Kind: "ClusterAPI"},
		ObjectMeta: metav1.ObjectMeta{Name: Singleton, Generation: 1},
		Spec:       &operatorv1alpha1.ClusterAPISpec{},
	}
}

func rules(t *testing.T) *apiRules {
	t.Helper()
	r, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// walk is a cluster with the part of an operator that writes ClusterAPI.status.
// The operator works on what it saw last, which may be old: caches lag, and
// everything but the write itself may have happened in between.
type walk struct {
	rules *apiRules
	api   *operatorv1alpha1.ClusterAPI
	// content is what the images render to now; inventories is the highest number they remember.
	content     int
	inventories int64
	seen        sight
	// used are all entries that were ever listed in this object, by number.
	used map[int64]operatorv1alpha1.ClusterAPIInstallerRevision
}

// sight is what one pass has seen.
type sight struct {
	planned     *render.Revision
	generation  int64
	inventories int64
	desired     *operatorv1alpha1.ClusterAPIInstallerRevision
	giveWay     []operatorv1alpha1.ClusterAPIInstallerRevision
}

// rendered is a revision for a number; a few of them are all that is needed.
func (w *walk) rendered(t *rapid.T) *render.Revision {
	in := render.Input{Substitutions: map[string]string{"V": fmt.Sprint(w.content)}, Unmanaged: w.api.Spec.UnmanagedCustomResourceDefinitions}
	for i := range w.content % 4 {
		in.Profiles = append(in.Profiles, render.Profile{
			Image: fmt.Sprintf("h/a@sha256:%064x", i), Name: "p", Metadata: fmt.Appendf(nil, "name: c%d", i), Manifests: []byte("# nothing"),
		})
	}
	rev, err := render.Render(in)
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// write changes the live object as writeStatus does, and checks what the API server would.
func (w *walk) write(t *rapid.T, change func(*operatorv1alpha1.ClusterAPI) bool) {
	after := w.api.DeepCopy()
	if !change(after) {
		if !equality.Semantic.DeepEqual(w.api, after) {
			t.Fatalf("a change that says it is none: %+v", after.Status)
		}
		return
	}
	if why := w.rules.refusal(t.Context(), w.api, after); why != "" {
		t.Fatalf("the API server refuses\n%+v\nafter\n%+v\nbecause %s", after.Status, w.api.Status, why)
	}
	for _, entry := range after.Status.Revisions {
		if known, ok := w.used[entry.Revision]; ok && !equality.Semantic.DeepEqual(known, entry) {
			t.Fatalf("number %d was %+v and is now %+v", entry.Revision, known, entry)
		}
		if _, ok := w.used[entry.Revision]; !ok && entry.Revision <= w.seen.inventories {
			t.Fatalf("number %d is used again: inventories remember %d", entry.Revision, w.seen.inventories)
		}
		w.used[entry.Revision] = entry
	}
	w.api = after
}

func (w *walk) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"the content changes": func(t *rapid.T) { w.content = rapid.IntRange(0, 7).Draw(t, "content") },
		"the spec changes": func(*rapid.T) {
			if n := len(w.api.Spec.UnmanagedCustomResourceDefinitions); n < 5 {
				w.api.Spec.UnmanagedCustomResourceDefinitions = append(w.api.Spec.UnmanagedCustomResourceDefinitions, fmt.Sprintf("a%d.b.c", n))
				w.api.Generation++
			}
		},
		"the operator looks": func(t *rapid.T) {
			w.seen = sight{planned: w.rendered(t), generation: w.api.Generation, inventories: w.inventories, desired: DesiredOf(&w.api.Status).DeepCopy()}
			if listed := w.api.DeepCopy().Status.Revisions; rapid.IntRange(0, 9).Draw(t, "others") == 0 {
				w.seen.giveWay = listed[:rapid.IntRange(0, len(listed)).Draw(t, "of others")]
			}
		},
		"the operator restarts": func(*rapid.T) { w.seen = sight{} },
		"it plans": func(t *rapid.T) {
			if w.seen.planned != nil {
				w.write(t, func(api *operatorv1alpha1.ClusterAPI) bool {
					if d := w.seen.desired; d != nil && DesiredOf(&api.Status) != nil && d.ContentID == w.seen.planned.ContentID && d.Revision >= w.seen.inventories {
						return observe(api, w.seen.generation)
					}
					entry := NewEntry("4.22.5", nextNumber(w.seen.desired, w.seen.inventories), w.seen.planned)
					return enlist(api, entry, w.seen.giveWay, w.seen.generation)
				})
			}
		},
		"it begins to apply": func(*rapid.T) {
			if w.seen.desired != nil {
				w.inventories = max(w.inventories, w.seen.desired.Revision)
			}
		},
		"it has applied": func(t *rapid.T) {
			if w.seen.desired != nil {
				w.write(t, func(api *operatorv1alpha1.ClusterAPI) bool { return makeCurrent(api, w.seen.desired.Name) })
			}
		},
		"it has pruned": func(t *rapid.T) {
			if w.seen.desired != nil {
				w.write(t, func(api *operatorv1alpha1.ClusterAPI) bool { return trim(api, w.seen.desired.Revision) })
			}
		},
		"": func(t *rapid.T) {
			if count := len(w.api.Status.Revisions); count > guards.MaxRevisions {
				t.Fatalf("%d revisions are listed", count)
			}
		},
	}
}

func TestWalk_of_changes_restarts_and_outcomes_the_API_server_never_refuses_and_no_number_is_used_twice(t *testing.T) {
	r := rules(t)
	longest := 0
	rapid.Check(t, func(t *rapid.T) {
		w := &walk{rules: r, api: singleton(), used: map[int64]operatorv1alpha1.ClusterAPIInstallerRevision{}}
		actions := w.actions()
		actions["the ClusterAPI is deleted and made again"] = func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "dice") == 0 {
				w.api, w.used = singleton(), map[int64]operatorv1alpha1.ClusterAPIInstallerRevision{}
			}
		}
		// Looking and planning are what most passes do.
		actions["it looks and plans"] = func(t *rapid.T) {
			actions["the operator looks"](t)
			actions["it plans"](t)
		}
		actions["it looks, changes and plans"] = func(t *rapid.T) {
			w.content++
			actions["it looks and plans"](t)
		}
		actions["it looks, changes, plans and begins to apply"] = func(t *rapid.T) {
			actions["it looks, changes and plans"](t)
			actions["it begins to apply"](t)
		}
		// From a list that is nearly full, a walk that is short enough for a unit test comes to the limit.
		for range rapid.SampledFrom([]int{0, 1, guards.MaxRevisions - 2, guards.MaxRevisions}).Draw(t, "listed before") {
			w.content++
			enlist(w.api, NewEntry("4.22.4", nextNumber(DesiredOf(&w.api.Status), 0), w.rendered(t)), nil, 1)
		}
		for _, entry := range w.api.Status.Revisions {
			w.used[entry.Revision] = entry
		}
		t.Repeat(actions)
		longest = max(longest, len(w.api.Status.Revisions))
	})
	if longest < guards.MaxRevisions {
		t.Errorf("the walks listed at most %d revisions: the limit was not tried", longest)
	}
}

func TestRules_refuse_what_they_must(t *testing.T) {
	r := rules(t)
	rev, err := render.Render(render.Input{Substitutions: map[string]string{"A": "b"}})
	if err != nil {
		t.Fatal(err)
	}
	before := singleton()
	enlist(before, NewEntry("4.22.5", 1, rev), nil, 1)
	if why := r.refusal(t.Context(), singleton(), before); why != "" {
		t.Fatalf("a sound status is refused: %s", why)
	}
	for want, change := range map[string]func(*operatorv1alpha1.ClusterAPI){
		"existing revisions are immutable":                 func(api *operatorv1alpha1.ClusterAPI) { api.Status.Revisions[0].ContentID = "other" },
		"currentRevision must correspond":                  func(api *operatorv1alpha1.ClusterAPI) { api.Status.CurrentRevision = "other" },
		"observedRevisionGeneration may not decrease":      func(api *operatorv1alpha1.ClusterAPI) { api.Status.ObservedRevisionGeneration = -1 },
		"desiredRevision must be the name of the revision": func(api *operatorv1alpha1.ClusterAPI) { api.Status.DesiredRevision = "other" },
		"status may not be removed once set":               func(api *operatorv1alpha1.ClusterAPI) { api.Status = operatorv1alpha1.ClusterAPIStatus{} },
		"must have at most 16 items": func(api *operatorv1alpha1.ClusterAPI) {
			for i := range 16 {
				api.Status.Revisions = append(api.Status.Revisions, operatorv1alpha1.ClusterAPIInstallerRevision{Name: operatorv1alpha1.RevisionName(fmt.Sprint(i)), Revision: int64(i + 2), ContentID: "c"})
			}
		},
	} {
		after := before.DeepCopy()
		change(after)
		if why := r.refusal(t.Context(), before, after); !strings.Contains(why, want) {
			t.Errorf("want %q, got %q", want, why)
		}
	}
}

// anyLength draws lengths around a limit, and others.
func anyLength(limit int) *rapid.Generator[int] {
	return rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(limit-1, limit+1))
}

func TestLimits_the_API_server_accepts_whatever_is_rendered(t *testing.T) {
	r := rules(t)
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		in := render.Input{Substitutions: map[string]string{}}
		for i := range anyLength(32).Draw(t, "components") {
			path := rapid.SampledFrom([]string{"h/a", "h:5000/a/b", "[::1]:1/a", "10.0.0.1/a__b", "h/a-_b", "h/A", "h_/a", "/a", "h/" + strings.Repeat("a", 373), "h/" + strings.Repeat("a", 374)}).Draw(t, "path")
			in.Profiles = append(in.Profiles, render.Profile{
				Image: fmt.Sprintf("%s@sha256:%064x", path, i), Manifests: []byte("# nothing"),
				Name:     rapid.SampledFrom([]string{"default", "a-_B9", "a.b", "é", "", strings.Repeat("p", 255), strings.Repeat("p", 256)}).Draw(t, "profile"),
				Metadata: fmt.Appendf(nil, "name: %q", rapid.SampledFrom([]string{"core", "A-1", "a.b", "é", strings.Repeat("n", 63), strings.Repeat("n", 64), strings.Repeat("n", 256)}).Draw(t, "name")),
			})
		}
		// Mostly sound ones: with many components, one bad is enough to be refused.
		if rapid.Bool().Draw(t, "sound") {
			for i := range in.Profiles {
				in.Profiles[i].Name, in.Profiles[i].Metadata = "default", []byte("name: core")
				in.Profiles[i].Image = fmt.Sprintf("h:1/a/b@sha256:%064x", i)
			}
		}
		for i := range anyLength(32).Draw(t, "substitutions") {
			key := rapid.SampledFrom([]string{"A", "_", "a9_", strings.Repeat("K", 253), strings.Repeat("K", 255), "a-b", "9a"}).Draw(t, "key")
			in.Substitutions[key+fmt.Sprint(i)[:min(1, i)]] = rapid.SampledFrom([]string{"", "v", "é\x00\n", strings.Repeat("é", 4096), strings.Repeat("é", 4097)}).Draw(t, "value")
		}
		for i := range anyLength(128).Draw(t, "unmanaged") {
			in.Unmanaged = append(in.Unmanaged, fmt.Sprintf("n%d.", i)+rapid.SampledFrom([]string{"b.c", "b", "b." + strings.Repeat("c", 63)}).Draw(t, "name"))
		}
		release := rapid.SampledFrom([]string{"4.22.5", "4", strings.Repeat("9", 255), strings.Repeat("é", 200)}).Draw(t, "release")
		number := rapid.SampledFrom([]int64{0, 1, 1 << 40}).Draw(t, "number")
		rev, err := render.Render(in)
		if err != nil {
			var terminal interface{ Terminal() bool }
			if !errors.As(err, &terminal) || !terminal.Terminal() {
				t.Fatalf("not terminal: %v", err)
			}
			refused++
			return
		}
		accepted++
		after := singleton()
		enlist(after, NewEntry(release, number+1, rev), nil, 1)
		if why := r.refusal(t.Context(), singleton(), after); why != "" {
			t.Fatalf("what was rendered is refused: %s", why)
		}
	})
	if accepted == 0 || refused == 0 {
		t.Errorf("%d accepted, %d refused: both must be tried", accepted, refused)
	}
}

func TestList_what_became_of_the_object_in_between_is_left_alone(t *testing.T) {
	rev, err := render.Render(render.Input{})
	if err != nil {
		t.Fatal(err)
	}
	api := singleton()
	if makeCurrent(api, "4.22.5-12345678-1") {
		t.Error("a revision that is not listed became current")
	}
	enlist(api, NewEntry("4.22.5", 1, rev), nil, 1)
	first := DesiredOf(&api.Status).Name
	makeCurrent(api, first)
	enlist(api, NewEntry("4.22.5", 2, &render.Revision{ContentID: strings.Repeat("a", 64)}), nil, 1)
	if trim(api, 2) {
		t.Error("the current revision was removed because a newer one is listed")
	}
	if trim(api, 9); len(api.Status.Revisions) != 2 {
		t.Errorf("the desired revision was removed: %+v", api.Status.Revisions)
	}
	makeCurrent(api, DesiredOf(&api.Status).Name)
	if !trim(api, 2) || slices.ContainsFunc(api.Status.Revisions, func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool { return r.Name == first }) {
		t.Errorf("the older revision stayed: %+v", api.Status.Revisions)
	}
}
