package newest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// server answers lists with a version, and notes what it is asked for.
type server struct {
	version string
	err     error
	asked   []string
}

func (s *server) List(o metav1.ListOptions) (runtime.Object, error) {
	s.asked = append(s.asked, fmt.Sprintf("list %q limit %d", o.ResourceVersion, o.Limit))
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: s.version}}, s.err
}

func (s *server) Watch(o metav1.ListOptions) (watch.Interface, error) {
	s.asked = append(s.asked, fmt.Sprintf("watch %q for %ds", o.ResourceVersion, *o.TimeoutSeconds))
	return watch.NewEmptyWatch(), s.err
}

func TestWatched(t *testing.T) {
	yes, five := true, int64(300)
	after := func(version string) metav1.ListOptions {
		return metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &five}
	}
	stream := metav1.ListOptions{ResourceVersion: "7", SendInitialEvents: &yes, TimeoutSeconds: &five}
	const watched = `watch "10" for 300s`
	type step struct {
		at      time.Duration // since the start
		version string        // of the server; empty for one that does not answer
		do      func(cache.ListerWatcherWithContext) error
		asks    string
		anew    bool
	}
	opens := func(o metav1.ListOptions) func(cache.ListerWatcherWithContext) error {
		return func(lw cache.ListerWatcherWithContext) error {
			_, err := lw.WatchWithContext(context.Background(), o)
			return err
		}
	}
	lists := func(lw cache.ListerWatcherWithContext) error {
		_, err := lw.ListWithContext(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
		return err
	}
	begins := step{0, "10", opens(stream), `watch "" for 300s`, false}
	for name, steps := range map[string][]step{
		"a list is of what there is now":             {begins},
		"a watch goes on from its list":              {{0, "10", lists, `list "" limit 0`, false}, {time.Second, "10", opens(after("10")), watched, false}},
		"a watch that ended in time is opened again": {begins, {300 * time.Second, "5", opens(after("10")), watched, false}},
		"one that broke is listed anew":              {begins, {9 * time.Second, "9", opens(after("10")), "", true}, {10 * time.Second, "9", opens(stream), `watch "" for 300s`, false}},
		"one that ended too late as well":            {begins, {330 * time.Second, "9", opens(after("10")), "", true}},
		"and one that could not be opened": {
			begins, {300 * time.Second, "", opens(after("10")), watched, false}, {301 * time.Second, "9", opens(after("10")), "", true},
		},
		"once a minute, and meanwhile a watch is short": {
			begins,
			{9 * time.Second, "9", opens(after("10")), "", true},
			{10 * time.Second, "9", opens(stream), `watch "" for 300s`, false},
			{20 * time.Second, "9", opens(after("10")), `watch "10" for 60s`, false},
			{80 * time.Second, "9", opens(after("10")), "", true},
		},
	} {
		s, start, lists := &server{}, time.Now(), 0
		r := Watched(s, func() { lists++ }).(*watcher)
		for i, step := range steps {
			s.version, s.asked, s.err, lists = step.version, nil, nil, 0
			if step.version == "" {
				s.err = errors.New("away")
			}
			r.now = func() time.Time { return start.Add(step.at) }
			err := step.do(r)
			if got := strings.Join(s.asked, "; "); got != step.asks {
				t.Errorf("%s, step %d: it asks for %s, want %s", name, i, got, step.asks)
			}
			if whole := strings.HasPrefix(step.asks, `watch ""`) || strings.HasPrefix(step.asks, `list "" limit 0`); whole != (lists == 1) {
				t.Errorf("%s, step %d: %d lists begin", name, i, lists)
			}
			if apierrors.IsResourceExpired(err) != step.anew || (err != nil) != (step.anew || s.err != nil) {
				t.Errorf("%s, step %d: %v", name, i, err)
			}
		}
	}
	if Watched(&server{}, nil).(*watcher).IsWatchListSemanticsUnSupported() {
		t.Error("lists are not streamed")
	}
}
