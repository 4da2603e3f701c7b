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
// read when its first record is loaded, and kept in memory. It is written at most
// once in a second: records that are saved meanwhile wait, count as saved, and go
// with the next write. A process that is killed meanwhile takes the way again
// from the records that are stored.
//
// Where the records of a shard do not fit into one ConfigMap, the largest lose
// their transitions; then the saves that grow most get an error, and no other.
//
// If a ConfigMap is lost, the running operator writes it anew from memory, and a
// new one starts afresh with those instances. Whoever edits one is heard at the
// next start, when another record of it is written, or after a write that failed.
// Old or forged records are taken for what they say: the rows of the table hold
// for any world. What no store would have written is dropped.
type ConfigMaps[F, E any] struct {
	// live must read from the API server itself.
	live   client.Reader
	writer client.Writer
	place  client.ObjectKey
	shards uint32
	room   int // for what is packed, in bytes
	now    func() time.Time

	mu   sync.Mutex
	open map[string]*shard
}

// NewConfigMaps makes a store of a machine in a namespace; with no shards each
// instance has a ConfigMap of its own.
func NewConfigMaps[F, E any](
	live client.Reader, writer client.Writer, namespace, machineName string, shards uint32, now func() time.Time,
) *ConfigMaps[F, E] {
	return &ConfigMaps[F, E]{
		live: live, writer: writer, place: client.ObjectKey{Namespace: namespace, Name: "capstan-" + machineName + "-records"},
		shards: shards, room: maxPacked, now: now, open: map[string]*shard{},
	}
}

// Load reads the record. One that is missing or cannot be read is not found.
func (s *ConfigMaps[F, E]) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	raw, err := s.of(key).record(ctx, key)
	if err != nil {
		return machine.Record{}, false, err
	}
	record, found := decoded(raw)
	return record, found, nil
}

// Save writes the record if it differs from the stored one and may not wait.
func (s *ConfigMaps[F, E]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	text, err := fitting(shot.Record, maxEntry, json.Marshal)
	if err != nil {
		return 0, fmt.Errorf("putting the record of %s into a ConfigMap: %w", key, err)
	}
	return s.of(key).save(ctx, key, json.RawMessage(text))
}

// Forget removes the record of an instance whose object is gone, as Save writes one.
func (s *ConfigMaps[F, E]) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	of := s.of(key)
	again, err := of.save(ctx, key, nil)
	if err == nil && again == 0 && s.shards == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, of.key.Name)
	}
	return again, err
}

// Keys are those of all records that are stored, also of objects that went while
// nobody was looking.
func (s *ConfigMaps[F, E]) Keys(ctx context.Context) ([]machine.Key, error) {
	if s.shards == 0 {
		return s.keysOfEach(ctx)
	}
	var keys []machine.Key
	for n := range s.shards {
		stored, err := s.at(s.shardName(n)).keys(ctx)
		if err != nil {
			return nil, err
		}
		keys = append(keys, stored...)
	}
	return keys, nil
}

// keysOfEach looks for ConfigMaps of one record, a few at a time.
func (s *ConfigMaps[F, E]) keysOfEach(ctx context.Context) ([]machine.Key, error) {
	var keys []machine.Key
	const few = 20
	for page := ""; ; {
		list := &corev1.ConfigMapList{}
		if err := s.live.List(ctx, list, client.InNamespace(s.place.Namespace), client.Limit(few), client.Continue(page)); err != nil {
			return nil, fmt.Errorf("listing ConfigMaps of %s: %w", s.place.Namespace, err)
		}
		for _, object := range list.Items {
			if strings.HasPrefix(object.Name, s.place.Name+"-") {
				keys = append(keys, slices.Sorted(maps.Keys(unpack(object.BinaryData[contentKey], s.ownOf(object.Name))))...)
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
		s.open[name] = &shard{
			key: client.ObjectKey{Namespace: s.place.Namespace, Name: name}, room: s.room, own: s.ownOf(name),
			live: s.live, writer: s.writer, now: s.now, waiting: entries{}, refused: map[machine.Key]error{},
		}
	}
	return s.open[name]
}

// ownOf says of keys whether their records belong into the ConfigMap of a name.
func (s *ConfigMaps[F, E]) ownOf(name string) func(machine.Key) bool {
	return func(key machine.Key) bool { return s.nameOf(key) == name }
}

// nameOf is the name of the ConfigMap of a key. Without shards it is for people, but for the hash, which tells keys
// apart that look alike as names.
func (s *ConfigMaps[F, E]) nameOf(key machine.Key) string {
	if s.shards > 0 {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(key)) // it never fails
		return s.shardName(hash.Sum32() % s.shards)
	}
	const room = 200
	hash := sha256.Sum256([]byte(key))
	text := names.Subdomain(strings.ReplaceAll(string(key), "/", "."), room-len(s.place.Name))
	if text == "" {
		return fmt.Sprintf("%s-%x", s.place.Name, hash[:8])
	}
	return fmt.Sprintf("%s-%s-%x", s.place.Name, text, hash[:8])
}

func (s *ConfigMaps[F, E]) shardName(n uint32) string { return fmt.Sprintf("%s-%d", s.place.Name, n) }
