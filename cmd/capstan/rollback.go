package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/plan"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/history"
)

type rollbackFlags struct {
	askFlags
	look   planFlags
	reason string
}

func rollbackCommand() *cobra.Command {
	f := &rollbackFlags{}
	cmd := &cobra.Command{
		Use:   "rollback [REVISION] --reason TEXT",
		Short: "Has the operator go back to the images of a revision that was installed before",
		Long: `Plans what it would be to go back to the images of a revision that the history has as installed, without a number to
what is installed while a newer one is being rolled out, and else to the last one before it that has other images, and asks the operator for it if nothing would stop that. A new revision is listed, with a new
number and the release of those images in its name; platform, TLS profile, unmanaged definitions and the rules for
images are today's. No version of a definition that is stored is dropped and no schema narrowed that an object uses:
what that would take is refused, before anything is written. Definitions that only newer revisions had are retained with
their objects, and named, since nothing controls them any more.

It ends when the list of images changes, as the next patch release of the cluster does, or with capstan unpin; then
what the list says is installed. The cluster cannot be upgraded to another minor release meanwhile. Nothing goes
back by itself.

It looks as capstan plan does, and reads ConfigMap capstan-history in the operator's namespace. It writes the
annotation capi-operator.openshift.io/pin on ClusterAPI cluster, in your name and by the time of the API server. That
takes the rights to get and patch it and the verb pin on it, which ClusterRole capstan-admin has; and what capstan
plan needs to see all objects, which that has not: what is unseen ends it with 3. It waits until the operator has taken it up, for which it needs the right to get ClusterOperator cluster-api. The operator looks itself, and
takes up nothing later than ten minutes after it was asked.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it.

Exit codes: 0 if the operator has taken it up, or the API server would take it; 1 after an error, if the operator
refuses, or if nobody answers within --timeout: then the act stands all the same; 3 if the plan says that something
would stop it or cannot be told: then nothing was written.`,
		Example: `  capstan rollback --dry-run --reason "machines of the new release do not join"
  capstan rollback 7 --yes --reason "machines of the new release do not join"`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), args)
		},
	}
	f.add(cmd.Flags())
	f.Access.Timeout = dryRunTimeout
	cmd.Flags().Lookup("request-timeout").DefValue = dryRunTimeout.String()
	f.look.lookFlags(cmd.Flags())
	cmd.Flags().StringVar(&f.reason, "reason", "", "`text` that says why, in one line")
	return cmd
}

func (f *rollbackFlags) run(ctx context.Context, in io.Reader, out io.Writer, args []string) error {
	if err := f.validate(); err != nil {
		return err
	}
	if f.reason == "" {
		return errors.New("--reason is missing: say why, for those who find it rolled back")
	}
	number, err := revisionArgument(args)
	if err != nil {
		return err
	}
	cluster, looked, err := f.askFlags.look(ctx, acts.Pin)
	if err != nil {
		return err
	}
	target, err := f.target(ctx, looked, number)
	if err != nil {
		return err
	}
	made, list, err := f.plan(ctx, target)
	if err != nil {
		return err
	}
	does := asked{Does: "rollback", By: looked.By, At: looked.At, Reason: f.reason, Revision: target.Number, Replaces: looked.Text, Plan: made.Plan, Uncontrolled: made.stays, Undo: "capstan unpin"}
	if made.Code() == codeStopped {
		return f.refuse(out, does)
	}
	act := acts.Act{
		Name: acts.Pin, By: looked.By, At: looked.At, Reason: f.reason,
		Items: []acts.Said{{Key: "revision", Value: strconv.FormatInt(target.Number, 10)}, {Key: "list", Value: list}},
	}
	text, err := act.Text()
	if err != nil {
		return fmt.Errorf("--reason, or the name of the user, cannot be written down: %w", err)
	}
	shows, err := made.shows()
	if err != nil {
		return err
	}
	shows += fmt.Sprintf("\nGo back to the images of revision %d, of release %s, until the list of images changes.\nBy %s, because: %s\n", target.Number, target.Release, act.By, act.Reason)
	return f.do(ctx, in, out, cluster, looked, request{
		name: acts.Pin, text: text, act: &act, does: does, shows: shows + replacesPin(looked.Text),
		said: fmt.Sprintf("The operator goes back to the images of revision %d. Watch it with: capstan status --watch\nTo go forth again: capstan unpin\n", target.Number),
	})
}

// codeStopped is the exit code of a plan that something would stop.
const codeStopped = 3

// refuse tells what would stop it. Nothing was written.
func (f *rollbackFlags) refuse(out io.Writer, does asked) error {
	if f.output == "json" {
		if err := terminal.JSON(out, does); err != nil {
			return err
		}
		return exit(codeStopped)
	}
	shows, err := rollbackPlan{does.Plan, does.Uncontrolled}.shows()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\nRefused: nothing was written.\n", printable(shows))
	return exit(codeStopped)
}

// target is the revision to go back to.
func (f *rollbackFlags) target(ctx context.Context, looked asking.Looked, number int64) (*history.Revision, error) {
	config, err := f.Config()
	if err != nil {
		return nil, err
	}
	reader, err := inspect.NewReader(config)
	if err != nil {
		return nil, err
	}
	known, err := reader.History(ctx, f.namespace)
	if err != nil {
		return nil, err
	}
	return targetOf(known, looked.Current, looked.Newest, number)
}

// targetOf is the revision of a number. Without one it is what is installed while a newer one is being rolled out, and else the last
// installed one before that of other images.
func targetOf(known history.History, current, newest, number int64) (*history.Revision, error) {
	if current == 0 {
		return nil, &inspect.Error{What: "no revision is installed, so that there is none to go back from", Next: "look at capstan status"}
	}
	target := known.Before(current)
	if newest > current { // what is installed is the way back from what is being rolled out
		target = known.Of(current)
	}
	if number > 0 {
		if target = known.Of(number); target == nil {
			return nil, notInHistory(known, number)
		}
	}
	switch {
	case target == nil:
		return nil, &inspect.Error{What: fmt.Sprintf("the history has no installed revision before %d", current), Next: "look at capstan history"}
	case target.Result != history.Installed:
		return nil, &inspect.Error{What: fmt.Sprintf("revision %d was never installed as a whole: it is %s", target.Number, target.Result), Next: "choose one that capstan history shows as Installed"}
	case len(target.Images()) == 0:
		return nil, &inspect.Error{What: fmt.Sprintf("revision %d has no images: it is an uninstallation", target.Number), Next: "that is what a list without images and capstan consent --uninstall are for"}
	case target.Number == newest:
		return nil, &inspect.Error{What: fmt.Sprintf("revision %d is the newest one", target.Number), Next: "to stay with it: capstan pin"}
	}
	if now := known.Of(newest); now != nil && slices.Equal(now.Images(), target.Images()) {
		return nil, &inspect.Error{What: fmt.Sprintf("revision %d has the images of revision %d, which is the newest one", target.Number, newest), Next: "to stay with them: capstan pin"}
	}
	if now := known.Of(newest); now != nil && phases.Minor(now.Release) != phases.Minor(target.Release) {
		return nil, &inspect.Error{
			What: fmt.Sprintf("revision %d is of release %s, and revision %d of %s: there is no way back to another minor release", target.Number, target.Release, newest, now.Release),
			Next: "choose one of the same",
		}
	}
	return target, nil
}

// rollbackPlan is what it would do, and what stays without its controller.
type rollbackPlan struct {
	*plan.Plan
	stays []string
}

// plan foresees what the images of a revision would do now, and says what the list of images is.
func (f *rollbackFlags) plan(ctx context.Context, target *history.Revision) (rollbackPlan, string, error) {
	look := &f.look
	look.Access, look.operatorNamespace, look.output = f.Access, f.namespace, "text"
	look.images, look.release = target.Images(), target.Release
	if err := look.validate(); err != nil {
		return rollbackPlan{}, "", err
	}
	seen, err := look.foresee(ctx)
	if err != nil {
		return rollbackPlan{}, "", err
	}
	made := seen.plan(ctx)
	// A pin that stands is no stop: this one takes its place.
	made.Stops = slices.DeleteFunc(made.Stops, func(s plan.Stop) bool { return s.What == acts.Pin })
	if seen.List == "" && seen.To != nil { // else it says already why nothing can be told
		made.Stops = append(made.Stops, plan.Stop{What: "inputs", Why: "there is no list of images, by whose change a rollback ends", Next: "have the release put ConfigMap capi-installer-images back"})
	}
	stays, err := plan.Uncontrolled(ctx, made, seen.access)
	return rollbackPlan{made, stays}, seen.List, err
}

func (p rollbackPlan) shows() (string, error) {
	var text strings.Builder
	if err := p.Write(&text, false); err != nil {
		return "", err
	}
	if len(p.stays) > 0 {
		text.WriteString("\nStays without its controller\n")
	}
	for _, line := range p.stays {
		text.WriteString("  " + line + "\n")
	}
	return text.String(), nil
}
