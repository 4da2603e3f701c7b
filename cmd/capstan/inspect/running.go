package inspect

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/capstan-capi/capstan/machine"
)

// Running says to whoever has waited in vain whether an operator is at work, as far as the Lease tells that it holds.
func Running(ctx context.Context, leases coordinationclient.LeasesGetter, clock *ServerClock, namespace, name string) string {
	const restart = "; what was written stands, and an operator that starts obeys it"
	lease, err := leases.Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("no operator runs, or it runs without Lease %s/%s%s", namespace, name, restart)
	case err != nil:
		return fmt.Sprintf("whether one runs cannot be told (%v)", err)
	case lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || lease.Spec.RenewTime == nil:
		return fmt.Sprintf("no operator runs: nobody holds Lease %s/%s%s", namespace, name, restart)
	}
	now, err := clock.Now()
	if err == nil && now.Sub(lease.Spec.RenewTime.Time) > time.Minute {
		return fmt.Sprintf("no operator runs: Lease %s/%s was renewed the last time at %s%s", namespace, name, machine.Moment(lease.Spec.RenewTime.Time), restart)
	}
	return "one runs, and may not be able to write its report; look at capstan status"
}
