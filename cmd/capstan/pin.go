package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/acts"
)

type pinFlags struct {
	askFlags
	lasts  time.Duration
	reason string
}

// pinLasts is how long a pin lasts of which nobody says how long: over a weekend.
const pinLasts = 72 * time.Hour

func pinCommand() *cobra.Command {
	f := &pinFlags{}
	cmd := &cobra.Command{
		Use:   "pin [--for DURATION] --reason TEXT",
		Short: "Has the operator stay with the revision that is installed, whatever the list of images says",
		Long: `Pins the images of the revision that is installed for a time, 72h unless --for says otherwise: they take the place of ConfigMap
capi-installer-images, which is not touched. Platform, TLS profile, unmanaged definitions and the rules for images
are today's all the same, and drift is repaired. A patch release of the cluster waits for its end, and the
cluster cannot be upgraded to another minor release meanwhile. It ends by itself, or with capstan unpin, and what the
list of images says by then is installed.

While a newer revision is being rolled out, that would be a rollback to the one before: capstan rollback says first
what that does, so this refuses.

It writes the annotation capi-operator.openshift.io/pin on ClusterAPI cluster, in your name and by the time of the
API server. That takes the rights to get and patch it and the verb pin on it, which ClusterRole capstan-admin has. A
pin that is there is replaced. It waits until the operator says that it counts, for which it needs the right to get
ClusterOperator cluster-api.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it.

Exit codes: 0 if the operator says that it is pinned, or the API server would take it; 1 if not, or if nobody
answers within --timeout: then the act stands all the same.`,
		Example: `  capstan pin --for 72h --reason "the next release is being tried elsewhere"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().DurationVar(&f.lasts, "for", pinLasts, "how long the pin lasts, up to 720h")
	cmd.Flags().StringVar(&f.reason, "reason", "", "`text` that says why, in one line")
	return cmd
}

func (f *pinFlags) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	form, _ := acts.FormOf(acts.Pin)
	switch {
	case f.lasts < time.Second || f.lasts > form.Longest:
		return fmt.Errorf("--for is %s, and can be 1s to %s", f.lasts, form.Longest)
	case f.reason == "":
		return errors.New("--reason is missing: say why, for those who find it pinned")
	}
	cluster, looked, err := f.look(ctx, acts.Pin)
	if err != nil {
		return err
	}
	if err := pinnable(looked); err != nil {
		return err
	}
	act := acts.Act{
		Name: acts.Pin, By: looked.By, At: looked.At, Until: looked.At.Add(f.lasts).Truncate(time.Second), Reason: f.reason,
		Items: []acts.Said{{Key: "revision", Value: strconv.FormatInt(looked.Current, 10)}},
	}
	text, err := act.Text()
	if err != nil {
		return fmt.Errorf("--reason, or the name of the user, cannot be written down: %w", err)
	}
	shows := fmt.Sprintf("Stay with the images of revision %d until %s (%s), whatever the list of images says.\nBy %s, because: %s\n"+
		"Patch releases of the cluster wait for its end, and an upgrade to another minor release is not allowed meanwhile.\n",
		looked.Current, machine.Moment(act.Until), f.lasts, act.By, act.Reason)
	return f.do(ctx, in, out, cluster, looked, request{
		name: acts.Pin, text: text, act: &act, shows: shows + replacesPin(looked.Text),
		does: asked{Does: "pin", By: act.By, At: act.At, Until: act.Until, Reason: act.Reason, Revision: looked.Current, Replaces: looked.Text, Undo: "capstan unpin"},
		said: fmt.Sprintf("Pinned to revision %d until %s. To end that before: capstan unpin\n", looked.Current, machine.Moment(act.Until)),
	})
}

// pinnable says why what is installed cannot be pinned.
func pinnable(looked asking.Looked) error {
	switch {
	case looked.Current == 0:
		return &inspect.Error{What: "no revision is installed that could be pinned", Next: "look at capstan status"}
	case looked.Newest > looked.Current:
		return &inspect.Error{
			What: fmt.Sprintf("revision %d is being rolled out, so that to pin revision %d is a rollback", looked.Newest, looked.Current),
			Next: fmt.Sprintf("see what that does with capstan rollback %d --dry-run, or wait until revision %d is installed", looked.Current, looked.Newest),
		}
	}
	return nil
}

// replacesPin tells of a pin that is there.
func replacesPin(text string) string {
	if text == "" {
		return ""
	}
	act, err := acts.Read(acts.Pin, text)
	if err != nil {
		return fmt.Sprintf("It takes the place of one that is void: %v\n", err)
	}
	return fmt.Sprintf("It takes the place of the one by %s since %s: %s\n", act.By, machine.Moment(act.At), act.Reason)
}

func unpinCommand() *cobra.Command {
	f := &askFlags{}
	cmd := &cobra.Command{
		Use:   "unpin",
		Short: "Ends a pin or a rollback: the list of images counts again",
		Long: `Takes the annotation capi-operator.openshift.io/pin off ClusterAPI cluster, whoever has put it there, and waits
until the operator says that it is gone. What the list of images says is installed then. It takes the rights to get
and patch ClusterAPI cluster and the verb pin on it, which ClusterRole capstan-admin has, and to get ClusterOperator
cluster-api.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it.

Exit codes: 0 if nothing is pinned any more, or the API server would take it; 1 if not, or if nobody answers
within --timeout.`,
		Example: `  capstan unpin --yes`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.unpin(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *askFlags) unpin(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	cluster, looked, err := f.look(ctx, acts.Pin)
	if err != nil {
		return err
	}
	does := asked{Does: "unpin", By: looked.By, At: looked.At, Replaces: looked.Text}
	if looked.Text == "" {
		if f.output == "json" {
			return terminal.JSON(out, does)
		}
		fmt.Fprintln(out, "Nothing to do: nobody has pinned it.")
		return nil
	}
	shows := "Take back a pin that is void already.\n"
	if act, err := acts.Read(acts.Pin, looked.Text); err == nil {
		number := act.Revision()
		does.Revision = number
		shows = fmt.Sprintf("End the pin to revision %d by %s since %s: %s\nWhat the list of images says is installed then.\n", number, act.By, machine.Moment(act.At), act.Reason)
		// What the list says is installed by then, which capstan pin would pin.
		does.Undo = fmt.Sprintf("capstan rollback %d --reason %s", number, message.ShellWord(act.Reason))
	}
	return f.do(ctx, in, out, cluster, looked, request{
		name: acts.Pin, does: does, shows: shows,
		said: "Nothing is pinned any more. To pin it again: " + cmp.Or(does.Undo, "capstan pin --reason TEXT") + "\n",
	})
}
