package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/phases/newest"
)

func TestNewerOf_what_was_written_counts_until_the_cache_has_caught_up(t *testing.T) {
	at := func(version string) *operatorv1alpha1.ClusterAPI {
		return &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{UID: "one", ResourceVersion: version}}
	}
	now := time.Now()
	p := &Phases{Now: func() time.Time { return now }}
	cached := at("10")
	if got := p.newerOf(cached); got != cached {
		t.Error("nothing was written, and still it counts")
	}
	for version, counts := range map[string]bool{"9": false, "10": false, "11": true, "100": true} {
		wrote := at(version)
		p.memory.wrote, p.memory.wroteAt = wrote, now.Add(time.Second-newest.Trust)
		if got := p.newerOf(cached); (got == wrote) != counts {
			t.Errorf("version %s over 10 counts: %v", version, got == wrote)
		}
		p.memory.wroteAt = now.Add(-newest.Trust)
		if got := p.newerOf(cached); got != cached {
			t.Errorf("version %s of a minute ago counts over 10", version)
		}
	}
	other := at("11")
	other.UID = "of one that was deleted"
	p.memory.wrote, p.memory.wroteAt = other, now
	if got := p.newerOf(cached); got != cached {
		t.Error("what was written to an object that was deleted counts")
	}
}

func TestReadWorld_asks_once_a_minute_whether_its_own_write_still_stands(t *testing.T) {
	at := func(version string) *operatorv1alpha1.ClusterAPI {
		return &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: Singleton, UID: "one", ResourceVersion: version}}
	}
	for name, row := range map[string]struct {
		live, want string // versions
		reads      int
	}{
		"the cache is late":                            {"11", "11", 3},
		"somebody has written since":                   {"12", "12", 3},
		"the API server was restored from a backup":    {"10", "10", 1},
		"it was, and the cache is not behind any more": {"9", "10", 1},
	} {
		now, reads := time.Now(), 0
		get := func(shown *operatorv1alpha1.ClusterAPI, asked *int) client.Client {
			return interceptor.NewClient(fake.NewClientBuilder().WithScheme(testScheme(t)).Build(), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if api, is := o.(*operatorv1alpha1.ClusterAPI); is {
						*asked++
						shown.DeepCopyInto(api)
						return nil
					}
					return c.Get(ctx, key, o, opts...)
				},
			})
		}
		p := &Phases{Now: func() time.Time { return now }, Client: get(at("10"), new(int)), Live: get(at(row.live), &reads)}
		p.memory.wrote, p.memory.wroteAt = at("11"), now
		for minute := range 3 {
			now = now.Add(newest.Trust)
			for range 2 {
				w, err := p.readWorld(t.Context(), p.Client)
				if err != nil || w.api.ResourceVersion != row.want {
					t.Fatalf("%s: after %d minutes version %s counts, want %s: %v", name, minute+1, w.api.ResourceVersion, row.want, err)
				}
			}
		}
		if reads != row.reads {
			t.Errorf("%s: it has asked %d times, want %d", name, reads, row.reads)
		}
	}
}

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{configv1.Install, operatorv1alpha1.Install, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func TestWriteStatus_has_not_written_what_ran_out_of_time(t *testing.T) {
	p := planned(nil, listing(1), "")
	p.Client = interceptor.NewClient(serving(t, p.world.api).(client.WithWatch), interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return fmt.Errorf("asking the API server: %w", context.DeadlineExceeded)
		},
	})
	did := func(*operatorv1alpha1.ClusterAPI) []string { return []string{"listed it"} }
	if err := p.writeStatus(t.Context(), did); !errors.Is(err, context.DeadlineExceeded) || len(p.did) > 0 {
		t.Errorf("the error is %v, and it did %v", err, p.did)
	}
}
