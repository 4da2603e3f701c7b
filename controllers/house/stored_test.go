package house

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capstan-capi/capstan/machine"
)

type listed struct {
	keys []machine.Key
	err  error
}

func (l listed) Keys(context.Context) ([]machine.Key, error) { return l.keys, l.err }

func TestStored_asks_for_a_pass_for_every_record(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queueBy(clock.RealClock{})("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		var logged []string
		logger := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
		for _, l := range []listed{{err: errors.New("away")}, {keys: []machine.Key{"ns/gone", "cluster"}}} {
			if err := (stored{in: l, log: logger}).Start(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		var got []string
		for q.Len() > 0 {
			request, _ := q.Get()
			got = append(got, string(KeyOf(request.NamespacedName)))
			q.Done(request)
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != "cluster ns/gone" {
			t.Errorf("asked for are %s", text)
		}
		if len(logged) != 1 || !strings.Contains(logged[0], "away") {
			t.Errorf("logged is %q", logged)
		}
	})
}
