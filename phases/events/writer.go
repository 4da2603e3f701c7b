package events

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	eventsv1client "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/names"
)

const (
	// queued is how many Events may wait to be written; more are dropped and logged.
	queued = 64
	// sameFor is how long a repeated Event counts as another occurrence of the first one.
	sameFor = time.Hour
	// countEvery is how often the count of a repeated Event is written.
	countEvery = 10 * time.Minute
	// rememberedEvents is how many Events are remembered, so that they can be counted.
	rememberedEvents = 128
	// writeTimeout bounds the write of one Event.
	writeTimeout = 15 * time.Second
)

// Event is one thing that an Event tells.
type Event struct {
	// By names the controller that reports it, About the object that it is about.
	By    string
	About corev1.ObjectReference
	// Key is the same for what is the same Event, whatever the times and counts in the text.
	Key            string
	Reason, Action string
	Text           string
	Warns          bool
}

// identity is the same for what is the same Event of the same object.
func (n Event) identity() string {
	return n.By + " " + n.About.Kind + " " + n.About.Namespace + "/" + n.About.Name + " " + n.Key
}

// namespace is where the Event is written: that of the object, and for objects without one the default.
func (n Event) namespace() string { return cmp.Or(n.About.Namespace, metav1.NamespaceDefault) }

// Writer writes Events beside the passes: a pass never waits for one, and one
// that cannot be written is logged and let go. If the process ends, what waits
// is lost, and what is remembered is told once more.
type Writer struct {
	events eventsv1client.EventsGetter
	clock  clock.PassiveClock
	log    logr.Logger
	host   string
	queue  chan Event
	// told is what was announced, by identity; only Run uses it.
	told map[string]*announced
}

// announced is an Event that was written: how often it came since, and
// when that was last written.
type announced struct {
	namespace, name string
	first, written  time.Time
	count           int32
}

// New makes a writer; it sends nothing before Run.
func New(config *rest.Config, connection *http.Client, clock clock.PassiveClock, log logr.Logger) (*Writer, error) {
	client, err := eventsv1client.NewForConfigAndClient(config, connection)
	if err != nil {
		return nil, fmt.Errorf("making the client of Events: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Writer{
		events: client, clock: clock, log: log, host: host, queue: make(chan Event, queued), told: map[string]*announced{},
	}, nil
}

// Tell takes an Event in and never blocks.
func (w *Writer) Tell(n Event) {
	select {
	case w.queue <- n:
	default:
		w.log.Info("an Event is dropped, because too many wait", "reason", n.Reason, "text", n.Text)
	}
}

// Run writes Events until the context ends.
func (w *Writer) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-w.queue:
			if err := w.write(ctx, n); err != nil && ctx.Err() == nil {
				w.log.Info("an Event could not be written", "reason", n.Reason, "text", n.Text, "error", err.Error())
			}
		}
	}
}

// write makes an Event in the cluster, or counts it on the Event that told it before.
func (w *Writer) write(ctx context.Context, n Event) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	now := w.clock.Now()
	before := w.told[n.identity()]
	if before != nil && now.Sub(before.first) < sameFor {
		before.count++
		if now.Sub(before.written) < countEvery {
			return nil
		}
		err := w.count(ctx, before, now)
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	event := w.event(n, now)
	if _, err := w.events.Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
		return err
	}
	w.remember(n.identity(), &announced{namespace: event.Namespace, name: event.Name, first: now, written: now, count: 1})
	return nil
}

func (w *Writer) count(ctx context.Context, before *announced, now time.Time) error {
	patch, err := json.Marshal(map[string]any{"series": eventsv1.EventSeries{Count: before.count, LastObservedTime: metav1.NewMicroTime(now)}})
	if err != nil {
		return err
	}
	before.written = now
	_, err = w.events.Events(before.namespace).Patch(ctx, before.name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (w *Writer) event(n Event, now time.Time) *eventsv1.Event {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(n.identity())) // it never fails
	suffix := fmt.Sprintf(".%08x.%016x", hash.Sum32(), now.UnixNano())
	about := names.Subdomain(n.About.Name, validation.DNS1123SubdomainMaxLength-len(suffix))
	kind := corev1.EventTypeNormal
	if n.Warns {
		kind = corev1.EventTypeWarning
	}
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      cmp.Or(about, n.By) + suffix,
			Namespace: n.namespace(),
		},
		EventTime: metav1.NewMicroTime(now), ReportingController: n.By, ReportingInstance: w.host,
		Type: kind, Reason: n.Reason, Action: n.Action, Regarding: n.About, Note: n.Text,
	}
}

// remember forgets the oldest when there are too many.
func (w *Writer) remember(key string, written *announced) {
	w.told[key] = written
	if len(w.told) <= rememberedEvents {
		return
	}
	oldest := key
	for other, told := range w.told {
		if told.first.Before(w.told[oldest].first) {
			oldest = other
		}
	}
	delete(w.told, oldest)
}
