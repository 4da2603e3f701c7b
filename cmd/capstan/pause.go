package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/asking"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/losses"
	"github.com/capstan-capi/capstan/cmd/capstan/plan"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/acts"
)

// others is what a pause does not stop.
const others = "Boot images and CompatibilityRequirements go on by their own rules."

type pauseFlags struct {
	askFlags
	lasts  time.Duration
	reason string
}

func pauseCommand() *cobra.Command {
	f := &pauseFlags{}
	cmd := &cobra.Command{
		Use:   "pause --for DURATION --reason TEXT [OBJECT...]",
		Short: "Has the operator write nothing, or leave objects alone, for a time",
		Long: `Pauses the machine clusterapi for a time, up to 24h: it looks, and tells what differs and what is wanted by
now, and writes nothing but that. No object is applied, put right or deleted, and no revision is listed. What
was asked to go before goes on going. It ends by itself, or with capstan resume, and all is done then. Boot
images and CompatibilityRequirements go on by their own rules, and the cluster's upgrade waits.

With objects, written as Kind.group/namespace/name without what they do not have, it goes on, and leaves these
alone: they are not written, created or deleted. How they differ is told. A new revision waits at the wave of
one that is not as it wants it. Objects that are left alone already stay so, for the new time and reason.

It writes the annotation capi-operator.openshift.io/pause, or leave-alone, on ClusterAPI cluster, in your name
and by the time of the API server. That takes the rights to get and patch it and the verb pause on it, which ClusterRole
capstan-operate has. A pause that is there is replaced. It waits until the operator says that it is paused, for
which it needs the right to get ClusterOperator cluster-api.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it.

Exit codes: 0 if the operator says that it is paused, or leaves the objects alone, or the API server would take
it; 1 if not, if no revision that counts has an object, or if nobody answers within --timeout: then the act
stands all the same.`,
		Example: `  capstan pause --for 1h --reason "etcd is being moved"
  capstan pause --for 4h --reason "a hotfix" Deployment.apps/openshift-cluster-api/capi-controller-manager`,
		RunE: func(cmd *cobra.Command, objects []string) error {
			if len(objects) > 0 {
				return f.leave(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), objects)
			}
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().DurationVar(&f.lasts, "for", 0, "how long the pause lasts, up to 24h")
	cmd.Flags().StringVar(&f.reason, "reason", "", "`text` that says why, in one line")
	return cmd
}

// asked is what a command that asks for something would do or has done; its JSON is what -o json prints.
type asked struct {
	Does string `json:"does"`
	// By, At, Until and Reason are those of the act.
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Revision is the number of the one that it is about.
	Revision int64 `json:"revision,omitempty"`
	// Objects are those that it is about, none for all.
	Objects []string `json:"objects,omitempty"`
	// Changes are the fields that it would change.
	Changes []string `json:"changes,omitempty"`
	// Losses are what would be lost, Carried the lines about what is consented to already and stays so; Digest tells all of
	// that from all else.
	Losses  []losses.Loss `json:"losses,omitempty"`
	Carried []string      `json:"carried,omitempty"`
	Digest  string        `json:"digest,omitempty"`
	// Uninstall is what a revision would end.
	Uninstall *losses.Uninstall `json:"uninstall,omitempty"`
	// Replaces is the text of the act that is there.
	Replaces string `json:"replaces,omitempty"`
	// Plan is what a rollback would do; Uncontrolled names what stays of it without its controller.
	Plan         *plan.Plan `json:"plan,omitempty"`
	Uncontrolled []string   `json:"uncontrolled,omitempty"`
	// Done says that it is written, Confirmed that the operator says so.
	Done      bool `json:"done"`
	Confirmed bool `json:"confirmed"`
	// Paused says who has paused the operator until when, empty if nobody has or that is what it is about.
	Paused string `json:"paused,omitempty"`
	// Undo is the command that takes it back.
	Undo string `json:"undo,omitempty"`
}

// check refuses what no act could say.
func (f *pauseFlags) check(act string) error {
	form, _ := acts.FormOf(act)
	switch {
	case f.lasts < time.Second || f.lasts > form.Longest:
		return fmt.Errorf("--for is %s, and can be 1s to %s", f.lasts, form.Longest)
	case f.reason == "":
		return errors.New("--reason is missing: say why, for those who find it paused")
	}
	return f.validate()
}

func (f *pauseFlags) run(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.check(acts.Pause); err != nil {
		return err
	}
	cluster, looked, err := f.look(ctx, acts.Pause)
	if err != nil {
		return err
	}
	act := acts.Act{Name: acts.Pause, By: looked.By, At: looked.At, Until: looked.At.Add(f.lasts).Truncate(time.Second), Reason: f.reason}
	text, err := act.Text()
	if err != nil {
		return fmt.Errorf("--reason, or the name of the user, cannot be written down: %w", err)
	}
	does := asked{Does: "pause", By: act.By, At: act.At, Until: act.Until, Reason: act.Reason, Replaces: looked.Text, Undo: "capstan resume"}
	shows := fmt.Sprintf("Pause what Capstan does to Cluster API until %s (%s).\nBy %s, because: %s\n%s\n",
		machine.Moment(act.Until), f.lasts, act.By, act.Reason, others)
	return f.do(ctx, in, out, cluster, looked, request{
		name: acts.Pause, text: text, act: &act, does: does, shows: shows + replaces(looked.Text),
		said: fmt.Sprintf("Paused until %s. To end that before: capstan resume\n", machine.Moment(act.Until)),
	})
}

// replaces tells of a pause that is there.
func replaces(text string) string {
	if text == "" {
		return ""
	}
	act, err := acts.Read(acts.Pause, text)
	if err != nil {
		return fmt.Sprintf("It takes the place of one that is void: %v\n", err)
	}
	return fmt.Sprintf("It takes the place of the one by %s until %s: %s\n", act.By, machine.Moment(act.Until), act.Reason)
}

func resumeCommand() *cobra.Command {
	f := &askFlags{}
	cmd := &cobra.Command{
		Use:   "resume [OBJECT...]",
		Short: "Ends a pause before its time",
		Long: `Takes the annotation capi-operator.openshift.io/pause off ClusterAPI cluster, whoever has put it there, and waits
until the operator says that it goes on. With objects, it takes these off annotation leave-alone in its place, so
that they are put right at once; the others stay as they are until their end. It takes the rights to get and patch ClusterAPI cluster and the verb
pause on it, which ClusterRole capstan-operate has, and to get ClusterOperator cluster-api.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it.

Exit codes: 0 if nothing is paused any more, or the API server would take it; 1 if not, or if nobody answers
within --timeout.`,
		Example: `  capstan resume --yes`,
		RunE: func(cmd *cobra.Command, objects []string) error {
			if len(objects) > 0 {
				return f.release(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), objects)
			}
			return f.resume(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *askFlags) resume(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := f.validate(); err != nil {
		return err
	}
	cluster, looked, err := f.look(ctx, acts.Pause)
	if err != nil {
		return err
	}
	does := asked{Does: "resume", By: looked.By, At: looked.At, Replaces: looked.Text}
	if looked.Text == "" {
		if f.output == "json" {
			return terminal.JSON(out, does)
		}
		fmt.Fprintln(out, "Nothing to do: nobody has paused it.")
		return nil
	}
	shows := "Take back what pauses Capstan, which is void already.\n"
	if act, err := acts.Read(acts.Pause, looked.Text); err == nil {
		shows = fmt.Sprintf("End the pause by %s since %s, which would last until %s: %s\n", act.By, machine.Moment(act.At), machine.Moment(act.Until), act.Reason)
		if left := act.Until.Sub(looked.At); left >= time.Second {
			does.Undo = fmt.Sprintf("capstan pause --for %s --reason %s", left, message.ShellWord(act.Reason))
		}
	}
	return f.do(ctx, in, out, cluster, looked, request{
		name: acts.Pause, does: does, shows: shows,
		said: "Nothing is paused any more. To pause it again: " + cmp.Or(does.Undo, "capstan pause --for 1h --reason TEXT") + "\n",
	})
}

// request is one act that is to be written, or taken away, with what people are told of it.
type request struct {
	name, text  string
	word        string    // of another attempt, which is asked for in place of an act
	act         *acts.Act // nil: it is taken away
	objects     []string  // that are named, and have to be known
	does        asked
	shows, said string
	// still says what is not as it was shown any more, right before anything is written; nil if nothing can change.
	still func() error
}

// answered has an act be asked for when somebody has agreed, which may be long after it was shown. Its end stays as shown.
func (r *request) answered(at time.Time) error {
	if r.act == nil {
		return nil
	}
	if !r.act.Until.IsZero() && !at.Before(r.act.Until) {
		return &inspect.Error{What: "its end, " + machine.Moment(r.act.Until) + ", came before the answer, and nothing was written", Next: "run it again"}
	}
	r.act.At, r.does.At = at, at
	text, err := r.act.Text()
	if err != nil {
		return fmt.Errorf("what is asked for cannot be written down: %w", err)
	}
	r.text = text
	return nil
}

// do shows, asks, writes and waits.
func (f *askFlags) do(ctx context.Context, in io.Reader, out io.Writer, cluster *asking.Cluster, looked asking.Looked, r request) error {
	tell := out
	if f.output == "json" {
		tell = io.Discard
	}
	fmt.Fprint(tell, printable(r.shows))
	write := func(try bool) error {
		if r.word != "" {
			return cluster.Again(ctx, r.word, try)
		}
		return cluster.Write(ctx, looked, r.name, r.text, try)
	}
	if f.dryRun {
		if err := write(true); err != nil {
			return err
		}
		fmt.Fprintln(tell, "\nNothing was changed. To do it, leave out --dry-run.")
		return f.json(out, r.does)
	}
	if !f.yes {
		if err := agreed(in, out); err != nil {
			return err
		}
		now, err := cluster.Look(ctx, r.name)
		if err != nil {
			return err
		}
		if err := r.answered(now.At); err != nil {
			return err
		}
	}
	if r.still != nil {
		if err := r.still(); err != nil {
			return err
		}
	}
	if err := write(false); err != nil {
		return err
	}
	r.does.Done = true
	err := cluster.Wait(ctx, asking.Asked{Name: r.name, Act: r.act, Objects: r.objects, Word: r.word}, f.timeout)
	if r.does.Confirmed = err == nil; err == nil {
		fmt.Fprint(tell, "\n"+printable(r.said))
	}
	if printed := f.json(out, r.does); printed != nil {
		return printed
	}
	return err
}
