package privatecapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// ReleaseAnnotation is of the Lease: the release of the operator that has taken it last, for a move.
const ReleaseAnnotation = Ours + "release"

// TakeLock takes the Lease, then the lock, begins the journal, and then shuts both sides. A lock that is refused gives the Lease back.
func (p *Pass) TakeLock(ctx context.Context) (machine.Result, error) {
	if p.stage() == guards.NoStage {
		if taken, result, err := p.takeLease(ctx); !taken || err != nil {
			return result, err
		}
		move := guards.MigrationID(p.Installation, p.Now().UTC().Format(moveForm), p.direction())
		companion := guards.Companion{ID: move, Direction: p.direction(), Stage: guards.Moving}
		result, err := p.send(ctx, "locking", patchOf(HostedClusters, p.Hosted, map[string]any{"metadata": map[string]any{
			"annotations": map[string]any{guards.MigrationAnnotation: guards.MarkTrue, guards.CompanionAnnotation: companion.Text()},
			"finalizers":  p.finalizers(true),
		}}))
		if err != nil { // nothing is locked, and the next one must not wait until the Lease is old
			_, kept := p.releaseLease(ctx)
			err = errors.Join(err, kept)
		}
		return result, err
	}
	if p.journal.Move == "" && !p.lacksLock() {
		return p.note(ctx, p.begin(), "began the journal")
	}
	result, err := p.send(ctx, "shutting both sides", p.shut(guards.BothSidesAreShut))
	if err == nil && result.LookAgain == 0 {
		result.LookAgain = soon // the API servers learn of the fence one by one
	}
	return result, err
}

// takeLease says whether the Lease of the programme is held for this HostedCluster.
func (p *Pass) takeLease(ctx context.Context) (bool, machine.Result, error) {
	lease, err := p.API.Get(ctx, Leases, p.Namespace, guards.ProgrammeName)
	spec := map[string]any{"holderIdentity": string(p.Key), "renewTime": p.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}
	metadata := map[string]any{"annotations": map[string]any{ReleaseAnnotation: p.Release}}
	var w *Write
	switch {
	case apierrors.IsNotFound(err):
		w = &Write{Verb: Create, Kind: Leases, Namespace: p.Namespace, Name: guards.ProgrammeName, Body: map[string]any{
			"apiVersion": Leases.APIVersion(), "kind": Leases.Kind,
			"metadata": map[string]any{"namespace": p.Namespace, "name": guards.ProgrammeName, "annotations": metadata["annotations"]}, "spec": spec,
		}}
	case err != nil && isAway(err):
		p.outage(p.Key, p.record.Since, err, nil)
		return false, machine.Result{LookAgain: soon}, nil
	case err != nil:
		return false, machine.Result{}, fmt.Errorf("reading Lease %s/%s: %w", p.Namespace, guards.ProgrammeName, err)
	default:
		if held := holder(lease); held != p.Key {
			free, err := p.isFree(ctx, lease, held)
			if err != nil || !free {
				return false, machine.Result{Did: "waiting for Lease " + guards.ProgrammeName + ", which is held for " + string(held), LookAgain: soon}, err
			}
		}
		// One that is held for this HostedCluster is renewed: another process may have seen it as free, and then takes it in vain.
		w = patchOf(Leases, lease, map[string]any{"metadata": metadata, "spec": spec})
	}
	if _, err := p.API.Write(ctx, *w); err != nil {
		result, err := p.stops(w, err)
		return false, result, err
	}
	return true, machine.Result{}, nil
}

func holder(lease *unstructured.Unstructured) machine.Key {
	text, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	return machine.Key(text)
}

// isFree says whether the Lease of another may be taken, see [guards.Lease].
func (p *Pass) isFree(ctx context.Context, lease *unstructured.Unstructured, held machine.Key) (bool, error) {
	namespace, name := Split(held)
	if held == "" || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return true, nil // there can be no HostedCluster of that name
	}
	of := guards.Lease{Seen: p.memory.leaseSeen(lease.GetUID(), lease.GetResourceVersion(), p.Now())}
	o, err := p.API.Get(ctx, HostedClusters, namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		of.HolderGone = true
	case err != nil && isAway(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading HostedCluster %s: %w", held, err)
	default:
		of.HolderLocked = guards.MarksOf(o.GetAnnotations()).Locked()
	}
	text, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	of.Renewed, _ = time.Parse(time.RFC3339, text) // the zero time, which is long ago, where nobody can read it
	return of.IsFree(p.Now()), nil
}
