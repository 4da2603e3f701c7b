package machinetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/capstan-capi/capstan/machine"
)

// World is what stories are played on: a cluster in memory, or just facts.
type World[F, E any] interface {
	// Start starts a new operator, the first one or after a restart: what the one before remembered is gone.
	Start() (observe func(context.Context, machine.Key) (F, E, error), store machine.Store[F, E])
	Now() time.Time
	Advance(time.Duration)
	// LoseRecord wipes what is stored.
	LoseRecord()
	// Announced says whether anything has asked for a pass since it was last asked.
	Announced() bool
	// Do runs a command that is the world's own, and returns what it prints.
	Do(command string, args map[string]string, input string) (string, error)
}

// WithActions returns a copy of a table whose works and effects are changed.
func WithActions[F, E any](table machine.Table[F, E], change func(machine.Action[E]) machine.Action[E]) machine.Table[F, E] {
	table.States, table.Moves = slices.Clone(table.States), slices.Clone(table.Moves)
	for i := range table.States {
		table.States[i].Work = change(table.States[i].Work)
	}
	for i := range table.Moves {
		table.Moves[i].Do = change(table.Moves[i].Do)
	}
	return table
}

// saving notes the record as it was saved last.
type saving[F, E any] struct {
	machine.Store[F, E]
	saved *machine.Record
}

func (s *saving[F, E]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	*s.saved = shot.Record
	return s.Store.Save(ctx, key, shot)
}

// told is a world of facts that a story tells.
type told[F, E any] struct {
	facts F
	now   time.Time
	store *memory[F, E]
}

func (w *told[F, E]) Start() (func(context.Context, machine.Key) (F, E, error), machine.Store[F, E]) {
	return func(context.Context, machine.Key) (facts F, env E, err error) { return w.facts, env, nil }, w.store
}

func (w *told[F, E]) Now() time.Time           { return w.now }
func (w *told[F, E]) Advance(by time.Duration) { w.now = w.now.Add(by) }
func (w *told[F, E]) LoseRecord()              { w.store = &memory[F, E]{} }
func (w *told[F, E]) Announced() bool          { return false }

func (w *told[F, E]) Do(command string, _ map[string]string, input string) (string, error) {
	if command != "facts" {
		return "", errors.New("no such command")
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(input)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&w.facts); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading facts: %w", err)
	}
	return "", nil
}
