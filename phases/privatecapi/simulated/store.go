package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// store keeps records and notes as JSON, as ConfigMaps do.
type store struct {
	w       *World
	records map[machine.Key]json.RawMessage
	notes   map[machine.Key]json.RawMessage
}

// Load reads a record.
func (s *store) Load(_ context.Context, key machine.Key) (machine.Record, bool, error) {
	var record machine.Record
	raw, found := s.records[key]
	if !found {
		return machine.Record{}, false, nil
	}
	if err := json.Unmarshal(raw, &record); err != nil {
		return machine.Record{}, false, nil //nolint:nilerr // what cannot be read is no record
	}
	return record, true, nil
}

// Save writes a record.
func (s *store) Save(_ context.Context, key machine.Key, shot phases.Snapshot) (time.Duration, error) {
	if s.w.server.down {
		return 0, s.w.server.unavailable()
	}
	raw, err := json.Marshal(shot.Record)
	s.records[key] = raw
	return 0, err
}

// Note reads what is noted.
func (s *store) Note(_ context.Context, key machine.Key) (json.RawMessage, error) {
	if s.w.server.down {
		return nil, s.w.server.unavailable()
	}
	return s.notes[key], nil
}

// StoreNote notes something in place of what was seen.
func (s *store) StoreNote(_ context.Context, key machine.Key, seen, note json.RawMessage) error {
	if string(s.notes[key]) != string(seen) {
		return errors.New("the note has changed")
	}
	s.notes[key] = note
	s.w.server.written["ConfigMap"]++
	return nil
}
