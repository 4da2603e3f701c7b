package newest

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client gets no object from its cache that is older than what was written last of it through this client. In that case it gets what the
// API server has answered to the write, if that was bound to a version, so that nobody else had written meanwhile; otherwise it asks the
// API server. Lists are as old as the cache.
//
// What it remembers, by kind and name, is the last write, until the cache shows it. If that is lost, an object may be as old as the cache
// is.
type Client struct {
	client.Client
	// Live reads from the API server itself.
	Live client.Reader
	// Of says which objects are remembered.
	Of func(client.Object) bool
	// Sees says whether the cache would have an object, by its labels. One that it would not is not there. Nil for all.
	Sees func(client.Object) bool
	// Took is told of each write to such an object that was bound to a version, before: object is what is stored. Nil for nobody.
	Took func(object client.Object, before string)

	mu      sync.Mutex
	written map[objectKey]writtenCopy
}

type objectKey struct {
	kind reflect.Type
	types.NamespacedName
}

type writtenCopy struct {
	metav1.ObjectMeta
	at time.Time
	// whole is what is stored since, nil where that is not known as a whole.
	whole client.Object
}

func keyOf(object client.Object) objectKey {
	return objectKey{kind: reflect.TypeOf(object), NamespacedName: client.ObjectKeyFromObject(object)}
}

// Get reads from the cache, or from the API server where the cache is behind.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := c.Client.Get(ctx, key, object, options...)
	if !c.Of(object) || err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	at := objectKey{kind: reflect.TypeOf(object), NamespacedName: key}
	behind, written := c.isBehind(at, object, err == nil)
	if !behind {
		return err
	}
	if written != nil {
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(written).Elem())
		return nil
	}
	newest, is := reflect.New(at.kind.Elem()).Interface().(client.Object)
	if !is {
		return err
	}
	if err := c.Live.Get(ctx, key, newest, options...); err != nil {
		if apierrors.IsNotFound(err) {
			c.forget(at)
		}
		return err
	}
	if c.Sees != nil && !c.Sees(newest) { // somebody has given it to another process
		c.forget(at)
		return apierrors.NewNotFound(schema.GroupResource{Resource: at.kind.Elem().Name()}, key.Name)
	}
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(newest).Elem())
	return nil
}

// isBehind says whether the last write is newer than a cached copy, or than there being none; else it need not be remembered. Written is
// what it has led to, if that is known. Of an object that the cache does not have, only the API server knows whether it is there.
func (c *Client) isBehind(at objectKey, cached client.Object, found bool) (behind bool, written client.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, is := c.written[at]
	switch age := time.Since(last.at); {
	case !is:
		return false, nil
	case !found && Trusted(age):
		return true, nil
	case found && WrittenFirst(&last.ObjectMeta, cached, age):
		if last.whole != nil {
			written, _ = last.whole.DeepCopyObject().(client.Object)
		}
		return true, written
	}
	delete(c.written, at)
	return false, nil
}

func (c *Client) forget(at objectKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.written, at)
}

// Create writes, and remembers.
func (c *Client) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return c.noting(object, false, func() error { return c.Client.Create(ctx, object, options...) })
}

// Update writes, and remembers.
func (c *Client) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	return c.noting(object, true, func() error { return c.Client.Update(ctx, object, options...) })
}

// Patch writes, and remembers.
func (c *Client) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return c.noting(object, isBound(object, patch), func() error { return c.Client.Patch(ctx, object, patch, options...) })
}

// Status writes statuses, and remembers.
func (c *Client) Status() client.SubResourceWriter {
	return statusWriter{SubResourceWriter: c.Client.Status(), of: c}
}

type statusWriter struct {
	client.SubResourceWriter
	of *Client
}

func (s statusWriter) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	return s.of.noting(object, true, func() error { return s.SubResourceWriter.Update(ctx, object, options...) })
}

func (s statusWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return s.of.noting(object, isBound(object, patch), func() error { return s.SubResourceWriter.Patch(ctx, object, patch, options...) })
}

// isBound says whether a patch names the version that it changes.
func isBound(object client.Object, patch client.Patch) bool {
	data, err := patch.Data(object)
	return err == nil && gjson.GetBytes(data, "metadata.resourceVersion").String() != ""
}

// noting remembers what a write has led to. One that is bound to a version has changed what the caller has seen, and nothing else is
// stored than what he has now.
func (c *Client) noting(object client.Object, bound bool, write func() error) error {
	if !c.Of(object) {
		return write()
	}
	before := object.GetResourceVersion()
	if err := write(); err != nil {
		return err
	}
	var whole client.Object
	if bound && before != "" {
		whole, _ = object.DeepCopyObject().(client.Object)
	}
	c.mu.Lock()
	if c.written == nil {
		c.written = map[objectKey]writtenCopy{}
	}
	c.written[keyOf(object)] = writtenCopy{
		ObjectMeta: metav1.ObjectMeta{UID: object.GetUID(), ResourceVersion: object.GetResourceVersion()}, at: time.Now(), whole: whole,
	}
	c.mu.Unlock()
	if c.Took != nil && before != "" {
		c.Took(object, before)
	}
	return nil
}
