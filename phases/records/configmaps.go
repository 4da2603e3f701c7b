package records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// ConfigMaps keeps the records of instances whose objects have no place for them,
// in ConfigMaps of one namespace: a number of shards, by the hash of the key, or
// one for each instance where these are few and their records are large. Records
// of one shard that are saved side by side are one write. Each shard is read
// once, when its first record is loaded, and kept in memory.
//
// If a ConfigMap is lost, the running operator writes it anew from memory, and a
// new one starts afresh with those instances. Whoever edits one is heard at the
// next start, or when another record of it is written. Old or forged records
// are taken for what they say: the rows of the table hold for any world.
type ConfigMaps[F, E any] struct {
	// live must read from the API server itself.
	live   client.Reader
	writer client.Writer
	place  client.ObjectKey
	shards uint32

	mu   sync.Mutex
	open map[string]*shard
}

// NewConfigMaps makes a store of a machine in a namespace; with no shards each
// instance has a ConfigMap of its own.
func NewConfigMaps[F, E any](live client.Reader, writer client.Writer, namespace, machineName string, shards uint32) *ConfigMaps[F, E] {
	return &ConfigMaps[F, E]{
		live: live, writer: writer, place: client.ObjectKey{Namespace: namespace, Name: "capstan-" + machineName + "-records"},
		shards: shards, open: map[string]*shard{},
	}
}

// Load reads the record. One that is missing or cannot be read is not found.
func (s *ConfigMaps[F, E]) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	raw, err := s.of(key).record(ctx, s.live, key)
	if err != nil {
		return machine.Record{}, false, err
	}
	record, found := decoded(raw)
	return record, found, nil
}

// Save writes the record if it differs from the stored one.
func (s *ConfigMaps[F, E]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	raw, err := json.Marshal(shot.Record)
	if err != nil {
		return 0, fmt.Errorf("encoding the record: %w", err)
	}
	of := s.of(key)
	if stored, err := of.record(ctx, s.live, key); err != nil || bytes.Equal(stored, raw) {
		return 0, err
	}
	return 0, of.save(ctx, s.live, s.writer, key, raw)
}

// Forget removes the record of an instance whose object is gone.
func (s *ConfigMaps[F, E]) Forget(ctx context.Context, key machine.Key) (time.Duration, error) {
	of := s.of(key)
	if stored, err := of.record(ctx, s.live, key); err != nil || stored == nil {
		return 0, err
	}
	if err := of.save(ctx, s.live, s.writer, key, nil); err != nil {
		return 0, err
	}
	if s.shards == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, of.key.Name)
	}
	return 0, nil
}

// of is the shard of a key.
func (s *ConfigMaps[F, E]) of(key machine.Key) *shard {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key)) // it never fails
	at := s.place
	if s.shards > 0 {
		at.Name = fmt.Sprintf("%s-%d", at.Name, hash.Sum32()%s.shards)
	} else {
		const room = 200
		text := strings.ReplaceAll(string(key), "/", ".")
		at.Name = fmt.Sprintf("%s-%s-%08x", at.Name, text[:min(len(text), room-len(at.Name))], hash.Sum32())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[at.Name] == nil {
		s.open[at.Name] = &shard{key: at}
	}
	return s.open[at.Name]
}
