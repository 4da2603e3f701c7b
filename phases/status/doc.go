// Package status keeps what a singleton machine remembers, and what it tells
// people, in the status of a ClusterOperator: the record and a detail in
// status.extension, conditions, related objects and versions beside them, all in
// one server-side apply under the machine's own field manager. Several machines
// may share a ClusterOperator. It knows no machine and decides nothing.
package status

import (
	"encoding/json"
	"reflect"
)

// RecordKey is where a machine's record lies in status.extension.
func RecordKey(machine string) string { return machine }

// DetailKey is where lies what commands show beside the record.
func DetailKey(machine string) string { return machine + "Detail" }

// FieldManager owns what a machine writes, and reports its Events.
func FieldManager(machine string) string { return "capstan-" + machine }

// Extension are the entries of a status.extension, nil for what cannot be read.
func Extension(raw []byte) map[string]json.RawMessage {
	var entries map[string]json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil
	}
	return entries
}

// sameJSON compares values, not texts: the API server orders keys its own way.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
