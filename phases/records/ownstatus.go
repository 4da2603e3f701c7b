package records

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// OwnStatus keeps the record of an instance in the status of its own object,
// saved together with its conditions in one write. It is for kinds of our own.
//
// If the status is lost, the machine starts afresh on that object. A status that
// is old, as of a backup, or forged is taken for the record: the rows of the table
// hold for any world. What must survive all of that is a [Mark].
type OwnStatus[F, E any, O client.Object] struct {
	objects *objects[O]
	// in returns where record and conditions lie in an object's status.
	in   func(O) (*runtime.RawExtension, *[]metav1.Condition)
	tell func(machine.Snapshot[F, E]) []metav1.Condition
	now  func() time.Time
	// more writes what else the status says, and tells how that differs; nil for nothing.
	more func(O, machine.Snapshot[F, E]) Difference
	// calm is nil for a store that writes whatever differs at once.
	calm *calm
	// read are the records as they were read last.
	read Recollection
}

// NewOwnStatus makes a store of objects like blank's. tell derives the conditions
// of an instance, without times.
func NewOwnStatus[F, E any, O client.Object](
	c client.Client, blank func() O, in func(O) (*runtime.RawExtension, *[]metav1.Condition),
	tell func(machine.Snapshot[F, E]) []metav1.Condition, now func() time.Time,
) *OwnStatus[F, E, O] {
	put := func(from, to O) {
		fromRecord, fromConditions := in(from)
		record, conditions := in(to)
		*record, *conditions = *fromRecord.DeepCopy(), slices.Clone(*fromConditions)
	}
	return &OwnStatus[F, E, O]{objects: newObjects(c, blank, put), in: in, tell: tell, now: now}
}

// Difference is how a status differs from the one that is stored.
type Difference int

// The differences, each more than those before. What is Urgent somebody waits for: even a store that is calm writes it at once.
const (
	Same Difference = iota
	Different
	Urgent
)

// With has more of the status written in the same request, before the conditions: tell changes it and says how, and put copies it from one
// object to another. It returns the store.
func (s *OwnStatus[F, E, O]) With(put func(from, to O), tell func(O, machine.Snapshot[F, E]) Difference) *OwnStatus[F, E, O] {
	record := s.objects.put
	s.objects.put = func(from, to O) {
		record(from, to)
		put(from, to)
	}
	s.more = tell
	return s
}

// Calmly has a status written at once for a move, for an error that comes, goes or becomes terminal, for what is Urgent, and where
// something does not last any more that lasts by the stored record; but for words, counts and conditions of the same state only every
// two seconds, or as many as twenty where a write takes long: what lasts a moment is not told. The first status of an object, or one
// that was lost, waits as long unless the machine has moved or failed; until then each pass begins anew, so that the start of a table
// must have no work, and no move that goes by time. States that a machine only passes through are not stored. The next pass gets the
// record of what was not stored all the same. It returns the store.
func (s *OwnStatus[F, E, O]) Calmly() *OwnStatus[F, E, O] {
	s.calm = newCalm()
	return s
}

// Load reads the record. One that is missing or cannot be read is not found.
func (s *OwnStatus[F, E, O]) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	object, found, err := s.objects.load(ctx, key)
	if err != nil || !found {
		return machine.Record{}, false, err
	}
	raw, _ := s.in(object)
	record, found := s.read.Decoded(key, raw.Raw)
	if s.calm != nil {
		if passed, is := s.calm.take(key, record); is {
			return passed, true, nil
		}
	}
	return record, found, nil
}

// Save writes record and conditions if they differ from what the pass has loaded, or returns after how long it may.
func (s *OwnStatus[F, E, O]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (later time.Duration, err error) {
	writes, began := false, s.now()
	err = s.objects.save(ctx, key, func(object O) (bool, error) {
		raw, _ := s.in(object)
		stored, _ := s.read.Decoded(key, raw.Raw)
		if s.calm != nil && shot.Passing {
			s.calm.pass(key, stored, shot.Record)
			return false, nil
		}
		differs, err := s.change(key, object, shot)
		if s.calm != nil && differs == Different && err == nil {
			later = s.calm.wait(key, stored, shot.Record, s.now())
		}
		if later > 0 && stored.State != "" { // what has progressed, and since when something lasts, is not forgotten meanwhile
			s.calm.pass(key, stored, shot.Record)
		}
		writes = differs != Same && later == 0
		return writes, err
	})
	if s.calm != nil && writes && err == nil {
		s.calm.note(key, began, s.now())
	}
	return later, err
}

// change has an object say what a pass has come to, and says how that differs from what it has said.
func (s *OwnStatus[F, E, O]) change(key machine.Key, object O, shot machine.Snapshot[F, E]) (differs Difference, err error) {
	raw, conditions := s.in(object)
	another, err := s.read.replaced(key, &raw.Raw, shot.Record)
	if s.more != nil {
		differs = s.more(object, shot)
	}
	for _, c := range s.tell(shot) {
		c.ObservedGeneration, c.LastTransitionTime = object.GetGeneration(), metav1.NewTime(s.now())
		another = meta.SetStatusCondition(conditions, c) || another
	}
	if another {
		differs = max(differs, Different)
	}
	return differs, err
}

// Wrote says that the last write of an instance by this process has led to a version of its object. Lost, an own write is taken for
// somebody else's.
func (s *OwnStatus[F, E, O]) Wrote(key machine.Key, resourceVersion string) bool {
	s.objects.mu.Lock()
	defer s.objects.mu.Unlock()
	return resourceVersion != "" && s.objects.last[key] == resourceVersion
}

// Took says that the machine itself has written to the object of a pass under way beside its status, such as a mark, in a request that
// was bound to a version: if that is the one that the pass has loaded, nobody else has written meanwhile, and what is stored now is
// what the pass saves to.
func (s *OwnStatus[F, E, O]) Took(key machine.Key, before string, after O) {
	s.objects.mu.Lock()
	defer s.objects.mu.Unlock()
	if loaded, under := s.objects.loaded[key]; under && loaded.GetUID() == after.GetUID() && loaded.GetResourceVersion() == before {
		loaded.SetResourceVersion(after.GetResourceVersion())
		loaded.SetAnnotations(after.GetAnnotations())
		loaded.SetFinalizers(after.GetFinalizers())
	}
}

// Forget lets go of what is remembered of an instance whose object is gone; its record went with it.
func (s *OwnStatus[F, E, O]) Forget(_ context.Context, key machine.Key) (time.Duration, error) {
	s.objects.forget(key)
	s.read.Forget(key)
	if s.calm != nil {
		s.calm.forget(key)
	}
	return 0, nil
}

// Decoded reads a record as a status keeps it; nobody knows what one says that cannot be read.
func Decoded(raw []byte) (record machine.Record, found bool) {
	if len(raw) == 0 || json.Unmarshal(raw, &record) != nil {
		return machine.Record{}, false
	}
	return record, record.State != ""
}

func encodedRecord(record machine.Record) ([]byte, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encoding the record: %w", err)
	}
	return text, nil
}

// saysOther says that a text of a record says something else than an encoded one. The API server orders keys its own way.
func saysOther(text, encoded []byte) bool {
	var before, after any
	return json.Unmarshal(text, &before) != nil || json.Unmarshal(encoded, &after) != nil || !reflect.DeepEqual(before, after)
}
