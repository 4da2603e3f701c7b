// Command capstan-provider has OpenShift clusters made through Cluster API: it is a control plane provider and a bootstrap provider.
// It is a binary of its own because it links Cluster API, and needs other rights than the operator that installs it.
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

// name is the binary's, and how API servers' audit logs name it.
const name = "capstan-provider"

func main() {
	cmd := root()
	err := cmd.ExecuteContext(ctrl.SetupSignalHandler())
	var code exit
	switch {
	case err == nil:
	case errors.As(err, &code):
		os.Exit(int(code))
	default:
		fmt.Fprintln(os.Stderr, name+":", message.Lines(err.Error()))
		os.Exit(1)
	}
}

// exit is an exit code that is an answer and needs no message; 0 is success.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           name,
		Short:         "Has OpenShift clusters made through Cluster API",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.AddCommand(commands()...)
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
