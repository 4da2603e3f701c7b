// Command controlplane is a whole Kubernetes control plane in one binary: its
// first argument chooses etcd, kube-apiserver, kube-controller-manager or
// kube-scheduler, and the rest are that component's own flags. It adds no flag
// and no behaviour of its own.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		refuse("no component named")
	}
	component := os.Args[1]
	os.Args = append([]string{component}, os.Args[2:]...)
	switch component {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllermanager.NewControllerManagerCommand())
	case "kube-scheduler":
		run(scheduler.NewSchedulerCommand())
	default:
		refuse(fmt.Sprintf("unknown component %q", component))
	}
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func refuse(why string) {
	fmt.Fprintf(os.Stderr, "controlplane: %s; want etcd, kube-apiserver, kube-controller-manager or kube-scheduler\n", why)
	os.Exit(2)
}
