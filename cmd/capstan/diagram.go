package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers"
)

func diagramCommand() *cobra.Command {
	target := inspect.Target{Views: controllers.Views()}
	var live bool
	cmd := &cobra.Command{
		Use:   "diagram",
		Short: "Prints the state machine as a Mermaid diagram",
		Long: `Prints the state machine as a Mermaid diagram. With --live the state that the cluster is in has a
thick border, the states that it came through a dashed one, and the moves that led there are numbered.
That needs the right to get ClusterAPI cluster and ClusterOperator cluster-api, or with --machine
compatibility the CompatibilityRequirement that --key names; without --live no cluster is needed.`,
		Example: `  capstan diagram > machine.mmd
  capstan diagram --live --context prod
  capstan diagram --live --machine compatibility --key my-widgets`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !live && target.Key != "":
				return errors.New("--key names what to look at, which is done with --live only")
			case !live:
				view, err := target.View()
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(cmd.OutOrStdout(), view.Table.Diagram(""))
				return err
			}
			view, err := target.Look(cmd.Context())
			if err != nil {
				return err
			}
			text, err := view.Diagram()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text) // Print of a command is for its errors
			return err
		},
	}
	target.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&live, "live", false, "mark where a cluster is and how it came there")
	return cmd
}
