package records

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/names"
)

// ConfigMaps keeps the records of instances whose objects have no place for them,
// in ConfigMaps of one namespace: a number of shards, by the hash of the key, or
// one for each instance where these are few and their records are large. Each is
// read when its first record is loaded, shards by one list, and kept in memory.
// One that cannot be read stops its instances, and no others.
//
// Beside the record, an entry may have a note: a small JSON value of the family
// that outlives the record, the UID and the object, see [ConfigMaps.StoreNote].
//
// A record that looking again would lead to is kept in memory only, and begins
// anew with the process. Others wait for a write that takes them along, for as
// long as the options say, and count as saved. A process that is killed meanwhile
// takes the way again from the records that are stored. Stored texts and
// transitions are cut to what an entry may take; those in memory are whole.
//
// A ConfigMap has one write under way at a time, which is bound to the
// resourceVersion seen: of two operators neither overwrites what it has not read.
// Where the entries of one do not fit into it, the largest lose their
// transitions; then the changes that grow most get an error, and no other.
//
// If a ConfigMap is lost or spoilt, the running operator writes it anew from
// memory with its next write, and a new one starts afresh with those instances.
// Both are told, but for one that is lost before a start: it cannot be told from
// one that nobody needed. Whoever edits one is heard at the next start, when
// another entry of it is written, or after a write that failed. Old or forged
// records and notes are taken for what they say: the rows of the table hold for
// any world. What no store would have written is dropped.
type ConfigMaps[F, E any] struct {
	options Options
	room    int // for what is packed, in bytes
	first   *listed
	flow    flow

	mu   sync.Mutex
	open map[string]*shard
}

// NewConfigMaps makes a store; it sends nothing.
func NewConfigMaps[F, E any](o Options) *ConfigMaps[F, E] {
	s := &ConfigMaps[F, E]{options: o.completed(), room: maxPacked, open: map[string]*shard{}}
	if o.Shards > 1 {
		s.first = &listed{options: &s.options}
	}
	return s
}

// Load reads the record. One that is missing or cannot be read is not found.
func (s *ConfigMaps[F, E]) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	return s.of(key).record(ctx, key)
}

// Save writes the record if what is to be stored of it differs from what is, and may not wait.
func (s *ConfigMaps[F, E]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	saved, err := s.options.saved(shot.Record)
	if err != nil {
		return 0, fmt.Errorf("putting the record of %s into a ConfigMap: %w", key, err)
	}
	return s.of(key).save(ctx, key, saved)
}

// Forget removes the record of an instance whose object is gone, as Save writes one. A note that is not expired stays.
func (s *ConfigMaps[F, E]) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	of := s.of(key)
	again, err := of.save(ctx, key, saved{})
	if err == nil && again == 0 && s.options.Shards == 0 && of.isEmpty() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, of.key.Name)
	}
	return again, err
}

// Note is the stored note of an instance, nil for none and for one that is expired.
func (s *ConfigMaps[F, E]) Note(ctx context.Context, key machine.Key) (json.RawMessage, error) {
	return s.of(key).note(ctx, key)
}

// StoreNote puts a note in the place of the one that [ConfigMaps.Note] has
// returned, nil for none, and returns once it is stored: only then may be done
// what it counts. It waits for others, and all are written together. After an
// error it may be stored all the same, as after a crash; the next pass sees which.
//
// A note that is not any more the one that was seen is not replaced, with
// [ErrNoteChanged]: of two operators that count, neither loses what the other one
// has counted.
func (s *ConfigMaps[F, E]) StoreNote(ctx context.Context, key machine.Key, seen, note json.RawMessage) error {
	n, err := s.newNote(seen, note)
	if err == nil {
		err = s.of(key).storeNote(ctx, key, n)
	}
	if err != nil {
		return fmt.Errorf("storing the note of %s: %w", key, err)
	}
	return nil
}

// OfferNote is StoreNote for who does not wait: it says whether the note is stored by now. When it is, or is not, [Options.Wake]
// is told, and whoever offers it once more sees which: an error is of the write, and is returned once.
func (s *ConfigMaps[F, E]) OfferNote(ctx context.Context, key machine.Key, seen, note json.RawMessage) (stored bool, err error) {
	n, err := s.newNote(seen, note)
	if err == nil {
		stored, err = s.of(key).offerNote(ctx, key, n)
	}
	if err != nil {
		return false, fmt.Errorf("storing the note of %s: %w", key, err)
	}
	return stored, nil
}

// HoldsNote says that a note is stored, as far as that was seen: not so one that only memory has, because what was stored is lost or
// spoilt.
func (s *ConfigMaps[F, E]) HoldsNote(key machine.Key, note json.RawMessage) bool {
	return s.of(key).holdsNote(key, note)
}

func (s *ConfigMaps[F, E]) newNote(seen, note json.RawMessage) (newNote, error) {
	n, err := newNote{seen: seen, note: note}.compacted()
	if err == nil && len(n.note) > s.options.maxNote() {
		err = fmt.Errorf("it takes %d bytes, and %d is the most", len(n.note), s.options.maxNote())
	}
	return n, err
}

// Keys are those of all that is stored, also of objects that went while nobody was looking.
func (s *ConfigMaps[F, E]) Keys(ctx context.Context) ([]machine.Key, error) {
	if s.options.Shards == 0 {
		return s.keysOfEach(ctx)
	}
	var keys []machine.Key
	for n := range s.options.Shards {
		stored, err := s.at(s.shardName(n)).keys(ctx)
		if err != nil {
			return nil, err
		}
		keys = append(keys, stored...)
	}
	return keys, nil
}

// ConfigMapOf is the ConfigMap that an instance is kept in, whether it is there or not.
func (s *ConfigMaps[F, E]) ConfigMapOf(key machine.Key) client.ObjectKey {
	return client.ObjectKey{Namespace: s.options.Namespace, Name: s.nameOf(key)}
}

// keysOfEach looks for ConfigMaps of one instance, a few at a time.
func (s *ConfigMaps[F, E]) keysOfEach(ctx context.Context) ([]machine.Key, error) {
	var keys []machine.Key
	const few = 20
	for page := ""; ; {
		list := &corev1.ConfigMapList{}
		if err := s.options.Live.List(ctx, list, client.InNamespace(s.options.Namespace), client.Limit(few), client.Continue(page)); err != nil {
			return nil, fmt.Errorf("listing ConfigMaps of %s: %w", s.options.Namespace, err)
		}
		for _, object := range list.Items {
			if strings.HasPrefix(object.Name, s.options.Name+"-") {
				content := unpack(object.BinaryData[contentKey], s.ownOf(object.Name), s.options.maxNote())
				keys = append(keys, slices.Sorted(maps.Keys(content.all))...)
			}
		}
		if page = list.Continue; page == "" {
			return keys, nil
		}
	}
}

// of is the shard of a key.
func (s *ConfigMaps[F, E]) of(key machine.Key) *shard { return s.at(s.nameOf(key)) }

// at is the shard of a name.
func (s *ConfigMaps[F, E]) at(name string) *shard {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[name] == nil {
		s.open[name] = newShard(&s.options, name, s.room, s.ownOf(name))
		s.open[name].first, s.open[name].flow = s.first, &s.flow
	}
	return s.open[name]
}

// ownOf says of keys whether their entries belong into the ConfigMap of a name.
func (s *ConfigMaps[F, E]) ownOf(name string) func(machine.Key) bool {
	return func(key machine.Key) bool { return s.nameOf(key) == name }
}

// nameOf is the name of the ConfigMap of a key. Without shards it is for people, but for the hash, which tells keys
// apart that look alike as names.
func (s *ConfigMaps[F, E]) nameOf(key machine.Key) string {
	if s.options.Shards > 0 {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(key)) // it never fails
		return s.shardName(hash.Sum32() % s.options.Shards)
	}
	const room = 200
	hash := sha256.Sum256([]byte(key))
	text := names.Subdomain(strings.ReplaceAll(string(key), "/", "."), room-len(s.options.Name))
	if text == "" {
		return fmt.Sprintf("%s-%x", s.options.Name, hash[:8])
	}
	return fmt.Sprintf("%s-%s-%x", s.options.Name, text, hash[:8])
}

func (s *ConfigMaps[F, E]) shardName(n uint32) string { return fmt.Sprintf("%s-%x", s.options.Name, n) }
