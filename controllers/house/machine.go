package house

import (
	"context"
	"fmt"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
)

// Machine is a machine as it is run.
type Machine[F, E any] struct {
	Table   machine.Table[F, E]
	Observe func(context.Context, machine.Key) (F, E, error)
	Store   machine.Store[F, E]
	// UID is that of the object that a look has seen, see [machine.Machine]; nil for a machine that does not ask.
	UID   func(E) string
	Words func(machine.Key, machine.Snapshot[F, E]) Words
	// Limit bounds the Events of a family; nil for one whose instances are few.
	Limit *events.Limit
	// Exists says that the object of a key exists; what is remembered of an instance goes with it. Nil for a singleton,
	// which is there always.
	Exists  func(context.Context, machine.Key) (bool, error)
	Trigger *Trigger
	Watches []Watch
	// Side is how many instances get their passes side by side; zero stands for one.
	Side int
}

// Add has the manager run a machine.
func Add[F, E any](mgr ctrl.Manager, h *House, m Machine[F, E]) error {
	controlled := ctrl.NewControllerManagedBy(mgr).Named(m.Table.Name)
	for _, w := range m.Watches {
		if _, err := apiutil.GVKForObject(w.Kind, mgr.GetScheme()); err != nil && w.In == nil {
			return fmt.Errorf("adding machine %s: it watches what is not among its kinds: %w", m.Table.Name, err)
		}
		controlled = controlled.WatchesRawSource(watching{Watch: w, in: mgr.GetCache()})
	}
	if m.Trigger != nil {
		controlled = controlled.WatchesRawSource(m.Trigger)
	}
	if in, is := m.Store.(lists); is && m.Exists != nil {
		controlled = controlled.WatchesRawSource(stored{in: in, log: mgr.GetLogger().WithName(m.Table.Name)})
	}
	err := controlled.WithOptions(controller.Options{NewQueue: queueBy(h.Queue), MaxConcurrentReconciles: m.Side, LogConstructor: loggers(mgr.GetLogger(), m.Table.Name)}).Complete(NewReconciler(h, m))
	if err != nil {
		return fmt.Errorf("adding machine %s: %w", m.Table.Name, err)
	}
	return nil
}

// Reconciler makes the passes of a machine.
type Reconciler[F, E any] struct {
	Machine[F, E]
	machine  *machine.Machine[F, E]
	seen     *seen[F, E]
	tellers  []Teller
	watchdog *watchdog
}

// NewReconciler makes the reconciler of a machine; it sends nothing.
func NewReconciler[F, E any](h *House, m Machine[F, E]) *Reconciler[F, E] {
	var states []machine.State
	for _, row := range m.Table.States {
		states = append(states, row.Name)
	}
	var alerts []string
	for _, call := range m.Table.Calls() {
		alerts = append(alerts, call.Name)
	}
	r := &Reconciler[F, E]{Machine: m, seen: &seen[F, E]{Store: m.Store, shots: map[machine.Key]machine.Snapshot[F, E]{}}, tellers: h.tellers(m.Table.Name, states, alerts, m.Limit), watchdog: &h.watchdog}
	r.machine = &machine.Machine[F, E]{Table: m.Table, Observe: m.Observe, Store: r.seen, Now: h.Now, UID: m.UID}
	return r
}

// Reconcile makes one pass of one instance, and tells of it. An error or a panic
// is told and asks for the next pass of its own key only.
func (r *Reconciler[F, E]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	key := KeyOf(req.NamespacedName)
	ctx, done := r.watchdog.begin(ctx, fmt.Sprintf("%s of %s", r.Table.Name, key))
	defer done()
	if gone, again, err := r.gone(ctx, key); gone || err != nil {
		return ctrl.Result{RequeueAfter: again}, err
	}
	outcome, err := r.machine.Step(ctx, key)
	return ctrl.Result{RequeueAfter: r.tell(ctx, key, outcome, err)}, nil
}

// forgets is a store that remembers something of instances.
type forgets interface {
	// Forget lets go of an instance whose object is gone. again is after how long it wants to be called again, as with
	// Save; zero for never.
	Forget(ctx context.Context, key machine.Key) (again time.Duration, err error)
}

// gone forgets an instance whose object does not exist.
func (r *Reconciler[F, E]) gone(ctx context.Context, key machine.Key) (gone bool, again time.Duration, err error) {
	if r.Exists == nil {
		return false, 0, nil
	}
	exists, err := r.Exists(ctx, key)
	if exists || err != nil {
		return false, 0, err
	}
	if stored, is := r.Store.(forgets); is {
		if again, err = stored.Forget(ctx, key); err != nil {
			return false, 0, err
		}
	}
	r.machine.Forget(key)
	for _, teller := range r.tellers {
		teller.Forget(key)
	}
	return true, again, nil
}

// tell gives a pass to everyone who tells of it, and returns after how long the next is due.
func (r *Reconciler[F, E]) tell(ctx context.Context, key machine.Key, outcome machine.Outcome, failed error) time.Duration {
	p := Pass{
		Machine: r.Table.Name, Key: key, At: r.machine.Now(), Outcome: outcome, Err: failed,
		Rests: r.Table.Rests(outcome.State), Alarms: r.Table.Alarms(outcome.State),
	}
	if shot, seen := r.seen.take(key); seen {
		p.Words, p.Fails = r.Words(key, shot), shot.Record.Failure != nil
		p.Calling, p.Seen = r.Table.Calling(shot), true
	}
	next := outcome.LookAgain
	for _, teller := range r.tellers {
		if again := teller.Tell(ctx, p); again > 0 && (next == 0 || again < next) {
			next = again
		}
	}
	return next
}

// seen notes what passes have seen, on its way into the store.
type seen[F, E any] struct {
	machine.Store[F, E]
	mu    sync.Mutex
	shots map[machine.Key]machine.Snapshot[F, E]
}

// Save notes and saves.
func (s *seen[F, E]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	s.mu.Lock()
	s.shots[key] = shot
	s.mu.Unlock()
	return s.Store.Save(ctx, key, shot)
}

// take returns what the last pass of a key has seen, once.
func (s *seen[F, E]) take(key machine.Key) (machine.Snapshot[F, E], bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shot, is := s.shots[key]
	delete(s.shots, key)
	return shot, is
}
