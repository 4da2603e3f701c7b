package bootimage

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// CloneTemplate makes the template that the target is to name.
var CloneTemplate = machine.Action[*Pass]{
	Name: "CloneTemplate", Writes: []string{"ConfigMap", "AWSMachineTemplate", "GCPMachineTemplate"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.cloneTemplate(ctx) },
	Doc: "has the attempt stored, and once it is, creates a clone of the target's infrastructure template with the wanted image, if there is none; one that the machine bootgate is deleting is made anew after that. Fails for good if another template has its name. Targets of the Machine API need none.",
}

func (p *Pass) cloneTemplate(ctx context.Context) (machine.Result, error) {
	if err := p.readStub(); err != nil || !p.writes() {
		return machine.Result{}, err
	}
	needed := api(p.Target.Kind) != guards.MachineAPI && p.Judged.CloneName != ""
	if needed && p.clone != nil {
		if err := p.taken(p.clone); err != nil {
			return machine.Result{}, err
		}
		needed = false
	}
	if needed && (p.facts.Template.Retiring || p.Board.Retiring(p.Judged.CloneName)) {
		return machine.Result{LookAgain: soon}, nil
	}
	if !needed {
		return p.offered(ctx)
	}
	return p.trying(func() (machine.Result, error) {
		if stored, err := p.offer(ctx); err != nil || !stored {
			return machine.Result{LookAgain: unheard}, err
		}
		return p.makeClone(ctx, p.Tries)
	})
}

// unheard is after how long a target is looked at again whose attempt is being stored, though that wakes it.
const unheard = 10 * time.Second

// offered has the attempt stored, if an image is to be written.
func (p *Pass) offered(ctx context.Context) (machine.Result, error) {
	if p.Judged.Outcome != golden.Outdated {
		return machine.Result{}, nil
	}
	if stored, err := p.offer(ctx); err != nil || !stored {
		return machine.Result{LookAgain: unheard}, err
	}
	return machine.Result{}, nil
}

// makeClone creates the clone, or only tries that.
func (p *Pass) makeClone(ctx context.Context, try bool) (machine.Result, error) {
	cluster := Untyped(ClusterKind)
	if err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.CAPINamespace, Name: p.Target.clusterName()}, cluster); err != nil {
		return machine.Result{}, fmt.Errorf("reading Cluster %s, which is to own the template: %w", p.Target.clusterName(), err)
	}
	clone := p.Target.For.Clone(&p.Judged, ownerOf(cluster))
	options := []client.CreateOption{client.FieldOwner(golden.FieldManager)}
	if try {
		options = append(options, client.DryRunAll)
	} else {
		p.sends()
	}
	at := p.Steady()
	err := p.Writer.Create(ctx, clone, options...)
	switch {
	case apierrors.IsAlreadyExists(err):
		there := Untyped(clone.GroupVersionKind())
		if err := p.Live.Get(ctx, client.ObjectKeyFromObject(clone), there); err != nil {
			return machine.Result{LookAgain: soon}, client.IgnoreNotFound(err)
		}
		return machine.Result{LookAgain: soon}, p.taken(there)
	case apierrors.IsConflict(err):
		return machine.Result{LookAgain: soon}, nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return machine.Result{}, machine.Terminal(fmt.Errorf("creating %s %s: %w", clone.GetKind(), clone.GetName(), err))
	case err != nil:
		return machine.Result{}, fmt.Errorf("creating %s %s: %w", clone.GetKind(), clone.GetName(), err)
	case try:
		return machine.Result{}, nil
	}
	p.memory.of(p.Key, func(r *remembered) { r.cloned, r.claimed = clone.GetName(), at })
	return machine.Result{Did: fmt.Sprintf("created %s %s", clone.GetKind(), clone.GetName())}, nil
}

// taken is the error of a template that has the name of the clone and is another one, nil if it is the clone.
func (p *Pass) taken(there *unstructured.Unstructured) error {
	if p.Judged.IsClone(there) {
		return nil
	}
	return machine.Terminal(errors.New(there.GetKind() + " " + there.GetName() + " is another template than the one that is to have this name: delete it if nothing needs it"))
}

// claimClone changes a clone that this plan has not made just now, so that no other process deletes it as it has seen it:
// see [bootboard.ClaimFor]. It says no where somebody else writes it at the same time, which is looked at again. One that is gone,
// which a cache may show late, is an error.
func (p *Pass) claimClone(ctx context.Context) (claimed bool, err error) {
	if p.clone == nil {
		return true, nil
	}
	r, at := p.memory.of(p.Key, nil), p.Steady()
	if r.cloned == p.Judged.CloneName && at.Sub(r.claimed) < bootboard.ClaimFor {
		return true, nil
	}
	there := Untyped(p.clone.GroupVersionKind())
	there.SetNamespace(p.clone.GetNamespace())
	there.SetName(p.clone.GetName())
	if p.clone.GetLabels()[golden.CloneOfLabel] == "" {
		err = p.Live.Get(ctx, client.ObjectKeyFromObject(there), there) // nobody deletes what is not labelled as a clone
	} else {
		mark := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, golden.ClaimedAnnotation, p.Now().Format(time.RFC3339Nano))
		err = p.Writer.Patch(ctx, there, client.RawPatch(types.MergePatchType, []byte(mark)), client.FieldOwner(golden.FieldManager))
	}
	switch {
	case apierrors.IsConflict(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("claiming %s %s: %w", there.GetKind(), there.GetName(), err)
	}
	if err := p.taken(there); err != nil {
		return false, err
	}
	p.memory.of(p.Key, func(r *remembered) { r.cloned, r.claimed = there.GetName(), at })
	return true, nil
}

// ownerOf refers to the Cluster that owns templates.
func ownerOf(cluster *unstructured.Unstructured) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: cluster.GetAPIVersion(), Kind: cluster.GetKind(), Name: cluster.GetName(), UID: cluster.GetUID()}
}
