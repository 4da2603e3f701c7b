// Package controllers starts what watches the cluster and fires the machines.
package controllers

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/controllers/clusteroperator"
	"github.com/capstan-capi/capstan/controllers/options"
)

// all is the flat list: one line per machine.
var all = []func(ctrl.Manager, options.Options) error{
	clusterapi.Add,
	clusteroperator.Add,
}

// Add adds every controller to the manager.
func Add(mgr ctrl.Manager, o options.Options) error {
	for _, add := range all {
		if err := add(mgr, o); err != nil {
			return fmt.Errorf("adding a controller: %w", err)
		}
	}
	return nil
}
