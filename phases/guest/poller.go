package guest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/release"
)

const (
	// installing is how often a guest is asked that is being installed or changed.
	installing = 5 * time.Second
	// following is how often a guest is asked that is being installed or changed and moves.
	following = time.Second
	// lively is for how long a guest counts as one that moves after it has said something else than before.
	lively = 10 * time.Second
	// resting is how often a guest is asked that is at rest.
	resting = time.Minute
	// jitter is by which part of that each time is longer, at most, so that guests are not asked all at once.
	jitter = 0.2
	// patience is how long all answers of a guest may take together.
	patience = 10 * time.Second
	// silence is after how long without an answer a guest is called silent.
	silence = 5 * time.Minute
	// fresh is for how long what was read of a guest counts as new: longer than it takes between two looks at one that is being changed.
	fresh = 3 * installing
	// atOnce is how many guests are asked at the same time.
	atOnce = 32
)

// Releases tells what release an OpenShiftControlPlane asks for.
type Releases interface {
	Asked(ctx context.Context, look phases.Look) (release.Release, error)
}

// Options are what a poller is made with. Nil fields do nothing, but for Clock, which is the real one then.
type Options struct {
	// Changed is called when what is seen of a guest has changed; it must not block.
	Changed func(client.ObjectKey)
	// Probed is called after each probe of a guest's API, with how long the answer took.
	Probed func(key client.ObjectKey, took time.Duration, answered bool)
	// Clock never goes back. Now tells the time, by which certificates end, and is that of Clock where it is nil.
	Clock clock.WithTicker
	Now   func() time.Time
}

// Poller asks guests. It asks none before it is started.
type Poller struct {
	client client.Client
	// live reads from the API server itself, and not from a cache.
	live     client.Reader
	releases Releases
	changed  func(client.ObjectKey)
	probed   func(client.ObjectKey, time.Duration, bool)
	clock    clock.WithTicker
	now      func() time.Time
	slots    chan struct{}
	bounds   *bounds

	// arrived says that there are guests that are not asked yet.
	arrived chan struct{}

	mu     sync.Mutex
	guests map[client.ObjectKey]*guest
}

// guest is one of them, and what was seen of it last.
type guest struct {
	key client.ObjectKey
	of  types.UID
	// stop is nil until it is asked.
	stop context.CancelFunc
	wake chan struct{}

	// reading is held while the kubeconfig is read, so that of a pass and a question at the same time one reads it.
	reading sync.Mutex

	mu   sync.Mutex
	want wanted
	seen sight
	// looked is when and for what it was seen as a whole.
	looked struct {
		at   time.Time
		want wanted
	}
	// heard is when it has answered last, or since when it is asked.
	heard time.Time
	// kubeconfig is what is known of its Secret, and line how it is spoken to by that, nil for not at all.
	kubeconfig kubeconfig
	line       *line
	vouched    vouched
}

// wanted is what a pass wants to know.
type wanted struct {
	// cluster is the Cluster, whose kubeconfig is used.
	cluster  client.ObjectKey
	every    time.Duration
	finished bool
	managed  bool
	// gated says that the state is one of guards.Gated.
	gated bool
	nodes []ofMachine
	// clusterID is that of the cluster that was made, empty while that is not known.
	clusterID string
	// installer says that the installer's Job makes the payload.
	installer bool
}

// ofMachine is a control-plane Machine, and how its Node is found: by name, or by the provider's ID while the name is not known.
type ofMachine struct{ machine, node, providerID string }

// New makes a poller. c reads Machines and the metadata of Secrets from a cache; live reads from the API server itself.
func New(c client.Client, live client.Reader, releases Releases, o Options) *Poller {
	p := &Poller{
		client: c, live: live, releases: releases, changed: o.Changed, probed: o.Probed, clock: o.Clock, now: o.Now,
		slots: make(chan struct{}, atOnce), bounds: newBounds(), arrived: make(chan struct{}, 1), guests: map[client.ObjectKey]*guest{},
	}
	if p.changed == nil {
		p.changed = func(client.ObjectKey) {}
	}
	if p.probed == nil {
		p.probed = func(client.ObjectKey, time.Duration, bool) {}
	}
	if p.clock == nil {
		p.clock = clock.RealClock{}
	}
	if p.now == nil {
		p.now = p.clock.Now
	}
	return p
}

// Start asks guests until the context ends.
func (p *Poller) Start(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	for {
		p.mu.Lock()
		for _, g := range p.guests {
			if g.stop == nil {
				of, stop := context.WithCancel(ctx)
				g.stop = stop
				loops.Go(func() { p.follow(of, g) })
			}
		}
		p.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-p.arrived:
		}
	}
}

// Forget asks a guest no more.
func (p *Poller) Forget(key client.ObjectKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g := p.guests[key]; g != nil {
		g.end()
		delete(p.guests, key)
	}
}

// of is the guest of an OpenShiftControlPlane, which is asked from now on. Another object of the name has another guest.
func (p *Poller) of(plane *v1alpha1.OpenShiftControlPlane, want wanted) *guest {
	key := client.ObjectKeyFromObject(plane)
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.guests[key]
	if g != nil && g.of != plane.UID {
		g.end()
		g = nil
	}
	if g == nil {
		g = &guest{key: key, of: plane.UID, wake: make(chan struct{}, 1), heard: p.clock.Now(), want: want}
		p.guests[key] = g
		select {
		case p.arrived <- struct{}{}:
		default: // it is told already that somebody has
		}
		return g
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	want.clusterID = cmp.Or(want.clusterID, g.want.clusterID) // it stays what it was where the payload cannot be read
	if !reflect.DeepEqual(g.want, want) {
		g.want = want
		g.ask()
	}
	return g
}

// follow asks a guest until its context ends.
func (p *Poller) follow(ctx context.Context, g *guest) {
	defer g.hangUp()
	for moved := p.clock.Now(); ctx.Err() == nil; {
		if p.ask(ctx, g) {
			moved = p.clock.Now()
		}
		pause := g.pace()
		if pause == installing && p.clock.Since(moved) < lively {
			pause = following
		}
		timer := p.clock.NewTimer(wait.Jitter(pause, jitter))
		select {
		case <-ctx.Done():
		case <-g.wake:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// ask asks a guest once, when it is its turn, and has a pass made if it has said something else than before.
func (p *Poller) ask(ctx context.Context, g *guest) (news bool) {
	select {
	case <-ctx.Done():
		return false
	case p.slots <- struct{}{}:
	}
	defer func() { <-p.slots }()
	g.mu.Lock()
	want := g.want
	g.mu.Unlock()
	inTime, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begun := p.clock.Now()
	found, same := p.unbroken(inTime, g, want)
	if same || ctx.Err() != nil {
		return false
	}
	g.mu.Lock()
	now := p.clock.Now()
	g.looked.at, g.looked.want = begun, want
	if found.api {
		g.heard = now
	}
	found.silent = now.Sub(g.heard) >= silence
	news = !reflect.DeepEqual(g.seen, found)
	g.seen = found
	g.mu.Unlock()
	if news {
		p.changed(g.key)
	}
	return news
}

// unbroken is a look, of which a panic ends no more than itself: what a guest answers is somebody else's to say, and the process serves all.
func (p *Poller) unbroken(ctx context.Context, g *guest, want wanted) (found sight, same bool) {
	defer func() {
		if broken := recover(); broken != nil {
			found, same = sight{problem: fmt.Sprintf("what it answers has met a fault of this program: %v", broken)}, false
		}
	}()
	if p.isSame(ctx, g, want) {
		return sight{}, true
	}
	return p.look(ctx, g, want), false
}

func (g *guest) pace() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.want.every
}

// ask has the guest asked now, and not when it is its time.
func (g *guest) ask() {
	select {
	case g.wake <- struct{}{}:
	default: // it will be
	}
}

func (g *guest) end() {
	if g.stop != nil {
		g.stop()
	}
}

func (g *guest) hangUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.use(kubeconfig{}, nil)
}

// Seen is what one look has shown, and what the works of that pass are done with.
type Seen struct {
	p     *Poller
	look  phases.Look
	facts *guards.Facts
	// guest is nil where nobody is to be asked.
	guest *guest
	sight sight
	fresh bool
	// want is what the guest is asked for.
	want wanted
	// asked is the release that the spec asks for, where the guest has another one.
	asked release.Release
	// takes says that a wish of ours is taken off the guest, in place of another one.
	takes bool
	// unread is why Machines or the kubeconfig could not be read, nil if they were.
	unread error
}
