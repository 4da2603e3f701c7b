package records

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// maxApplied is how long the record of an applied status may be, in bytes.
	maxApplied = 8 << 10
	// wordsEvery bounds how often a status is applied for nothing but the words of an error that lasts: each try may meet other
	// ones, and each write asks for another try.
	wordsEvery = 10 * time.Second
)

// Applied keeps the record of an instance in two conditions of its object, State and Record, and writes them with all else
// that the machine says in the object's status in one server-side apply, which is bound to the object's UID: it never
// reaches an object that was made anew under the name. Every apply says all, so that nothing falls away that is not to.
// What others have written to the status stays.
//
// If the status is lost, the machine starts afresh on that object. One that is old or forged is taken for the record: the
// rows of the table hold for any world.
type Applied[F, E any, O client.Object] struct {
	objects *objects[O]
	in      func(O) *[]metav1.Condition
	tell    func(O, machine.Snapshot[F, E]) (told []metav1.Condition, generation int64)
	line    func(machine.Snapshot[F, E]) string
	now     func() time.Time

	mu sync.Mutex
	// wrote is when the status of an instance was applied last. Lost, words are written once more at once.
	wrote map[machine.Key]time.Time
}

// NewApplied makes a store of objects like blank's, whose conditions are in a place. put copies the status from one object
// to another; manager owns what is applied. tell derives the conditions of an instance, without times, and puts all else
// that the machine says into the object's status; the generation is the one that the record and each condition without one
// speak of, zero for that of the object.
func NewApplied[F, E any, O client.Object](
	c client.Client, blank func() O, in func(O) *[]metav1.Condition, put func(from, to O), manager string,
	tell func(O, machine.Snapshot[F, E]) (told []metav1.Condition, generation int64), line func(machine.Snapshot[F, E]) string, now func() time.Time,
) *Applied[F, E, O] {
	s := &Applied[F, E, O]{objects: newObjects(c, blank, put), in: in, tell: tell, line: line, now: now, wrote: map[machine.Key]time.Time{}}
	s.objects.send = func(ctx context.Context, before, after O) (O, error) {
		err := applyStatus(ctx, c, after, manager)
		theirs := slices.DeleteFunc(slices.Clone(*in(before)), func(one metav1.Condition) bool { return meta.FindStatusCondition(*in(after), one.Type) != nil })
		*in(after) = append(*in(after), theirs...) // as they are stored, too
		return after, err
	}
	return s
}

// Load reads the record. One that is missing or cannot be read is not found.
func (s *Applied[F, E, O]) Load(ctx context.Context, key machine.Key) (machine.Record, bool, error) {
	object, found, err := s.objects.load(ctx, key)
	if err != nil || !found {
		return machine.Record{}, false, err
	}
	stored := meta.FindStatusCondition(*s.in(object), "Record")
	if stored == nil {
		return machine.Record{}, false, nil
	}
	record, found := Decoded([]byte(stored.Message))
	return record, found, nil
}

// Save applies the status if it differs from what the pass has loaded. It returns after how long to save again what was held
// back.
func (s *Applied[F, E, O]) Save(ctx context.Context, key machine.Key, shot machine.Snapshot[F, E]) (time.Duration, error) {
	text, err := fitting(shot.Record, maxApplied, compact)
	if err != nil {
		return 0, fmt.Errorf("putting the record of %s into a condition: %w", key, err)
	}
	var later time.Duration
	err = s.objects.save(ctx, key, func(object O) (bool, error) {
		before, _ := object.DeepCopyObject().(O)
		told, generation := s.tell(object, shot)
		wanted := append(slices.Clone(told),
			metav1.Condition{Type: "State", Status: metav1.ConditionTrue, Reason: string(shot.Record.State), Message: machine.Shorten(s.line(shot), maxCondition)},
			metav1.Condition{Type: "Record", Status: metav1.ConditionTrue, Reason: "Stored", Message: string(text)},
		)
		stored := s.in(object)
		for i := range wanted {
			c := &wanted[i]
			c.ObservedGeneration, c.LastTransitionTime = cmp.Or(c.ObservedGeneration, generation, object.GetGeneration()), metav1.NewTime(s.now().Truncate(time.Second))
			c.Message = machine.ShortenLines(c.Message, maxCondition)
			meta.SetStatusCondition(stored, *c)
			*c = *meta.FindStatusCondition(*stored, c.Type)
		}
		if equality.Semantic.DeepEqual(before, object) {
			return false, nil
		}
		if later = s.hold(key, shot.Record.Failure != nil && equality.Semantic.DeepEqual(s.wordless(before), s.wordless(object))); later > 0 {
			return false, nil
		}
		*stored = wanted // those of others are not ours to apply
		return true, nil
	})
	return later, err
}

// hold is after how long a status may be applied, of which nothing but words differ or more; zero for now, which is noted.
func (s *Applied[F, E, O]) hold(key machine.Key, words bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if age := now.Sub(s.wrote[key]); words && age >= 0 && age < wordsEvery {
		return wordsEvery - age
	}
	s.wrote[key] = now
	return 0
}

// wordless is a copy of an object without the words that its conditions and its record have.
func (s *Applied[F, E, O]) wordless(object O) O {
	bare, _ := object.DeepCopyObject().(O)
	conditions := *s.in(bare)
	for i := range conditions {
		c := &conditions[i]
		record, found := Decoded([]byte(c.Message))
		if c.Message = ""; c.Type != "Record" || !found {
			continue
		}
		if text, err := compact(shortened(record, 0)); err == nil {
			c.Message = string(text)
		}
	}
	return bare
}

// Forget lets go of what is remembered of an instance whose object is gone; its record went with it.
func (s *Applied[F, E, O]) Forget(_ context.Context, key machine.Key) (time.Duration, error) {
	s.objects.forget(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wrote, key)
	return 0, nil
}

// applyStatus sends the status of an object in one server-side apply, and gives the object the version that is stored. The
// answer is metadata alone: an object may have a MiB of data beside its status.
func applyStatus[O client.Object](ctx context.Context, c client.Client, object O, manager string) error {
	kind, err := apiutil.GVKForObject(object, c.Scheme())
	if err != nil {
		return err
	}
	text, err := json.Marshal(object) // the converter of apimachinery does not leave out what is zero
	if err != nil {
		return fmt.Errorf("encoding an object: %w", err)
	}
	var whole map[string]any
	if err := utiljson.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("decoding an object: %w", err)
	}
	apply := &unstructured.Unstructured{Object: map[string]any{"status": whole["status"]}}
	apply.SetGroupVersionKind(kind)
	apply.SetName(object.GetName())
	apply.SetNamespace(object.GetNamespace())
	apply.SetUID(object.GetUID())
	if text, err = apply.MarshalJSON(); err != nil {
		return fmt.Errorf("encoding a status: %w", err)
	}
	stored := &metav1.PartialObjectMetadata{}
	stored.SetGroupVersionKind(kind)
	stored.SetName(object.GetName())
	stored.SetNamespace(object.GetNamespace())
	err = c.Status().Patch(ctx, stored, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner(manager), client.ForceOwnership)
	if apierrors.IsConflict(err) { // the object is another one than the pass has seen
		return apierrors.NewNotFound(kind.GroupVersion().WithResource(kind.Kind).GroupResource(), object.GetName())
	}
	object.SetResourceVersion(stored.GetResourceVersion())
	return err
}
