// Package controllers starts what watches the cluster and fires the machines,
// and tells commands what machines there are.
package controllers

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capstan-capi/capstan/controllers/bootgate"
	"github.com/capstan-capi/capstan/controllers/bootimage"
	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/controllers/clusteroperator"
	"github.com/capstan-capi/capstan/controllers/compatibility"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/legacyoperator"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/privatecapi"
	"github.com/capstan-capi/capstan/controllers/scrape"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/capiboard"
)

// all is the flat list: one line per machine. Commands look at the first one unless they are told otherwise.
var all = []options.Part{
	clusterapi.Part,
	clusteroperator.Part,
	scrape.Part,
	compatibility.Part,
	bootgate.Part,
	bootimage.Part,
	privatecapi.Part,
	legacyoperator.Part,
}

// running are those that the options ask for.
func running(o options.Options) []options.Part {
	return slices.DeleteFunc(slices.Clone(all), func(part options.Part) bool { return !part.RunsBy(o) })
}

// Add adds every controller to the manager.
func Add(mgr ctrl.Manager, o options.Options) error {
	o = known(o)
	for _, part := range running(o) {
		if err := part.Add(mgr, o); err != nil {
			return fmt.Errorf("adding %s: %w", part.Name, err)
		}
	}
	return nil
}

// Kinds are those of all controllers, and the house's own.
func Kinds(o options.Options) house.Kinds {
	kinds := house.Kinds{{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true, Uncached: true}}
	for _, part := range running(o) {
		kinds = append(kinds, part.Kinds(known(o))...)
	}
	return kinds
}

// Views are what commands show of the machines.
func Views() []view.View {
	var views []view.View
	for _, part := range all {
		if part.View != nil {
			views = append(views, *part.View)
		}
	}
	return views
}

// known adds to the options what the controllers know of each other.
func known(o options.Options) options.Options {
	o.ClusterOperators, o.ConditionParts = nil, nil
	if o.BootImages.Board == nil {
		o.BootImages.Board = bootboard.New()
	}
	if o.PrivateCAPI.Board == nil {
		o.PrivateCAPI.Board = capiboard.New()
	}
	for _, part := range running(o) {
		if part.View != nil {
			o.ConditionParts = append(o.ConditionParts, part.View.Table.Parts...)
		}
		if name := part.ClusterOperator; name != "" && !slices.Contains(o.ClusterOperators, name) {
			o.ClusterOperators = append(o.ClusterOperators, name)
		}
	}
	return o
}
