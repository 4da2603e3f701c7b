package clusterapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	eventsv1client "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/utils/clock"
)

const (
	// waitingNews is how many Events may wait to be written; more are dropped and logged.
	waitingNews = 64
	// sameFor is how long a repeated Event counts as another occurrence of the first one.
	sameFor = time.Hour
	// countEvery is how often the count of a repeated Event is written.
	countEvery = 10 * time.Minute
	// rememberedNews is how many Events are remembered, so that they can be counted.
	rememberedNews = 128
	// writeTimeout bounds the write of one Event.
	writeTimeout = 15 * time.Second
)

// news is one thing that an Event tells.
type news struct {
	about corev1.ObjectReference
	// key is the same for what is the same news, whatever the times and counts in the text.
	key            string
	reason, action string
	text           string
	warns          bool
}

// announcer writes Events about the ClusterAPI, beside the passes: a pass never
// waits for one, and one that cannot be written is logged and let go.
type announcer struct {
	events eventsv1client.EventInterface
	clock  clock.PassiveClock
	log    logr.Logger
	host   string
	queue  chan news
	// told is what was announced, by key; only run uses it.
	told map[string]*announced
}

// announced is an Event that was written: how often its news came since, and
// when that was last written.
type announced struct {
	name           string
	first, written time.Time
	count          int32
}

func newAnnouncer(o Options) (*announcer, error) {
	client, err := eventsv1client.NewForConfigAndClient(o.REST, o.HTTP)
	if err != nil {
		return nil, fmt.Errorf("making the client of Events: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &announcer{
		// Events about objects without a namespace are written into this one.
		events: client.Events(metav1.NamespaceDefault), clock: o.Clock, log: o.Log.WithName("events"), host: host,
		queue: make(chan news, waitingNews), told: map[string]*announced{},
	}, nil
}

// tell takes news in and never blocks.
func (a *announcer) tell(n news) {
	select {
	case a.queue <- n:
	default:
		a.log.Info("an Event is dropped, because too many wait", "reason", n.reason, "text", n.text)
	}
}

// run writes Events until the context ends.
func (a *announcer) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-a.queue:
			if err := a.write(ctx, n); err != nil && ctx.Err() == nil {
				a.log.Info("an Event could not be written", "reason", n.reason, "text", n.text, "error", err.Error())
			}
		}
	}
}

// write makes an Event of news, or counts it on the Event that told it before.
func (a *announcer) write(ctx context.Context, n news) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	now := a.clock.Now()
	before := a.told[n.key]
	if before != nil && now.Sub(before.first) < sameFor {
		before.count++
		if now.Sub(before.written) < countEvery {
			return nil
		}
		err := a.count(ctx, before, now)
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	event := a.event(n, now)
	if _, err := a.events.Create(ctx, event, metav1.CreateOptions{}); err != nil {
		return err
	}
	a.remember(n.key, &announced{name: event.Name, first: now, written: now, count: 1})
	return nil
}

func (a *announcer) count(ctx context.Context, before *announced, now time.Time) error {
	patch, err := json.Marshal(map[string]any{"series": eventsv1.EventSeries{Count: before.count, LastObservedTime: metav1.NewMicroTime(now)}})
	if err != nil {
		return err
	}
	before.written = now
	_, err = a.events.Patch(ctx, before.name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (a *announcer) event(n news, now time.Time) *eventsv1.Event {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(n.key)) // it never fails
	kind := corev1.EventTypeNormal
	if n.warns {
		kind = corev1.EventTypeWarning
	}
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s.%08x.%x", cmp.Or(n.about.Name, Singleton), hash.Sum32(), now.UnixNano()),
			Namespace: metav1.NamespaceDefault,
		},
		EventTime: metav1.NewMicroTime(now), ReportingController: FieldManager, ReportingInstance: a.host,
		Type: kind, Reason: n.reason, Action: n.action, Regarding: n.about, Note: n.text,
	}
}

// remember forgets the oldest news when there are too many.
func (a *announcer) remember(key string, written *announced) {
	a.told[key] = written
	if len(a.told) <= rememberedNews {
		return
	}
	oldest := key
	for other, told := range a.told {
		if told.first.Before(a.told[oldest].first) {
			oldest = other
		}
	}
	delete(a.told, oldest)
}
