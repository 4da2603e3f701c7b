package records

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Mark is an annotation that is written before what it allows is done, so that
// it survives the loss of a status: whoever finds it knows that it was decided,
// and whoever does not find it, that nothing was done yet.
//
// If a mark is lost, what it allowed is decided again. One that is stale is told
// by its value, which says what it is for, such as a UID. One may be forged by
// whoever may write the object: a mark alone must allow nothing that the table
// would not lead to by itself.
type Mark string

// Set writes the mark, unless it is there with that value, and returns when the
// API server has it: only then may be done what it allows. It is refused if the
// object has changed since it was read; the object becomes what is stored.
func (m Mark) Set(ctx context.Context, c client.Client, object client.Object, value string) error {
	if m.On(object) == value {
		return nil
	}
	return m.write(ctx, c, object, func(annotations map[string]string) { annotations[string(m)] = value })
}

// Clear takes the mark off, if it is there.
func (m Mark) Clear(ctx context.Context, c client.Client, object client.Object) error {
	if _, there := object.GetAnnotations()[string(m)]; !there {
		return nil
	}
	return m.write(ctx, c, object, func(annotations map[string]string) { delete(annotations, string(m)) })
}

// On is the value of the mark on an object, empty for none.
func (m Mark) On(object client.Object) string { return object.GetAnnotations()[string(m)] }

func (m Mark) write(ctx context.Context, c client.Client, object client.Object, change func(map[string]string)) error {
	before, is := object.DeepCopyObject().(client.Object)
	if !is {
		return fmt.Errorf("marking %T with %s: it is no object", object, m)
	}
	annotations := map[string]string{}
	for key, value := range object.GetAnnotations() {
		annotations[key] = value
	}
	change(annotations)
	object.SetAnnotations(annotations)
	if err := c.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		object.SetAnnotations(before.GetAnnotations())
		return fmt.Errorf("marking %s with %s: %w", client.ObjectKeyFromObject(object), m, err)
	}
	return nil
}
