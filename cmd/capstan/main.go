// Command capstan installs and keeps Cluster API on OpenShift clusters.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	if err := root().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "capstan:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "capstan",
		Short:         "Installs and keeps Cluster API on OpenShift clusters",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(operatorCommand(), renderCommand(), lintCommand(), diagramCommand())
	return cmd
}

// version is what the Go toolchain has recorded of this build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
