package dashboard

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// times are how long things take.
type times struct {
	// request bounds one, round how long a watch is believed before the object is got anew.
	request, round time.Duration
	// poll and slowest are how long it takes to the next look where nothing is watched, or nothing is answered: it doubles from the
	// one to the other.
	poll, slowest time.Duration
	// unwatched is how long it is believed that something may not be watched.
	unwatched time.Duration
	// family is how long it takes at least to the next list of a family that may not be watched; records to the next look at those
	// that are stored in ConfigMaps.
	family, records time.Duration
	// coalesce is the shortest time between two views, alive the longest silence of a stream; linger is how long a cluster is asked
	// after the last who looks has gone.
	coalesce, alive, linger time.Duration
}

var usual = times{
	request: 10 * time.Second, round: time.Minute, poll: 2 * time.Second, slowest: 30 * time.Second, unwatched: 5 * time.Minute,
	family: 30 * time.Second, records: 10 * time.Second, coalesce: 250 * time.Millisecond, alive: 15 * time.Second, linger: 30 * time.Second,
}

// slower is the wait after one in which nothing came.
func (t times) slower(wait time.Duration) time.Duration { return min(max(2*wait, t.poll), t.slowest) }

// feed keeps one object up to date: it is got, and then watched for a while, or got again where it may not be watched.
type feed struct {
	c          *cluster
	kind       schema.GroupVersionResource
	word, name string
	lane       lane
	into       *single
	// refused is when it was refused to be watched.
	refused time.Time
}

// run goes on until the context ends.
func (f *feed) run(ctx context.Context) {
	var wait time.Duration
	for ctx.Err() == nil {
		conn, object, err := f.get(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			wait = f.c.times.slower(wait)
			f.c.failed(f.into, conn, err, wait)
			pause(ctx, wait)
			continue
		}
		changed := f.c.saw(f.into, object)
		if time.Since(f.refused) > f.c.times.unwatched && f.watch(ctx, conn, object) {
			wait = 0
			continue
		}
		if wait = f.c.times.slower(wait); changed {
			wait = f.c.times.poll
		}
		pause(ctx, wait)
	}
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// get reads the object; nil if there is none.
func (f *feed) get(ctx context.Context) (*connection, *unstructured.Unstructured, error) {
	conn, err := f.c.connection()
	if err != nil {
		return nil, nil, err
	}
	object, err := within(ctx, f.lane, f.c.times.request, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return conn.objects.Resource(f.kind).Get(ctx, f.name, metav1.GetOptions{})
	})
	switch {
	case err == nil:
		return conn, object, nil
	case apierrors.IsNotFound(err) && !inspect.NotServed(err):
		return conn, nil, nil
	}
	return conn, nil, explain(err, conn.config, f.c.times.request, "get", f.word+" "+f.name)
}

// watch tells of changes for a round. It says whether there was a watch, after which the object is got at once.
func (f *feed) watch(ctx context.Context, conn *connection, from *unstructured.Unstructured) bool {
	options := metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", f.name).String(), TimeoutSeconds: seconds(f.c.times.round),
	}
	if from != nil {
		options.ResourceVersion = from.GetResourceVersion()
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, f.c.times.round+grace)
	defer cancel()
	events, err := watchFor(ctx, cancel, f.lane, f.c.times, func(ctx context.Context) (watch.Interface, error) {
		return conn.objects.Resource(f.kind).Watch(ctx, options)
	})
	if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
		f.refused = time.Now()
	}
	if err != nil {
		f.c.watches(f.into, false)
		return false
	}
	defer events.Stop()
	f.c.watches(f.into, true)
	for event := range events.ResultChan() {
		object, is := event.Object.(*unstructured.Unstructured)
		switch {
		case !is || event.Type == watch.Error:
			return time.Since(begun) > f.c.times.poll // one that ends at once is none
		case event.Type == watch.Added, event.Type == watch.Modified:
			f.c.saw(f.into, object)
		case event.Type == watch.Deleted:
			f.c.saw(f.into, nil)
		}
	}
	return time.Since(begun) > f.c.times.poll
}

// seconds is after how long the API server is to end a watch.
func seconds(d time.Duration) *int64 {
	n := max(int64(d.Seconds()), 1)
	return &n
}

// watchFor opens a watch, which has to be answered as soon as every other request, and ends with the context.
func watchFor(ctx context.Context, cancel context.CancelFunc, l lane, t times, open func(context.Context) (watch.Interface, error)) (watch.Interface, error) {
	answered := time.AfterFunc(t.request, cancel)
	events, err := ask(ctx, l, open)
	if !answered.Stop() && err == nil {
		events.Stop()
		return nil, context.DeadlineExceeded
	}
	return events, err
}
