package privatecapi_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// world is one HostedCluster and the namespace of its control plane, in memory: objects on two sides, components that
// reconcile one of them, a cloud that they have made, operators, and a garbage collector.
type world struct {
	random *rand.Rand
	now    time.Time

	hosted    hosted
	fence     versioned[guards.Fence]
	sides     map[guards.Direction]map[string]*object
	pauses    map[guards.Direction]*versioned[pause]
	component versioned[component]
	// pods is whether components run, and with the proxy beside them; they follow their Deployment.
	pods, podsEquipped bool
	// owners are the sides on which a dependent of an object has an owner; cloud is what was made of each object, and how it is.
	owners map[string]*versioned[map[guards.Direction]bool]
	cloud  map[string]int
	born   int
	// journal is what the source was, negative for lost.
	journal int

	programme guards.Programme
	turn      bool
	// checked is remembered by the process alone, and outages are counted by it.
	checked bool
	outages int
	faults  faults
	// meddled says that people have taken a lock of ours away, or made objects: nothing may be lost then, and that is all.
	meddled bool
}

// versioned is an object of the API server with one field.
type versioned[T any] struct {
	version int
	is      T
}

type hosted struct {
	version     int
	annotations map[string]string
	finalizer   bool
	deleting    bool
}

// object is one of Cluster API. Its content is right if it is that of the cloud.
type object struct {
	version             int
	content, status     int
	copied              bool
	finalizer, deleting bool
}

// pause is that of all Clusters of a side; noted is what it was before ours, nil for no mark.
type pause struct {
	is    bool
	noted *bool
}

// component is the Deployment of all components. What is noted are marks of undoing.
type component struct {
	replicas, autoscaler int
	equipped             bool
	noted                *component
}

const (
	replicas    = 2
	autoscaling = 1
)

var errLost = errors.New("the answer was lost")

func newWorld(seed uint64) *world {
	w := &world{
		random: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
		hosted: hosted{annotations: map[string]string{guards.ScopeAnnotation: guards.ScopeLegacy}},
		sides:  map[guards.Direction]map[string]*object{guards.ToStandard: {}, guards.ToPrivate: {}},
		pauses: map[guards.Direction]*versioned[pause]{guards.ToStandard: {}, guards.ToPrivate: {}},
		owners: map[string]*versioned[map[guards.Direction]bool]{}, cloud: map[string]int{}, journal: -1,
		programme: guards.Programme{Known: true, Installation: "here", OldOperatorNeeded: true}, turn: true,
	}
	w.programme.Enabled = w.now
	w.component.is = component{replicas: replicas, autoscaler: autoscaling}
	for range 3 {
		w.bear(guards.ToStandard)
	}
	w.settlePods()
	return w
}

// bear has a controller make an object of a side, what belongs to it, and something in the cloud.
func (w *world) bear(side guards.Direction) {
	w.born++
	name := fmt.Sprintf("m%d", w.born)
	w.sides[side][name] = &object{content: 1, status: 1, finalizer: true}
	w.owners[name] = &versioned[map[guards.Direction]bool]{is: map[guards.Direction]bool{side: true}}
	w.cloud[name] = 1
}

func (w *world) marks() guards.Marks { return guards.MarksOf(w.hosted.annotations) }
func (w *world) stage() guards.Stage { return w.marks().Companion.Stage }
func (w *world) shut(s guards.Direction) bool {
	return w.fence.is == guards.BothSidesAreShut || string(w.fence.is) == string(s)
}

// runs is the side that components act on now, empty for none.
func (w *world) runs() guards.Direction {
	side := guards.ToStandard
	if w.podsEquipped {
		side = guards.ToPrivate
	}
	if !w.pods || w.pauses[side].is.is || w.shut(side) {
		return ""
	}
	return side
}

func (w *world) settlePods() {
	w.pods, w.podsEquipped = w.component.is.replicas > 0, w.component.is.equipped
}

// live lets everybody else act: operators, kubelets, controllers and the garbage collector.
func (w *world) live() error {
	w.operate()
	if !w.faults.podsStay {
		w.settlePods()
	}
	if side := w.runs(); side != "" {
		if err := w.reconcile(side); err != nil {
			return err
		}
	}
	return w.collect()
}

// operate is what the operator does whose HostedCluster it is.
func (w *world) operate() {
	want, known := map[guards.Reconciler]bool{guards.Legacy: false, guards.New: true}[w.marks().Owner().By]
	c := &w.component
	if known && (c.is.replicas != replicas || c.is.equipped != want) {
		c.is.replicas, c.is.equipped = replicas, want
		c.version++
	}
}

// reconcile is one thing that controllers do on a side. They must see there all that was ever made.
func (w *world) reconcile(side guards.Direction) error {
	objects := w.sides[side]
	if missing := w.missing(side); missing != "" {
		return fmt.Errorf("controllers act on the %s side, which lacks %s", side, missing)
	}
	names := slices.Sorted(maps.Keys(objects))
	for _, name := range names {
		if o := objects[name]; o.deleting && o.finalizer {
			w.gone(side, name)
			delete(w.cloud, name)
			return nil
		}
	}
	switch w.random.IntN(8) {
	case 0:
		if len(names) < 5 {
			w.bear(side)
		}
	case 1:
		if len(names) > 2 {
			objects[names[0]].deleting = true
			objects[names[0]].version++
		}
	case 2, 3:
		name := names[w.random.IntN(len(names))]
		w.cloud[name]++
		objects[name].content, objects[name].status = w.cloud[name], w.cloud[name]
		objects[name].version++
	}
	return nil
}

// missing is what a side lacks of the cloud, or has otherwise.
func (w *world) missing(side guards.Direction) string {
	for _, name := range slices.Sorted(maps.Keys(w.cloud)) {
		if o := w.sides[side][name]; o == nil || o.content != w.cloud[name] || o.status != w.cloud[name] {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.sides[side])) {
		if _, is := w.cloud[name]; !is {
			return "that " + name + " is gone"
		}
	}
	return ""
}

// gone has an object gone, and with the last one of a side their pause.
func (w *world) gone(side guards.Direction, name string) {
	if delete(w.sides[side], name); len(w.sides[side]) == 0 {
		w.pauses[side].is = pause{}
	}
}

// collect is the garbage collector. What it takes must have belonged to nothing that is there.
func (w *world) collect() error {
	for _, name := range slices.Sorted(maps.Keys(w.owners)) {
		held := false
		for side := range w.owners[name].is {
			held = held || w.sides[side][name] != nil
		}
		if held {
			continue
		}
		delete(w.owners, name)
		if _, is := w.cloud[name]; is {
			return fmt.Errorf("what belongs to %s was collected, and %s is there", name, name)
		}
	}
	return nil
}

// kept says what is lost: an object of the cloud that no side has as it is.
func (w *world) kept() error {
	for name, content := range w.cloud {
		found := false
		for _, objects := range w.sides {
			found = found || objects[name] != nil && objects[name].content == content
		}
		if !found {
			return fmt.Errorf("%s is lost", name)
		}
		if w.owners[name] == nil {
			return fmt.Errorf("what belongs to %s is lost", name)
		}
	}
	return nil
}

// traces is what a move has left behind, empty for nothing.
func (w *world) traces() string {
	standard, private := len(w.sides[guards.ToStandard]), len(w.sides[guards.ToPrivate])
	switch m := w.marks(); {
	case m.Locked(), w.hosted.finalizer:
		return "a lock"
	case w.fence.is != guards.NoFence:
		return "a fence"
	case standard > 0 && private > 0:
		return fmt.Sprintf("%d and %d objects on both sides", standard, private)
	case w.pauses[guards.ToStandard].is.noted != nil, w.pauses[guards.ToPrivate].is.noted != nil, w.component.is.noted != nil:
		return "a mark of undoing"
	case w.pauses[guards.ToStandard].is.is && standard > 0, w.pauses[guards.ToPrivate].is.is && private > 0:
		return "a pause"
	case w.component.is.equipped != (private > 0), w.component.is.replicas != replicas, w.component.is.autoscaler != autoscaling:
		return fmt.Sprintf("components that are not as before: %+v", w.component.is)
	}
	for name, owners := range w.owners {
		if len(owners.is) > 1 {
			return "a second owner of what belongs to " + name
		}
	}
	return ""
}
