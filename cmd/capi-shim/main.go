// Command capi-shim converts the private Cluster API types of hosted clusters between their versions, and has their webhooks asked
// in standard text. It is a binary of its own because it links Cluster API, which the operator does not need.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	// An image from scratch has no root certificates; where a system has some, they count instead.
	_ "golang.org/x/crypto/x509roots/fallback"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	if err := command().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "capi-shim:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "capi-shim",
		Short: "Converts the private Cluster API types of hosted clusters until it is told to stop",
		Long: `Answers API servers about objects of the private Cluster API types, whose definitions and webhook configurations
capstan private-capi manifests makes:

  /convert                 converts the kinds of Cluster API and of its kubeadm providers, by the packages of
                           Cluster API that are linked
  /convert/ROUTE/PATH      has the server of a route convert at PATH
  /admit/ROUTE/PATH        has the server of a route admit at PATH

These servers are the providers' own webhooks. They are asked, and answer, in standard text. A route that does not
answer is tried three times within two seconds; what nobody answers is refused.

The route file has a list of routes, each with a name, the url of a server, and caFile with the certificates that
it is trusted by. It is read again when it changes.

It holds no Lease, since every replica serves, writes nothing, and reads nothing of a cluster but the names and
labels of CustomResourceDefinitions: the version of the contract that references need is in these labels.

When it is told to stop it says that it is not ready, goes on serving for --drain, and then ends.

Exit codes: 0 if it was told to stop, 1 if it could not be started or goes on no more.`,
		Example:       `  capi-shim --kubeconfig ~/.kube/config --cert-dir ./certificates --routes routes.yaml --metrics-address=0`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	f.add(cmd.Flags())
	return cmd
}
