package main

import (
	"github.com/spf13/cobra"

	"github.com/capstan-capi/capstan/cmd/manual"
)

// commands is the flat list: one line for what runs on a cluster, one for what people type.
func commands() []*cobra.Command {
	return []*cobra.Command{
		managerCommand(), collectCommand(), createCommand(), applyCommand(), watchCommand(), explainCommand(), manual.Command(name, "create", nil),
	}
}
