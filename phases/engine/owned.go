package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ownership is what metadata.managedFields says about an object, seen from our field manager.
type ownership struct {
	applied        *fieldpath.Set // our Apply entry, nil when there is none
	appliedVersion string         // the apiVersion in which its paths are written
	created        *fieldpath.Set // our Update entry, which a create leaves behind, nil when there is none
	others         []foreign
}

// foreign is another manager's entry, parsed only when somebody asks.
type foreign struct {
	manager string
	entry   metav1.ManagedFieldsEntry
}

// ownershipOf reads managedFields. An entry that cannot be parsed counts as absent: the object is then compared by
// value and applied again, which writes a good entry.
func ownershipOf(obj *unstructured.Unstructured) ownership {
	var o ownership
	for _, entry := range obj.GetManagedFields() {
		switch {
		case entry.Subresource != "":
			if entry.Manager != FieldManager {
				o.others = append(o.others, foreign{entry.Manager, entry})
			}
		case entry.Manager != FieldManager:
			o.others = append(o.others, foreign{entry.Manager, entry})
		case entry.Operation == metav1.ManagedFieldsOperationApply:
			o.applied, o.appliedVersion = fieldsOf(entry), entry.APIVersion
		case entry.Operation == metav1.ManagedFieldsOperationUpdate:
			if fields := fieldsOf(entry); fields != nil && o.created != nil {
				o.created = o.created.Union(fields)
			} else if fields != nil {
				o.created = fields
			}
		}
	}
	return o
}

// holders names the other managers that hold the field m, in the order of managedFields, without doubles.
func (o ownership) holders(m missing) []string {
	var names []string
	for _, other := range o.others {
		if fields := fieldsOf(other.entry); fields != nil && m.heldIn(fields) && !slices.Contains(names, other.manager) {
			names = append(names, other.manager)
		}
	}
	return names
}

func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	if entry.FieldsV1 == nil {
		return nil
	}
	fields := &fieldpath.Set{}
	if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil
	}
	return fields
}

// fold is the JSON patch that turns our Update entries into our Apply entry, so that the next server-side apply does
// not conflict with our own create. Given the payload that was created, the entry is narrowed to its fields: a create
// also books every default of the server on us, which an apply never does. A nil payload keeps all fields, so that
// the apply that follows removes what is no longer wanted. Nil when there is nothing to fold.
func fold(actual, payload *unstructured.Unstructured) ([]byte, error) {
	own := ownershipOf(actual)
	if own.created == nil {
		return nil, nil
	}
	fields := own.created
	if own.applied != nil {
		fields = fields.Union(own.applied)
	}
	if payload != nil {
		d := differ{}
		d.walk(nil, fields, payload.Object, actual.Object)
		fields = fields.RecursiveDifference(fieldpath.NewSet(d.extra...)).Difference(fieldpath.NewSet(d.dots...)).
			Union(fieldpath.NewSet(d.blank...))
	}
	raw, err := fields.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("writing the field set of %s: %w", KeyOf(actual), err)
	}
	var entries []metav1.ManagedFieldsEntry
	var folded *metav1.ManagedFieldsEntry
	for _, entry := range actual.GetManagedFields() {
		if entry.Manager != FieldManager || entry.Subresource != "" {
			entries = append(entries, entry)
		} else if folded == nil {
			folded = &metav1.ManagedFieldsEntry{
				Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: entry.APIVersion,
				Time: entry.Time, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(raw)),
			}
		}
	}
	return json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": append(entries, *folded)},
		// Replaced, not tested: the server answers a stale version with a conflict, not with an invalid patch.
		{"op": "replace", "path": "/metadata/resourceVersion", "value": actual.GetResourceVersion()},
	})
}
