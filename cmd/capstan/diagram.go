package main

import (
	"github.com/spf13/cobra"

	machine "github.com/capstan-capi/capstan/machine/clusterapi"
)

func diagramCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diagram",
		Short: "Prints the state machine as a Mermaid diagram",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { cmd.Print(machine.Table.Diagram("")) },
	}
}
