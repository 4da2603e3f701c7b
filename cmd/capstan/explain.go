package main

import (
	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/terminal"
	"github.com/capstan-capi/capstan/controllers"
)

func explainCommand() *cobra.Command {
	target := inspect.Target{Views: controllers.Views()}
	var from fromFlag
	var output string
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Explains where in the state machine a cluster is, and how it can get out of there",
		Long: `Explains where in the state machine a cluster is and what that means, by which moves it came
there, and for each move that can leave: what it asks, what the answer is now and why, and at which
moment time alone will make it.

It reads ClusterAPI cluster and ClusterOperator cluster-api, and needs only the right to get these two;
with --machine compatibility the CompatibilityRequirement that --key names. The status of that has no room
for the answers, so the moves are told without them. With --from it reads an archive of capstan support as if it
were the cluster, as it was then.`,
		Example: `  capstan explain
  capstan explain -o json | jq '.moves[] | select(.answer != "Yes")'
  capstan explain --machine compatibility --key my-widgets
  capstan explain --from capstan-support.tar.gz
  capstan explain boot-images machineset/worker`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := terminal.CheckOutput(output); err != nil {
				return err
			}
			now, err := from.use(&target)
			if err != nil {
				return err
			}
			view, err := target.Look(cmd.Context())
			if err != nil {
				return err
			}
			explanation, err := view.Explain()
			if err != nil {
				return err
			}
			return terminal.Tell(cmd.OutOrStdout(), output, explanation, now())
		},
	}
	cmd.AddCommand(bootImagesExplainCommand())
	target.Flags(cmd.Flags())
	from.add(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "text", "what to print: `text` or json")
	return cmd
}
