package main

import (
	"context"
	"fmt"
	"io"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/losses"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// consentToUninstall asks to let the revision be listed that would end what runs.
func (f *consentFlags) consentToUninstall(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	cluster, looked, err := f.askFlags.look(ctx, acts.ConsentToUninstall)
	if err != nil {
		return err
	}
	ends, err := f.ends(ctx, cluster)
	if err != nil {
		return err
	}
	if f.digest != "" && f.digest != ends.Digest {
		return endsOther(f.digest, ends.Digest)
	}
	r, err := f.uninstallRequest(looked, ends)
	if err != nil {
		return err
	}
	r.still = func() error {
		now, err := f.ends(ctx, cluster)
		if err == nil && now.Digest != ends.Digest {
			err = endsOther(ends.Digest, now.Digest)
		}
		return err
	}
	return f.do(ctx, in, out, cluster, looked, r)
}

// ends finds out what the revision would end that the operator asks about.
func (f *consentFlags) ends(ctx context.Context, cluster *asking.Cluster) (losses.Uninstall, error) {
	kept, err := cluster.Kept(ctx)
	if err != nil {
		return losses.Uninstall{}, err
	}
	if kept.Uninstall == "" {
		return losses.Uninstall{}, &inspect.Error{What: "the operator asks for no consent to an uninstallation: " + kept.Why, Next: "capstan consent shows what awaits one"}
	}
	look := f.look
	look.Access, look.operatorNamespace, look.output, look.release = f.Access, f.namespace, "text", losses.ReleaseOf(kept.Uninstall)
	if err := look.validate(); err != nil {
		return losses.Uninstall{}, err
	}
	seen, err := look.foresee(ctx)
	if err != nil {
		return losses.Uninstall{}, err
	}
	return losses.UninstallOf(seen.Foresight, kept.Uninstall, f.named())
}

// endsOther says that what would end is not what somebody has seen.
func endsOther(seen, now string) error {
	return &inspect.Error{
		What: fmt.Sprintf("what would be removed has changed, and nothing was written: its digest is %s, and not %s", now, seen),
		Next: "look at it again: " + phases.ConsentToUninstall + " --reason TEXT --dry-run",
	}
}

// uninstallRequest is the act with what people are told of it.
func (f *consentFlags) uninstallRequest(looked asking.Looked, ends losses.Uninstall) (request, error) {
	act := acts.Act{Name: acts.ConsentToUninstall, By: looked.By, At: looked.At, Reason: f.reason, Items: []acts.Said{{Key: "revision", Value: ends.Revision}}}
	text, err := act.Text()
	if err != nil {
		return request{}, fmt.Errorf("what is asked for cannot be written down: %w", err)
	}
	shows := fmt.Sprintf("Let revision %s end what runs, by %s, because: %s\n\n%s", ends.Revision, act.By, act.Reason, ends.Text(looked.At))
	return request{
		name: acts.ConsentToUninstall, text: text, act: &act,
		does: asked{
			Does: "consent", By: act.By, At: act.At, Reason: act.Reason, Revision: act.Revision(), Uninstall: &ends, Digest: ends.Digest,
			Replaces: looked.Text, Undo: asking.UnconsentToUninstall,
		},
		shows: shows + replacesUninstall(looked.Text) + "Until it is used, this takes it back: " + asking.UnconsentToUninstall + "\n",
		said: fmt.Sprintf("Revision %s is listed: what it does not have is being removed. Watch it with: capstan status --watch\n"+
			"To install again, put the images back into ConfigMap %s; what was retained for its data is used again then.\n", ends.Revision, phases.ImagesConfigMap),
	}, nil
}

// replacesUninstall tells of a consent that is there.
func replacesUninstall(text string) string {
	if text == "" {
		return ""
	}
	act, err := acts.Read(acts.ConsentToUninstall, text)
	if err != nil {
		return fmt.Sprintf("It takes the place of one that is void: %v\n", err)
	}
	return fmt.Sprintf("It takes the place of the one by %s since %s for revision %s: %s\n", act.By, machine.Moment(act.At), act.RevisionName(), act.Reason)
}
