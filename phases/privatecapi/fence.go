package privatecapi

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// fenceOf shuts one side.
func fenceOf(side Side) guards.Fence {
	if side == Private {
		return guards.PrivateIsShut
	}
	return guards.StandardIsShut
}

// fenced is what is denied in a namespace, by its labels.
func (p *Pass) fenced(namespace *unstructured.Unstructured) guards.Fenced {
	labels := namespace.GetLabels()
	f := guards.Fenced{Known: true, Label: guards.Fence(labels[guards.FenceLabel])}
	if f.Label != guards.NoFence && p.stage() != guards.NoStage {
		move, stage := p.facts.Marks.Companion.IsNamed(labels[guards.MoveLabel])
		f.Other, f.Behind = !move, move && !stage
	}
	return f
}

// shut is the write that has a fence of the present move and stage in the namespace of the control plane, or none; nil if it is so.
func (p *Pass) shut(fence guards.Fence) *Write {
	if p.namespace == nil {
		return nil
	}
	wanted := map[string]any{guards.FenceLabel: nil, guards.MoveLabel: nil}
	if fence != guards.NoFence {
		wanted[guards.FenceLabel] = string(fence)
		if move := p.move(); move != "" {
			wanted[guards.MoveLabel] = move
		}
	}
	labels := p.namespace.GetLabels()
	for key, value := range wanted {
		if text, is := labels[key]; is != (value != nil) || is && text != value {
			return patchOf(Namespaces, p.namespace, map[string]any{"metadata": map[string]any{"labels": wanted}})
		}
	}
	return nil
}

// fenceAgain is the write that puts a fence back that somebody has taken away, or changed, while it has to stand; nil where it stands. A
// policy may refuse whatever else is written without it.
func (p *Pass) fenceAgain(fence guards.Fence) *Write {
	if now := p.facts.Fence; now.Label == fence && !now.Other {
		return nil
	}
	return p.shut(fence)
}

// fenceNames says that the fence names the present move at a stage. It does so until the work of the next stage has it name that one.
func (p *Pass) fenceNames(stage guards.Stage) bool {
	return p.namespace != nil && p.namespace.GetLabels()[guards.MoveLabel] == guards.MoveOf(p.facts.Marks.Companion.ID, stage)
}

// probeFence tries as a component's account to write to each side, and says which writes the fence does not deny. Before a move only
// the fence may deny them. On the way back whoever else has refused one has done so too: what runs behind the webhooks of the target may
// be why the move is undone.
func (p *Pass) probeFence(ctx context.Context) (open []string, err error) {
	account := p.account()
	for _, w := range p.fenceTrials() {
		w.As = account
		_, err := p.API.Write(ctx, w)
		switch {
		case err == nil:
			open = append(open, w.Kind.name()+" can be written")
		case (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) && strings.Contains(err.Error(), Fence):
		case p.facts.Then.State != guards.Locking && isRefused(err):
		case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsAlreadyExists(err):
			open = append(open, w.Kind.name()+" is denied by another than the fence: "+err.Error())
		default:
			return nil, err
		}
	}
	return open, nil
}

// isRefused says that an API server has not taken a write in, for whatever reason.
func isRefused(err error) bool {
	return apierrors.ReasonForError(err) != metav1.StatusReasonUnknown && (!isAway(err) || apierrors.IsInternalError(err))
}

// fenceTrials are creations of objects that are valid: of each kind the first that there is, by another name, on both sides. They
// have no owner and no finalizer, since an API server may deny those to a component before it asks the fence.
func (p *Pass) fenceTrials() []Write {
	var trials []Write
	for _, c := range p.sides.oneOfEach() {
		trial := func(kind Kind, to rename) Write {
			body := copyOf(c.source, to, nil, kind.APIVersion(), kind.Status)
			name := c.source.GetName() + "-fence"
			metadata, _ := body["metadata"].(map[string]any)
			metadata["name"] = name
			delete(metadata, "ownerReferences")
			delete(metadata, "finalizers")
			return Write{Verb: Create, Kind: kind, Namespace: c.source.GetNamespace(), Name: name, Body: body}
		}
		trials = append(trials, trial(c.kinds.source, unchanged), trial(c.kinds.target, p.sides.source.to))
	}
	return trials
}
