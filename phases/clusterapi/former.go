package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/engine"
)

// FormerInstallers are the Deployments of the installer that OpenShift shipped
// before, in the operator's namespace: the release's, and the one that it makes.
var FormerInstallers = []string{"capi-operator", "capi-installer"}

// FormerLease is the name of the Lease that a former installer holds while it works.
func FormerLease(installer string) string { return installer + "-leader" }

// madeForOthers says that the former installer made an object for those who host clusters here: without it, their
// definitions are not protected any more. Who takes it away asks them first.
func madeForOthers(key engine.Key) bool {
	return key.Group == "apiextensions.openshift.io" && key.Kind == "CompatibilityRequirement" && strings.HasPrefix(key.Name, "ccapio-")
}

// FormerManagers are the field managers of the former installer, under which it told of itself on the ClusterOperator.
func FormerManagers() []string { return []string{installerManager, revisionManager} }

// lookAgainAtLeases is how soon a Lease is read again that a former installer holds.
const lookAgainAtLeases = 5 * time.Second

// formerRuns says which former installer may still write, empty for none. A
// Deployment is watched; the Leases are listed at the start of a process and once a
// Deployment is gone, until they are free, because a pod ends later than its
// Deployment.
func (p *Pass) formerRuns(ctx context.Context) (string, error) {
	for _, name := range FormerInstallers {
		key, deployment := client.ObjectKey{Namespace: p.OperatorNamespace, Name: name}, &appsv1.Deployment{}
		found, err := read(ctx, p.Client, key, deployment)
		if err != nil {
			return "", err
		}
		if found && !scaledDown(deployment) {
			p.memory.former = formerSeen
			return fmt.Sprintf("Deployment %s of a former installer runs", key), nil
		}
	}
	if p.memory.former == formerGone {
		return "", nil
	}
	leases := &coordinationv1.LeaseList{}
	if err := p.Live.List(ctx, leases, client.InNamespace(p.OperatorNamespace)); err != nil {
		return "", fmt.Errorf("listing Leases in namespace %s: %w", p.OperatorNamespace, err)
	}
	for _, name := range FormerInstallers {
		at := slices.IndexFunc(leases.Items, func(lease coordinationv1.Lease) bool { return lease.Name == FormerLease(name) })
		if at < 0 {
			continue
		}
		lease := &leases.Items[at]
		if until := HeldUntil(lease); until.After(p.Now()) {
			p.lookAgainIn(lookAgainAtLeases)
			return fmt.Sprintf("Lease %s of a former installer is held by %s until it gives it up or %s",
				client.ObjectKeyFromObject(lease), *lease.Spec.HolderIdentity, until.UTC().Format(time.RFC3339)), nil
		}
	}
	p.memory.former = formerGone
	return "", nil
}

// former is what a process knows of former installers. Lost, the Leases are listed again.
type former int

const (
	formerUnknown former = iota
	formerSeen
	formerGone
)

// scaledDown says that a Deployment has no pods and is to have none.
func scaledDown(d *appsv1.Deployment) bool {
	return d.Spec.Replicas != nil && *d.Spec.Replicas == 0 && d.Status.Replicas == 0
}

// HeldUntil is when a Lease is free at the latest; the zero time if nobody holds it.
func HeldUntil(lease *coordinationv1.Lease) time.Time {
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return time.Time{}
	}
	return spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)
}
