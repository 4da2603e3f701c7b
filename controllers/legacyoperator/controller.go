// Package legacyoperator watches what the machine legacyoperator looks at and fires it. It decides
// nothing: there is no question about the state here.
package legacyoperator

import (
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/legacyoperator"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/legacyoperator"
	"github.com/capstan-capi/capstan/phases/capiboard"
	phases "github.com/capstan-capi/capstan/phases/legacyoperator"
	"github.com/capstan-capi/capstan/phases/status"
)

// key is the only instance: there is one old operator.
const key = machine.Key("cluster")

var show = view.Singleton(view.TableOf(table.Table), phases.ClusterOperator, table.Needed, table.Removed)

// Part is what the machine legacyoperator brings to the house.
var Part = options.Part{
	Name: table.Table.Name, Add: Add, Kinds: kinds, View: &show, ClusterOperator: phases.ClusterOperator,
	Runs: func(o options.Options) bool {
		return o.PrivateCAPI.Runs() && o.PrivateCAPI.LegacyOperator.Name != ""
	},
}

func kinds(o options.Options) []house.Kind {
	return []house.Kind{
		{
			Version: appsv1.SchemeGroupVersion, Object: &appsv1.Deployment{}, List: &appsv1.DeploymentList{}, Namespaced: true,
			Only: []client.ObjectKey{o.PrivateCAPI.LegacyOperator},
		},
		{
			Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, List: &corev1.ConfigMapList{}, Namespaced: true,
			Only: []client.ObjectKey{{Namespace: o.OperatorNamespace, Name: capiboard.Programme}},
		},
		{
			Version: configv1.GroupVersion, Object: &configv1.ClusterOperator{}, List: &configv1.ClusterOperatorList{},
			Only: []client.ObjectKey{{Name: phases.ClusterOperator}},
		},
	}
}

// Add binds the machine to the manager's cluster.
func Add(mgr ctrl.Manager, o options.Options) error {
	operators, err := configclient.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making the client of ClusterOperators: %w", err)
	}
	board, old := o.PrivateCAPI.Board, o.PrivateCAPI.LegacyOperator
	p := &phases.Phases{Client: mgr.GetClient(), Board: board, Namespace: o.OperatorNamespace, Deployment: old, Now: o.House.Now}
	about := corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: old.Namespace, Name: old.Name}
	trigger := &house.Trigger{First: []machine.Key{key}}
	board.Judge()
	board.OnNews(func() { trigger.After(key, 0) })
	store := status.New(status.Config[guards.Facts, phases.Works]{
		Table: table.Table, Operator: phases.ClusterOperator, Tell: status.Plain(table.Table, about),
		Client: mgr.GetClient(), Operators: operators.ClusterOperators(), Event: o.House.Events.Tell, Now: o.House.Now,
		Log: mgr.GetLogger().WithName(table.Table.Name),
	})
	return house.Add(mgr, o.House, house.Machine[guards.Facts, phases.Works]{
		Table: table.Table, Observe: p.Observe, Trigger: trigger, Watches: watches(o),
		Words: func(_ machine.Key, s phases.Snapshot) house.Words {
			return house.Words{Line: status.Line(s.Record), About: about}
		},
		Store: p.Store(store, table.Needed),
	})
}

func watches(o options.Options) []house.Watch {
	old := predicate.NewPredicateFuncs(func(of client.Object) bool { return client.ObjectKeyFromObject(of) == o.PrivateCAPI.LegacyOperator })
	return []house.Watch{
		{Kind: &appsv1.Deployment{}, Lets: old, Asks: house.Always(key)},
		{Kind: &corev1.ConfigMap{}, Lets: house.Named(capiboard.Programme), Asks: house.Always(key)},
		{Kind: &configv1.ClusterOperator{}, Lets: house.Named(phases.ClusterOperator), Asks: house.Always(key)},
	}
}
