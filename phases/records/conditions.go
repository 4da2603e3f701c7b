package records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// maxCondition is how long the message of a condition may be, in bytes.
const maxCondition = 32 << 10

// Conditions keeps the record of an instance in two conditions of its object:
// <prefix>State, whose reason is the state and whose message is for people, and
// <prefix>Record. It is for kinds of others that have conditions. Only these two
// are changed, and all else in the status stays as it is.
//
// If the conditions are lost, as when the owner of the kind writes its list
// without them, the machine starts afresh on that object; they are written again.
// Old or forged ones are taken for the record: the rows of the table hold for any world.
type Conditions[F, E any, O client.Object] struct {
	objects *objects[O]
	prefix  string
	in      func(O) *[]metav1.Condition
	line    func(machine.Snapshot[F, E]) string
	now     func() time.Time
}

// NewConditions makes a store of objects like blank's, whose conditions are in a place.
func NewConditions[F, E any, O client.Object](
	c client.Client, blank func() O, prefix string, in func(O) *[]metav1.Condition,
	line func(machine.Snapshot[F, E]) string, now func() time.Time,
) *Conditions[F, E, O] {
	put := func(from, to O) { *in(to) = slices.Clone(*in(from)) }
	return &Conditions[F, E, O]{objects: newObjects(c, blank, put), prefix: prefix, in: in, line: line, now: now}
}

// Load reads the record. One that is missing or cannot be read is not found.
func (s *Conditions[F, E, O]) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	object, found, err := s.objects.load(ctx, key)
	if err != nil || !found {
		return machine.Record{}, false, err
	}
	stored := meta.FindStatusCondition(*s.in(object), s.prefix+"Record")
	if stored == nil {
		return machine.Record{}, false, nil
	}
	record, found := Decoded([]byte(stored.Message))
	return record, found, nil
}

// Save writes the two conditions if they differ from what the pass has loaded.
func (s *Conditions[F, E, O]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	text, err := fitting(shot.Record, maxCondition, compact)
	if err != nil {
		return 0, fmt.Errorf("putting the record of %s into a condition: %w", key, err)
	}
	return 0, s.objects.save(ctx, key, func(object O) (bool, error) {
		different := false
		for _, c := range []metav1.Condition{
			{Type: s.prefix + "State", Reason: string(shot.Record.State), Message: machine.Shorten(s.line(shot), maxCondition)},
			{Type: s.prefix + "Record", Reason: "Stored", Message: string(text)},
		} {
			c.Status, c.ObservedGeneration, c.LastTransitionTime = metav1.ConditionTrue, object.GetGeneration(), metav1.NewTime(s.now())
			different = meta.SetStatusCondition(s.in(object), c) || different
		}
		return different, nil
	})
}

// Forget lets go of what is remembered of an instance whose object is gone; its record went with it.
func (s *Conditions[F, E, O]) Forget(_ context.Context, key machine.Key) (time.Duration, error) {
	s.objects.forget(key)
	return 0, nil
}

// fitting is a record as text of at most so many bytes; the oldest transitions go first, and then the ends of words, which
// may be anybody's and take up to six times their length.
func fitting(record machine.Record, most int, encode func(any) ([]byte, error)) ([]byte, error) {
	for room := machine.MaxMessage; ; {
		text, err := encode(record)
		switch {
		case err != nil:
			return nil, fmt.Errorf("encoding the record: %w", err)
		case len(text) <= most:
			return text, nil
		case len(record.Transitions) > 0:
			record.Transitions = record.Transitions[1:]
		case room == 0:
			return nil, fmt.Errorf("it takes %d bytes without its transitions and words, and %d is the most", len(text), most)
		default:
			room /= 2
			record = shortened(record, room)
		}
	}
}

// shortened is a record with words of at most so many bytes. What is compared later stays whole.
func shortened(record machine.Record, most int) machine.Record {
	for _, text := range []*string{&record.Cause, &record.Reason} {
		*text = machine.Shorten(*text, most)
	}
	if record.Failure != nil {
		failure := *record.Failure
		failure.Message = machine.Shorten(failure.Message, most)
		record.Failure = &failure
	}
	return record
}

// compact is JSON in which nothing is escaped for browsers.
func compact(record any) ([]byte, error) {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	err := to.Encode(record)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
