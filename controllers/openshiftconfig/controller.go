package openshiftconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/openshiftconfig"
	phases "github.com/capstan-capi/capstan/phases/openshiftconfig"
)

// Add binds the machine to the management plane.
func Add(mgr ctrl.Manager, o options.Options) error {
	store := phases.NewStore(o.Client, table.Conditions, o.House.Now)
	o.Took(func(object client.Object, before string) {
		if config, is := object.(*v1alpha1.OpenShiftConfig); is {
			store.Took(house.KeyOf(client.ObjectKeyFromObject(config)), before, config)
		}
	})
	if err := metrics.Registry.Register(bytesMetric); err != nil {
		return fmt.Errorf("registering the metrics of Ignition configs: %w", err)
	}
	p := &phases.Phases{Client: o.Client, Live: o.Live, Published: published}
	trigger := &house.Trigger{}
	to := configs{in: mgr.GetClient(), later: trigger.After, now: o.House.Now}
	return house.Add(mgr, o.House, house.Machine[guards.Facts, phases.Works]{
		Table: table.Table, Observe: p.Observe, Store: store, Words: words, UID: uid, Side: o.Side, Trigger: trigger, Exists: exists(o.Client, p.Forget),
		Watches: []house.Watch{
			{Kind: &v1alpha1.OpenShiftConfig{}, Lets: house.Others(store.Wrote), Asks: to.itself},
			{Kind: &clusterv1.Machine{}, Lets: machineMatters, Asks: to.ofMachine},
			{Kind: &clusterv1.Cluster{}, Lets: clusterMatters, Asks: to.ofCluster},
			{Kind: options.Secret(), Lets: predicate.Funcs{}, Asks: to.ofSecret},
		},
	})
}

func uid(works phases.Works) string {
	if pass, is := works.(*phases.Pass); is && pass.Config != nil {
		return string(pass.Config.UID)
	}
	return ""
}

// exists says whether there is an object of a key, and has what is remembered of one go that there is not.
func exists(c client.Reader, forget func(machine.Key)) func(context.Context, machine.Key) (bool, error) {
	return func(ctx context.Context, key machine.Key) (bool, error) {
		err := c.Get(ctx, house.ObjectOf(key), &v1alpha1.OpenShiftConfig{}, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("looking for OpenShiftConfig %s: %w", key, err)
		}
		if err != nil {
			forget(key)
		}
		return err == nil, nil
	}
}

// words are what the machine says of a pass. Events tell only of what has failed: of a machine that is made its Machine tells enough.
func words(_ machine.Key, s phases.Snapshot) house.Words {
	of := s.Facts.Object
	w := house.Words{
		Line: s.Record.Reason, Subject: string(of.Role), Quiet: s.Record.State != guards.Failed,
		About: corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Namespace: of.Namespace, Name: of.Name},
	}
	if s.Record.Failure != nil {
		w.Line = s.Record.Failure.Message
	}
	if pass, is := s.Seen.(*phases.Pass); is && pass.Config != nil {
		w.About.UID = types.UID(uid(pass))
	}
	return w
}
