// Command demo-runner shows Capstan at work on an embedded cluster: it installs
// real Cluster API providers, upgrades them and reports what was seen (no
// arguments), or has two parties share a definition of Cluster API (crds), or
// moves boot images (bootimages), or moves hosted clusters to private types (private), or makes a cluster of OpenShift (openshift), or installs providers and leaves the
// cluster running (up) until it is told to end it (down), or runs one for docs/tutorial.md
// (tutorial). It shows what any user could see, and decides nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const usage = `usage: demo-runner [crds | bootimages | private | openshift | up | down | tutorial]

Without an argument it installs Cluster API on an embedded cluster, upgrades it
and ends the cluster. "crds" has two parties share a definition there.
"bootimages" moves boot images there, "private" hosted clusters to private types.
"openshift" makes a cluster of OpenShift through Cluster API. "up" installs and leaves it running; "down" ends that.
"tutorial" runs a cluster for docs/tutorial.md until ctrl-c.`

func main() {
	// What client libraries say would break the display; what goes wrong is returned.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted && err != nil:
		fmt.Fprintln(os.Stderr, "interrupted; everything that was started is stopped")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo-runner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	// The other programs lie beside this one, whatever the working directory.
	bin := filepath.Dir(self)
	command := ""
	if len(arguments) > 0 {
		command = arguments[0]
	}
	switch command {
	case "":
		return demonstrate(ctx, os.Stdout, bin, filepath.Join(bin, "demo"), (*demonstration).play)
	case "crds":
		return demonstrate(ctx, os.Stdout, bin, filepath.Join(bin, "demo-crds"), (*demonstration).share)
	case "bootimages":
		return demonstrate(ctx, os.Stdout, bin, filepath.Join(bin, "demo-bootimages"), (*demonstration).moveBootImages)
	case "private":
		return demonstrate(ctx, os.Stdout, bin, filepath.Join(bin, "demo-private"), (*demonstration).moveHosted)
	case "openshift":
		return demonstrate(ctx, os.Stdout, bin, filepath.Join(bin, "demo-openshift"), (*demonstration).installOpenShift)
	case "up":
		return up(ctx, os.Stdout, bin, upFolder(bin))
	case "down":
		return down(ctx, os.Stdout, upFolder(bin))
	case "tutorial":
		return tutorial(ctx, os.Stdout, bin, filepath.Join(bin, "tutorial"))
	case serveCommand:
		return serve(ctx, arguments[1:])
	case "help", "-h", "--help":
		fmt.Println(usage)
		return nil
	default:
		return fmt.Errorf("no such command: %q\n%s", command, usage)
	}
}

func upFolder(bin string) string { return filepath.Join(bin, "up") }
