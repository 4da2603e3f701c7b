package main

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capstan-capi/capstan/transport"
)

// kubeconfigUsage is what each command says of its flag.
const kubeconfigUsage = "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account"

// restConfig finds the management plane. Each request is bounded.
func restConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the management plane: %w", err)
	}
	config.UserAgent = name
	// The API server's own priority and fairness bounds the process better than a fixed rate would.
	config.QPS = -1
	config.Wrap(transport.Bound)
	return config, nil
}
