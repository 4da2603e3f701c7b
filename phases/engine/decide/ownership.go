package decide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ownership is what metadata.managedFields says about an object, seen from our field manager.
type ownership struct {
	applied        *fieldpath.Set // our Apply entry, nil when there is none
	appliedVersion string         // the apiVersion in which its paths are written
	created        *fieldpath.Set // our Update entry, which a create leaves behind, nil when there is none
	legacy         *fieldpath.Set // what legacy managers own, nil when they own nothing
	legacyManagers []string
	others         []otherEntry
}

// otherEntry is another manager's entry, parsed only when somebody asks.
type otherEntry struct {
	manager string
	entry   metav1.ManagedFieldsEntry
}

// ownershipOf reads managedFields. An entry that cannot be parsed counts as absent: the object is then compared by
// value and applied again, which writes a good entry.
func ownershipOf(obj metav1.Object, us Identity) ownership {
	var o ownership
	for _, entry := range obj.GetManagedFields() {
		old := slices.Contains(us.Legacy, entry.Manager)
		switch {
		case entry.Manager != us.FieldManager && (entry.Subresource != "" || !old):
			o.others = append(o.others, otherEntry{entry.Manager, entry})
		case entry.Subresource != "":
		case old:
			o.legacy = union(o.legacy, fieldsOf(entry))
			if !slices.Contains(o.legacyManagers, entry.Manager) {
				o.legacyManagers = append(o.legacyManagers, entry.Manager)
			}
		case entry.Operation == metav1.ManagedFieldsOperationApply:
			o.applied, o.appliedVersion = fieldsOf(entry), entry.APIVersion
		case entry.Operation == metav1.ManagedFieldsOperationUpdate:
			o.created = union(o.created, fieldsOf(entry))
		}
	}
	return o
}

// union adds b to a; either may be nil.
func union(a, b *fieldpath.Set) *fieldpath.Set {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return a.Union(b)
}

// counter is who wrote the revision number that an object carries.
type counter int

const (
	byUs     counter = iota // or nobody that managedFields name: then the number is believed
	byLegacy                // a legacy manager, whose numbers are no claim against ours
	byOther
)

var revisionPath = fieldpath.MakePathOrDie("metadata", "annotations", RevisionAnnotation)

func (o ownership) numbered() counter {
	switch {
	case ownsNumber(o.applied) || ownsNumber(o.created):
		return byUs
	case ownsNumber(o.legacy):
		return byLegacy
	case o.applied == nil && o.created == nil && !slices.ContainsFunc(o.owners(missing{path: revisionPath}), somebody):
		return byUs
	}
	return byOther
}

// ownsNumber is about the number itself: who once made the map of annotations still has an entry for it when others have
// taken all that was in it.
func ownsNumber(fields *fieldpath.Set) bool { return fields != nil && fields.Has(revisionPath) }

// Numbered says that we, or a legacy manager, wrote the revision number that an object carries, as managedFields tell: a
// copy of the object does not say so. It is as good as the writers of the object are: a field manager's name is its
// client's choice.
func (us Identity) Numbered(obj metav1.Object) bool {
	own := ownershipOf(obj, us)
	return ownsNumber(own.applied) || ownsNumber(own.created) || ownsNumber(own.legacy)
}

// somebody is false for the manager under which the API server records, at an apply to an object without managedFields,
// all that was there before: that is nobody.
// Source: k8s.io/apimachinery/pkg/util/managedfields/internal, NewSkipNonAppliedManager.
func somebody(manager string) bool { return manager != "before-first-apply" }

// firstLegacy is a field that legacy managers own and we do not; one that we own as well when there is none.
func (o ownership) firstLegacy() string {
	theirs, first := o.legacy, ""
	if o.applied != nil && !theirs.Difference(o.applied).Empty() {
		theirs = theirs.Difference(o.applied)
	}
	theirs.Iterate(func(path fieldpath.Path) {
		if first == "" {
			first = path.String()
		}
	})
	return first
}

// staying says which of the fields that are not desired any more stay after a write, and because of whom.
func (o ownership) staying(extra []fieldpath.Path) string {
	var texts []string
	for _, path := range extra {
		if names := o.owners(missing{path: path}); len(names) > 0 {
			texts = append(texts, path.String()+" stays, because "+strings.Join(names, " and ")+" set it too")
		}
	}
	return strings.Join(texts, "; ")
}

// owners names the other managers that own a field, in the order of managedFields, each once.
func (o ownership) owners(m missing) []string {
	var names []string
	for _, other := range o.others {
		if fields := fieldsOf(other.entry); fields != nil && m.ownedIn(fields) && !slices.Contains(names, other.manager) {
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

// ownerReferences are never ours, not even where we changed them.
var ownerReferences = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "ownerReferences"))

// MigrateFields is the JSON patch that turns our Update entries and those of legacy managers into our Apply entry, so that the
// next server-side apply does not conflict with our own create, and removes what legacy managers left and nobody wants.
// Given the payload that was created, the entry is narrowed to its fields: a create also records every default of the
// server on us, which an apply never does. A nil payload keeps all fields, and so do legacy ones, so that the apply
// that follows removes what is no longer desired. Nil when there is nothing to migrate.
func MigrateFields(actual, payload *unstructured.Unstructured, us Identity) ([]byte, error) {
	own := ownershipOf(actual, us)
	fields := union(own.created, own.legacy)
	if fields == nil {
		return nil, nil
	}
	fields = union(fields, own.applied)
	if payload != nil && own.legacy == nil {
		d := differ{}
		d.walk(nil, fields, payload.Object, actual.Object)
		fields = fields.RecursiveDifference(fieldpath.NewSet(d.extra...)).Difference(fieldpath.NewSet(d.dots...)).
			Union(fieldpath.NewSet(d.blank...))
	}
	if own.numbered() == byLegacy {
		// Their number must not look like ours, and neither may the whole of the annotations around it.
		fields = fields.Difference(fieldpath.NewSet(revisionPath, revisionPath[:2]))
	}
	raw, err := fields.RecursiveDifference(ownerReferences).ToJSON()
	if err != nil {
		return nil, fmt.Errorf("writing the field set of %s: %w", KeyOf(actual), err)
	}
	entries := []metav1.ManagedFieldsEntry{{
		Manager: us.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(raw)),
	}}
	for _, entry := range actual.GetManagedFields() {
		switch ours := entry.Manager == us.FieldManager || slices.Contains(us.Legacy, entry.Manager); {
		case !ours || entry.Subresource != "":
			entries = append(entries, entry)
		case entries[0].APIVersion == "" || entry.Manager == us.FieldManager:
			entries[0].APIVersion, entries[0].Time = entry.APIVersion, entry.Time
		}
	}
	return json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		bindVersion(actual),
	})
}

// ReleaseController is the JSON patch that makes the controllers of an object plain owners.
func ReleaseController(actual *unstructured.Unstructured) ([]byte, error) {
	return json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/ownerReferences", "value": released(actual)},
		bindVersion(actual),
	})
}

// bindVersion binds a JSON patch to the copy that it was made from. It is replaced, not tested: the server answers a
// stale version with a conflict, not with an invalid patch.
func bindVersion(actual *unstructured.Unstructured) map[string]any {
	return map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": actual.GetResourceVersion()}
}
