package bootgate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	operatorv1 "github.com/openshift/api/operator/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	corev1 "k8s.io/api/core/v1"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/status"
)

const (
	// maxDetail bounds what stands beside the record, in bytes, and maxTargets how many targets are in it.
	maxDetail  = 16 << 10
	maxTargets = 64
	// maxWhy bounds what is told of one target there.
	maxWhy = 256
)

// Words are what the machine says of a pass.
type Words struct {
	// Line says in one line how it stands. Conditions are those of the ClusterOperator, ConfigConditions those of the
	// MachineConfiguration.
	Line                         func(Snapshot) string
	Conditions, ConfigConditions func(Snapshot) []Condition
}

// Store keeps the machine's record in the status of the ClusterOperator, tells people there and on the MachineConfiguration,
// and posts to targets what a pass has come to.
type Store struct {
	*status.Store[guards.Facts, *Pass]
	phases *Phases
	words  Words
	// loaded is the record that the pass has begun with, empty for none.
	loaded []byte
}

// Load notes what is stored.
func (s *Store) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	record, found, err := s.Store.Load(ctx, key)
	s.loaded = nil
	if found && err == nil {
		s.loaded, err = json.Marshal(record)
	}
	return record, found, err
}

// Store makes the store.
func (p *Phases) Store(t machine.Table[guards.Facts, *Pass], words Words, operators configclient.ClusterOperatorInterface, log logr.Logger) *Store {
	return &Store{phases: p, words: words, Store: status.New(status.Config[guards.Facts, *Pass]{
		Table: t, Operator: ClusterOperator, Tell: p.tell(words),
		Client: p.Client, Operators: operators, Event: p.Event, Now: p.Now, Log: log,
	})}
}

// Save posts first: targets wait for the gate, not for what is told of it. Right after a start, what was told before stays until
// all targets are judged, unless the record has changed.
func (s *Store) Save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	s.phases.Board.Post(shot.Seen.Verdict())
	later, err := s.save(ctx, key, shot)
	again, problem := s.phases.tellConfig(ctx, shot.Seen, s.words.ConfigConditions(shot))
	s.phases.tellWave(shot)
	return sooner(later, again), errors.Join(err, problem)
}

func (s *Store) save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	if now := s.phases.Now(); !shot.Seen.Targets.Sure && s.loaded != nil {
		if record, err := json.Marshal(shot.Record); err == nil && bytes.Equal(record, s.loaded) {
			return s.phases.untilSure(now), nil
		}
	}
	return s.Store.Save(ctx, key, shot)
}

// tell derives what stands in the status of the ClusterOperator.
func (p *Phases) tell(words Words) func(Snapshot, status.Stored) status.Told {
	return func(shot Snapshot, _ status.Stored) status.Told {
		line := words.Line(shot)
		return status.Told{Line: line, About: About(shot.Seen), Conditions: words.Conditions(shot), Detail: detailOf(line, shot).encode()}
	}
}

// About is the object that Events are about.
func About(p *Pass) corev1.ObjectReference {
	about := corev1.ObjectReference{APIVersion: operatorv1.GroupVersion.String(), Kind: "MachineConfiguration", Name: Configuration}
	if p.world.config != nil {
		about.UID = p.world.config.UID
	}
	return about
}

// tellWave tells how many targets were moved, when all have come to their ends. What a target is given again by the same verdict, as
// when somebody has changed it back, is no wave.
func (p *Phases) tellWave(shot Snapshot) {
	judged := shot.Seen.judged
	if !judged.Open || !shot.Seen.Targets.Settled() {
		return
	}
	moved := p.Board.TakeMoved()
	if moved == 0 {
		return
	}
	text := fmt.Sprintf("%d moved: %s", moved, shot.Seen.Targets.Text())
	p.Event(events.Event{
		By: FieldManager, About: About(shot.Seen), Key: judged.News + " " + text, Reason: "BootImagesMoved", Action: "Moved",
		Text: text, Warns: len(shot.Seen.Targets.Stuck) > 0,
	})
}

// Detail is what commands show beside the record.
type Detail struct {
	status.Detail
	// Settings are those of the operator that tells this.
	Settings Settings  `json:"settings,omitzero"`
	Sums     []KindSum `json:"sums,omitempty"`
	// Targets are those that have not the golden boot image, some of them where there are many; More counts the others.
	Targets []TargetDetail `json:"targets,omitempty"`
	More    int            `json:"more,omitempty"`
}

// TargetDetail is one target.
type TargetDetail struct {
	Name  string        `json:"name"`
	State machine.State `json:"state"`
	Why   string        `json:"why,omitempty"`
}

func detailOf(line string, shot Snapshot) Detail {
	d := Detail{Detail: status.Detail{Waits: line, Moves: shot.Candidates()}, Settings: shot.Seen.Settings, Sums: shot.Seen.Targets.Kinds}
	for _, s := range shot.Seen.standings {
		switch {
		case s.Done || !s.Counts && s.Why == "":
		case len(d.Targets) == maxTargets:
			d.More++
		default:
			d.Targets = append(d.Targets, TargetDetail{Name: string(s.Kind) + "/" + s.Name, State: s.State, Why: machine.Shorten(s.Why, maxWhy)})
		}
	}
	return d
}

// encode leaves out targets until there is room for the others.
func (d Detail) encode() []byte {
	for {
		encoded, err := json.Marshal(d)
		if err != nil {
			return nil // words can always be encoded
		}
		if len(encoded) <= maxDetail || len(d.Targets) == 0 {
			return encoded
		}
		d.Targets, d.More = d.Targets[:len(d.Targets)-1], d.More+1
	}
}
