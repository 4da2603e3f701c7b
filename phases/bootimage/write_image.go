package bootimage

import (
	"bytes"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// WriteImage gives the target the wanted image.
var WriteImage = machine.Action[*Pass]{
	Name: "WriteImage", Writes: []string{"MachineSet", "MachineDeployment", "ControlPlaneMachineSet", "AWSMachineTemplate", "GCPMachineTemplate"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.writeImage(ctx) },
	Doc: "annotates a clone that this plan has not made just now, so that no process which does not lead any more deletes it; and changes the image reference of the target, or the name of its infrastructure template, and nothing else, by a JSON Patch that tests UID, old reference and what allows a rollout. What is refused because the target has changed is looked at again, and is no error.",
}

func (p *Pass) writeImage(ctx context.Context) (machine.Result, error) {
	if !p.writes() || p.Judged.Outcome != golden.Outdated { // the image is the wanted one, and only the stub was old
		return machine.Result{}, nil
	}
	return p.trying(func() (machine.Result, error) {
		if done, err := p.patch(ctx, p.Tries); err != nil || !done || p.Tries {
			return machine.Result{}, err
		}
		return machine.Result{Did: fmt.Sprintf("gave %s %s image %s", kindName(p.Target.Kind), p.Target.Name, p.Judged.Wanted)}, nil
	})
}

// patch sends the edit of the target, or only tries that, and says whether it was taken: not for a target that has changed.
func (p *Pass) patch(ctx context.Context, try bool) (done bool, err error) {
	edit, err := p.Judged.Patch.JSON()
	if err != nil {
		return false, err
	}
	if !try {
		if claimed, err := p.claimClone(ctx); err != nil || !claimed {
			return false, err
		}
	}
	object := empty(p.Target.Kind) // the answer is read into it
	object.SetNamespace(p.Target.Object.GetNamespace())
	object.SetName(p.Target.Name)
	options := []client.PatchOption{client.FieldOwner(golden.FieldManager)}
	if try {
		options = append(options, client.DryRunAll)
	} else {
		p.sends()
		p.memory.of(p.Key, func(r *remembered) { r.lost = true }) // as long as there is no answer
	}
	err = p.Writer.Patch(ctx, object, client.RawPatch(types.JSONPatchType, edit), options...)
	p.counts(err, try)
	if err != nil {
		return false, p.refused(ctx, err, try)
	}
	if try {
		return true, nil
	}
	version := object.GetResourceVersion()
	p.memory.of(p.Key, func(r *remembered) { r.written, r.lost = version, false })
	p.Board.Moved(p.Key, p.Verdict.News)
	return true, nil
}

// counts tells the metrics of a write.
func (p *Pass) counts(err error, try bool) {
	switch {
	case try || p.Wrote == nil:
	case err == nil:
		p.Wrote("written")
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		p.Wrote("conflict")
	default:
		p.Wrote("refused")
	}
}

// refused tells by a read what a write that was not done means: of a target that has changed, that it is decided anew, which
// is no error; of one that is as planned, whether another try may do it.
func (p *Pass) refused(ctx context.Context, err error, try bool) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	failed := fmt.Errorf("writing %s %s: %w", kindName(p.Target.Kind), p.Target.Name, err)
	if apierrors.IsForbidden(err) || apierrors.IsTooManyRequests(err) {
		p.unlost(try)
		return failed
	}
	live, readErr := p.target(ctx, p.Live, p.Key)
	switch {
	case readErr != nil:
		return failed
	case live == nil || !p.isAsPlanned(live):
		return nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		p.unlost(try)
		return machine.Terminal(failed)
	}
	p.unlost(try)
	return failed
}

// unlost notes that a write was not done.
func (p *Pass) unlost(try bool) {
	if !try {
		p.memory.of(p.Key, func(r *remembered) { r.lost = false })
	}
}

// isAsPlanned says that what the edit of the target tests still holds: the target as it is leads to the same edit.
func (p *Pass) isAsPlanned(live *Target) bool {
	if p.Verdict.Golden == nil {
		return false
	}
	now := p.Verdict.Golden.Judge(&p.Verdict.Cluster, live.For)
	planned, err := p.Judged.Patch.JSON()
	edit, nowErr := now.Patch.JSON()
	return err == nil && nowErr == nil && now.Outcome == golden.Outdated && bytes.Equal(edit, planned)
}
