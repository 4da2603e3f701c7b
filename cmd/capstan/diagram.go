package main

import (
	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	machine "github.com/capstan-capi/capstan/machine/clusterapi"
)

func diagramCommand() *cobra.Command {
	var access inspect.Access
	var live bool
	cmd := &cobra.Command{
		Use:   "diagram",
		Short: "Prints the state machine as a Mermaid diagram",
		Long: `Prints the state machine as a Mermaid diagram. With --live the state that the cluster is in has a
thick border, the states that it came through a dashed one, and the moves that led there are numbered.
That needs the right to get ClusterAPI cluster and ClusterOperator cluster-api; without --live no
cluster is needed.`,
		Example: `  capstan diagram > machine.mmd
  capstan diagram --live --context prod`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !live {
				cmd.Print(machine.Table.Diagram(""))
				return nil
			}
			view, err := access.Look(cmd.Context())
			if err != nil {
				return err
			}
			text, err := view.Diagram()
			if err != nil {
				return err
			}
			cmd.Print(text)
			return nil
		},
	}
	access.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&live, "live", false, "mark where a cluster is and how it came there")
	return cmd
}
