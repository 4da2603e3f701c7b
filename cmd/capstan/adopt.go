package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

type adoptFlags struct {
	askFlags
	reason string
}

func adoptCommand() *cobra.Command {
	f := &adoptFlags{}
	cmd := &cobra.Command{
		Use:   "adopt --reason TEXT OBJECT",
		Short: "Lets the operator take over an object that is in its way",
		Long: `Lets the newest revision take over one object that exists and that nobody marked as the operator's, as if its
manifest said adopt-existing: always. The object is written as Kind.group/namespace/name, without what it does not
have. It shows first which fields would change, and who holds them, by what the operator has told.

It is about that very object, by its UID, and that revision. An object that a controller has, that belongs to
another installation, that is outside the providers' namespaces, or that is a CustomResourceDefinition is
refused, and the way out is named.

It writes the annotation capi-operator.openshift.io/adopt on ClusterAPI cluster, in your name and by the time of
the API server. That takes the rights to get and patch it and the verb adopt on it, which ClusterRole
capstan-admin has, and to get ClusterOperator cluster-api. It waits until the operator says that the object is
not in its way any more.

On a terminal it asks before it does so; without one it wants --yes. --dry-run shows what it would do, and
whether the API server would take it.

Exit codes: 0 if the operator says so, or the API server would take it; 1 if not, or if nobody answers within
--timeout: then the act stands all the same.`,
		Example: `  capstan adopt --reason "made by hand last year" ConfigMap/openshift-cluster-api/settings`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, objects []string) error {
			return f.adopt(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), objects)
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.reason, "reason", "", "`text` that says why, in one line")
	return cmd
}

// adopt asks to adopt an object, besides those that are to be adopted for the same revision.
func (f *adoptFlags) adopt(ctx context.Context, in io.Reader, out io.Writer, objects []string) error {
	objects, err := named(objects)
	switch {
	case err != nil:
		return err
	case f.reason == "":
		return errors.New("--reason is missing: say why, for those who find it adopted")
	}
	if err := f.validate(); err != nil {
		return err
	}
	cluster, looked, err := f.look(ctx, acts.Adopt)
	if err != nil {
		return err
	}
	object := objects[0]
	taken, revision, err := cluster.Taken(ctx, object)
	if err != nil {
		return err
	}
	act := acts.Act{Name: acts.Adopt, By: looked.By, At: looked.At, Reason: f.reason, Items: []acts.Said{
		{Key: "revision", Value: fmt.Sprint(revision)}, {Key: "object", Value: object + " " + taken.UID},
	}}
	if before, counts := stands(acts.Adopt, looked.Text, looked.At); counts && before.Revision() == revision {
		for _, item := range before.Items {
			if o := acts.ObjectOf(item.Value); item.Key == "object" && o.String() != object {
				act.Items = append(act.Items, item)
			}
		}
	}
	text, err := act.Text()
	if err != nil {
		return fmt.Errorf("what is asked for cannot be written down: %w", err)
	}
	undo := fmt.Sprintf("kubectl annotate clusterapi %s %s-", phases.Singleton, acts.AdoptAct)
	fields := slices.Clone(taken.Changes)
	if len(fields) == 0 {
		fields = []string{"none but the marks of the operator"}
	}
	return f.do(ctx, in, out, cluster, looked, request{
		name: acts.Adopt, text: text, act: &act, objects: objects,
		does: asked{Does: "adopt", By: act.By, At: act.At, Reason: act.Reason, Objects: objects, Changes: taken.Changes, Replaces: looked.Text, Undo: undo},
		shows: fmt.Sprintf("Let revision %d adopt %s (UID %s), which belongs to %s.\nBy %s, because: %s\nFields that would change:\n%s",
			revision, object, taken.UID, taken.Holder, act.By, act.Reason, listed(fields)),
		said: fmt.Sprintf("%s is not in the operator's way any more: it is adopted in its turn. Until then this takes it back: %s\n", object, undo),
	})
}
