// Package command is the command line of capi-proxy, which is the same in the binary that serves and in capstan, which runs that
// binary in its own place. It refuses to serve anything, so that who only hands on what was asked for links no server.
package command

import (
	"context"

	"github.com/spf13/cobra"
)

// Name is the command's, and that of the binary that serves, which lies in the folder of capstan's own.
const Name = "capi-proxy"

// Flags are what was asked for.
type Flags struct {
	// Kubeconfig is a file; empty for what client-go finds.
	Kubeconfig string
	// WriteKubeconfig is a file that leads clients here, and has the token that each has to send then; empty for none.
	WriteKubeconfig string
	// Address is on loopback, HealthAddress wherever; 0 for none.
	Address, HealthAddress string
}

// Arguments are those that say the same again.
func (f *Flags) Arguments() []string {
	return []string{"--kubeconfig=" + f.Kubeconfig, "--write-kubeconfig=" + f.WriteKubeconfig, "--address=" + f.Address, "--health-address=" + f.HealthAddress}
}

// New makes the command that does what is given.
func New(run func(context.Context, *Flags) error) *cobra.Command {
	f := &Flags{}
	cmd := &cobra.Command{
		Use:   Name,
		Short: "Serves the API of private Cluster API types under their standard names until it is told to stop",
		Long: `Stands between a component of Cluster API and the API server, in the component's own pod. The component
speaks of the groups cluster.x-k8s.io; the server stores cluster.hypershift.openshift.io; every request
and answer is translated on its way. It serves plain HTTP on loopback and asks the server as the pod's
service account: what a client says of its own identity is dropped. Nothing is cached, and nothing is
kept when it ends, but the file of --write-kubeconfig.

With --write-kubeconfig it answers only to who sends the token in that file, which is in the server's
address as a password, since client-go drops a token where the server is plain HTTP. The file is there
before the proxy is ready. A proxy that begins anew keeps the token of the file; where it cannot be read,
there is another, and who has the old one gets 401 until it reads the file again. Without the flag it
answers to everybody who reaches the port.

It is ready once the server was. When it is told to stop, requests may go on for 5 s.

Exit codes: 0 if it was told to stop, 1 if it could not be started or goes on no more.`,
		Example: `  capstan capi-proxy --kubeconfig ~/.kube/config --address 127.0.0.1:8080 --health-address 127.0.0.1:8081`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account, whose token is read again every minute")
	flags.StringVar(&f.WriteKubeconfig, "write-kubeconfig", "", "`file` to write a kubeconfig to that leads here, with a token; requests without the token are refused then. Its folder should be the pod's alone, such as an emptyDir")
	flags.StringVar(&f.Address, "address", "127.0.0.1:8080", "loopback `address` to serve the API on, in plain HTTP")
	flags.StringVar(&f.HealthAddress, "health-address", ":8081", "`address` to serve /healthz, /readyz and /metrics on; 0 for none")
	return cmd
}
