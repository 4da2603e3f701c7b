// Command capstan installs and keeps Cluster API on OpenShift clusters.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	// An image from scratch has no root certificates; where a system has some, they count instead.
	_ "golang.org/x/crypto/x509roots/fallback"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capstan-capi/capstan/message"
)

func main() {
	cmd := root()
	asPlugin(cmd, os.Args)
	err := cmd.ExecuteContext(ctrl.SetupSignalHandler())
	var code exit
	switch {
	case err == nil:
	case errors.As(err, &code):
		os.Exit(int(code))
	default:
		fmt.Fprintln(os.Stderr, cmd.DisplayName()+":", message.Lines(err.Error()))
		os.Exit(1)
	}
}

// exit is an exit code that is an answer and needs no message; 0 is success.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "capstan",
		Short:         "Installs and keeps Cluster API on OpenShift clusters",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(
		operatorCommand(), webhooksCommand(), capiProxyCommand(), statusCommand(), explainCommand(), diagramCommand(),
		planCommand(), recoverCommand(), takeoverCommand(), retryCommand(), pauseCommand(), resumeCommand(), adoptCommand(), consentCommand(), historyCommand(), pinCommand(), unpinCommand(), rollbackCommand(), replayCommand(), supportCommand(), dashboardCommand(), disarmCommand(),
		renderCommand(), lintCommand(), privateCAPICommand(), manCommand(), versionCommand(),
	)
	completeNames(cmd)
	return cmd
}

// version is what the Go toolchain has recorded of this build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return releaseOf(info).Version
}
