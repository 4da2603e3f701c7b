// Package provider starts what watches a management plane for the machines of OpenShift clusters. It is the flat list of the binary
// capstan-provider, as package controllers is that of the operator.
package provider

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/openshiftconfig"
	"github.com/capstan-capi/capstan/controllers/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	"github.com/capstan-capi/capstan/machine"
)

// all is the flat list: one line per machine.
var all = []options.Part{
	openshiftcontrolplane.Part,
	openshiftconfig.Part,
}

// Scheme knows the kinds that are read, written and watched.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, clusterv1.AddToScheme, corev1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme,
		coordinationv1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// Kinds are those that are read from caches.
func Kinds() house.Kinds {
	var kinds house.Kinds
	for _, part := range all {
		kinds = append(kinds, part.Kinds...)
	}
	return kinds
}

// Add adds every machine to the manager.
func Add(mgr ctrl.Manager, o options.Options) error {
	for _, part := range all {
		if err := part.Add(mgr, o); err != nil {
			return fmt.Errorf("adding %s: %w", part.Name, err)
		}
	}
	return nil
}

// Calls are the alerts of all machines.
func Calls() []machine.Call {
	var calls []machine.Call
	for _, part := range all {
		calls = append(calls, part.View.Calls...)
	}
	return calls
}

// Cache keeps what is read, of one namespace or of all if that is empty. Of our own kinds it has those objects only whose label for it
// has a value, if one is given: of others nothing is known, so that nothing is done with them.
func Cache(config *rest.Config, namespace, watchFilter string) cache.Options {
	o := watched(namespace == "" && watchFilter == "").Cache(config)
	o.ReaderFailOnMissingInformer = true // else a read of any other kind would keep all of its objects
	if namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	if watchFilter == "" {
		return o
	}
	for object, by := range o.ByObject {
		if isFiltered(object) {
			by.Label = labels.SelectorFromSet(labels.Set{clusterv1.WatchLabel: watchFilter})
			o.ByObject[object] = by
		}
	}
	return o
}

// watched are the kinds as they are watched. Where that is not all of their objects, what watches send is read in the ordinary way: who reads it
// directly knows of no namespace and of no label.
func watched(wholly bool) house.Kinds {
	kinds := Kinds()
	if !wholly {
		for i := range kinds {
			kinds[i].Busy = false
		}
	}
	return kinds
}

func isFiltered(object client.Object) bool {
	switch object.(type) {
	case *v1alpha1.OpenShiftControlPlane, *v1alpha1.OpenShiftConfig:
		return true
	}
	return false
}

// Sees says whether the cache of a filter has an object.
func Sees(watchFilter string) func(client.Object) bool {
	return func(object client.Object) bool {
		return watchFilter == "" || !isFiltered(object) || object.GetLabels()[clusterv1.WatchLabel] == watchFilter
	}
}
