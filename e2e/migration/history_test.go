package migration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// The annotations by which a HostedCluster is locked: either of them does it.
const (
	lockMark      = "hypershift.openshift.io/migration-in-progress"
	companionMark = "capstan.openshift.io/migration"
	failedMark    = "hypershift.openshift.io/migration-failed"
)

// history is all that a watch has shown of HostedClusters since it began, by their names: no change is left out.
type history struct {
	mu     sync.Mutex
	locked map[string]bool
	// locks are the names in the order in which they were locked, and together those that were locked at the same time.
	locks    []string
	together []string
	paths    map[string][]string
	messages map[string]string
	ended    chan struct{}
	stop     context.CancelFunc
}

// follow begins a history that ends with the spec, or when the API server does.
func follow(ctx context.Context) *history {
	GinkgoHelper()
	client := objects.Resource(of(hypershift, "hostedclusters")).Namespace(hostedNamespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	h := &history{locked: map[string]bool{}, paths: map[string][]string{}, messages: map[string]string{}, ended: make(chan struct{})}
	for i := range list.Items {
		h.see(&list.Items[i])
	}
	lives, stop := context.WithCancel(context.Background())
	h.stop = stop
	seconds := int64(7200)
	changes, err := client.Watch(lives, metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), TimeoutSeconds: &seconds})
	Expect(err).NotTo(HaveOccurred())
	go func() {
		defer close(h.ended)
		for change := range changes.ResultChan() {
			if o, is := change.Object.(*hostedworld.Object); is && change.Type != watch.Deleted {
				h.see(o)
			}
		}
	}()
	DeferCleanup(h.end)
	return h
}

// end returns when the history has ended.
func (h *history) end() {
	h.stop()
	<-h.ended
}

func (h *history) see(o *hostedworld.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, marks := o.GetName(), o.GetAnnotations()
	_, lock := marks[lockMark]
	_, companion := marks[companionMark]
	is := lock || companion
	if is && !h.locked[name] {
		h.locks = append(h.locks, name)
	}
	h.locked[name] = is
	var now []string
	for one, is := range h.locked {
		if is {
			now = append(now, one)
		}
	}
	if len(now) > 1 {
		slices.Sort(now)
		h.together = append(h.together, fmt.Sprintf("%v at resourceVersion %s", now, o.GetResourceVersion()))
	}
	state, message := hostedworld.Told(o)
	h.messages[name] = message
	if path := h.paths[name]; state != "" && (len(path) == 0 || path[len(path)-1] != state) {
		h.paths[name] = append(path, state)
	}
}

// path are the states that a hosted cluster has told, in order.
func (h *history) path(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.paths[name])
}

// last is the state that a hosted cluster has told last, empty for none, and what it says there.
func (h *history) last(name string) (state, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if path := h.paths[name]; len(path) > 0 {
		state = path[len(path)-1]
	}
	return state, h.messages[name]
}

// names are the hosted clusters that have told anything.
func (h *history) names() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range h.paths {
		all = append(all, name)
	}
	return all
}

// expectTurns checks that the history is whole, that hosted clusters were locked in this order, and never two at once.
func (h *history) expectTurns(order ...string) {
	GinkgoHelper()
	Expect(h.ended).NotTo(BeClosed(), "the watch has ended before")
	h.mu.Lock()
	defer h.mu.Unlock()
	Expect(h.together).To(BeEmpty(), "locked at once")
	Expect(h.locks).To(Equal(order), "the order in which they were locked")
}

// tell are all paths, for who looks at a failure.
func (h *history) tell() string {
	var b strings.Builder
	for _, name := range h.names() {
		state, message := h.last(name)
		fmt.Fprintf(&b, "%s is %s: %s\n  its way: %s\n", name, state, message, strings.Join(h.path(name), " "))
	}
	return b.String()
}
