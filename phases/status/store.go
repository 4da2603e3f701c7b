package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/newest"
)

// Config binds a store to a machine and to a cluster.
type Config[F, E any] struct {
	// Table gives the names under which the machine is stored, and the states that it rests in.
	Table machine.Table[F, E]
	// Operator is the name of the ClusterOperator; it is created if there is none.
	Operator string
	// Former are field managers of installers before this one, whose conditions are taken over or go.
	Former []string
	// Lasting are conditions that are never taken off again once they were told.
	Lasting []string
	// Tell derives what people are told from what a pass has seen, and from what stands there.
	Tell func(machine.Snapshot[F, E], Stored) Told

	// Client reads from caches; Operators speaks to the API server itself.
	Client    client.Reader
	Operators configclient.ClusterOperatorInterface
	// Event is given each Event that is to be written.
	Event func(events.Event)
	Now   func() time.Time
	Log   logr.Logger
}

// Store is the [machine.Store] of a singleton. It is used by one pass at a time.
//
// If the stored record is lost, the machine starts afresh and its table leads it
// back; if it is old or forged, its rows must hold all the same. Whoever changes
// or deletes it is heard, also while a newer one waits to be written.
type Store[F, E any] struct {
	Config[F, E]
	throttle throttle
	// written is the newest ClusterOperator that this store has seen: its own writes may reach the cache late.
	written *configv1.ClusterOperator
	// wrote is when that was; ahead says that the cache does not show it yet.
	wrote time.Time
	ahead bool
	// takenOver says that nothing is left of the former managers. Lost, it is looked for again.
	takenOver bool
	// logged is the last line that was logged.
	logged string
	// unwritten is the record as it is, when it is ahead of the stored one.
	unwritten *unwritten
}

// unwritten is a record that waits to be written over the one that is stored.
type unwritten struct {
	stored []byte
	record machine.Record
}

// follows says whether this is still what is stored.
func (u *unwritten) follows(stored []byte) bool {
	return u != nil && (bytes.Equal(u.stored, stored) || sameJSON(u.stored, stored))
}

// New makes a store; it sends nothing.
func New[F, E any](c Config[F, E]) *Store[F, E] {
	return &Store[F, E]{Config: c, throttle: throttle{rests: c.Table.Rests}}
}

// Load reads the record. One that is missing or cannot be read is not found, and
// the machine then starts afresh.
func (s *Store[F, E]) Load(ctx context.Context, _ machine.Key) (machine.Record, bool, error) {
	operator, err := s.operator(ctx)
	if err != nil {
		return machine.Record{}, false, err
	}
	stored := reportIn(operator, s.Table.Name)
	switch {
	case s.unwritten.follows(stored.raw):
		return s.unwritten.record, true, nil
	case stored.unreadable != "":
		s.Log.Info("the record cannot be read, starting afresh", "error", stored.unreadable)
		return machine.Record{}, false, nil
	}
	return stored.record, len(stored.raw) > 0, nil
}

// Save writes record, conditions and detail if they differ from what is there
// and may not wait, and then tells in log and Events what is new about them.
func (s *Store[F, E]) Save(ctx context.Context, _ machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	operator, err := s.operator(ctx)
	if err != nil {
		return 0, err
	}
	if operator == nil {
		if operator, err = s.create(ctx); err != nil {
			return 0, err
		}
	}
	now, stored := s.Now(), reportIn(operator, s.Table.Name)
	told := s.Tell(shot, Stored{Detail: stored.detail, Versions: stored.versions, Related: stored.related})
	wanted := report{
		record: shot.Record, detail: told.Detail, conditions: merge(stored.conditions, told.Conditions, s.Lasting, now),
		versions: told.Versions, related: told.Related,
	}
	if wanted.raw, err = json.Marshal(shot.Record); err != nil {
		return 0, fmt.Errorf("encoding the record: %w", err)
	}
	if wanted.stands(stored) {
		s.stored()
		if err := s.takeOver(ctx, operator); err != nil {
			return 0, err
		}
		if s.ahead { // a cache that shows nothing new by then is right, and another look is due
			return newest.Trust - now.Sub(s.wrote), nil
		}
		return 0, nil
	}
	s.throttle.begin(now)
	if wait := s.throttle.writeAt(stored, wanted, now).Sub(now); wait > 0 {
		s.unwritten = &unwritten{stored: stored.raw, record: shot.Record}
		return wait, nil
	}
	s.throttle.sends(now)
	if err := s.write(ctx, wanted); err != nil {
		return 0, err
	}
	s.stored()
	s.announce(told)
	return 0, s.takeOver(ctx, s.written)
}

// stored notes that nothing waits to be written.
func (s *Store[F, E]) stored() {
	s.unwritten = nil
	s.throttle.end()
}

func (s *Store[F, E]) announce(told Told) {
	if told.Line != s.logged {
		s.Log.Info(told.Line)
		s.logged = told.Line
	}
	for _, n := range told.Events {
		n.By, n.About = FieldManager(s.Table.Name), told.About
		s.Event(n)
	}
}
