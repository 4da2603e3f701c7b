package house

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
)

// EndTimeout bounds the wait for what runs when a process ends: then it gives up its Lease, whatever still hangs.
const EndTimeout = 10 * time.Second

// renewTimeout bounds one request about the Lease, so that one that hangs does
// not lose it: the manager gives up after ten seconds.
const renewTimeout = 5 * time.Second

// Lease is the lock of the replica that works. It records no Event: who leads is in the Lease itself, and
// a restart with nothing to do writes nothing but that.
func Lease(access *rest.Config, of client.ObjectKey) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this replica: %w", err)
	}
	access = rest.AddUserAgent(rest.CopyConfig(access), "leader-election")
	access.Timeout = renewTimeout
	leases, err := coordinationv1client.NewForConfig(access)
	if err != nil {
		return nil, fmt.Errorf("making the client of the Lease: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}, nil
}

// Warm has the controllers fill their caches while the Lease is being waited
// for: whoever gets it has seen everything already.
func Warm() config.Controller {
	yes := true
	return config.Controller{EnableWarmup: &yes}
}

// Together runs all until the context, or the first that fails, ends all of
// them. What hangs is not waited for: it would keep the process from its end.
func Together(ctx context.Context, runs []func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range runs {
		group.Go(func() error { return run(ctx) })
	}
	ended := make(chan error, 1)
	go func() { ended <- group.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(2 * EndTimeout): // the manager waits for one of them itself
		return fmt.Errorf("%w; not everything has ended within %s", context.Cause(ctx), 2*EndTimeout)
	}
}
