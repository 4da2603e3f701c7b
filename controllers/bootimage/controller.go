package bootimage

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	machinev1 "github.com/openshift/api/machine/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/converter"
	"github.com/capstan-capi/capstan/phases/events"
	"github.com/capstan-capi/capstan/phases/golden"
	"github.com/capstan-capi/capstan/phases/records"
)

// How records are kept, and how many targets get their passes side by side: as many as a busy API server has use for. With more,
// what was written first would be seen no earlier than what is written last. No pass waits for its attempt to be stored, so that
// all that come together are stored together.
const (
	recordsName = "capstan-bootimages"
	side        = 16
	shards      = 16
	entry       = 1 << 10
	transitions = 4
	late        = 5 * time.Second
	gather      = 50 * time.Millisecond
)

// told is how many Events tell of targets in a minute: a wave that fails has as many of one kind as there are targets.
const told = 20

// Add binds the machine to the manager's cluster.
func Add(mgr ctrl.Manager, o options.Options) error {
	if err := registerMetrics(); err != nil {
		return fmt.Errorf("registering the metrics of boot images: %w", err)
	}
	come := arrivals{}
	apart, err := apartKinds(o, come).Apart(context.Background(), mgr)
	if err != nil {
		return fmt.Errorf("reading targets: %w", err)
	}
	if err := indexed(apart.GetCache(), o); err != nil {
		return err
	}
	converts, err := converter.Beside()
	if err != nil {
		return err
	}
	log := mgr.GetLogger().WithName(table.Table.Name)
	p := &phases.Phases{
		Client: apart.GetClient(), Live: apart.GetAPIReader(), Writer: apart.GetClient(), Board: o.BootImages.Board,
		MachineAPI: o.BootImages.MachineAPI, ClusterAPI: o.BootImages.ClusterAPI, CAPINamespace: o.CAPINamespace, Stream: o.BootImages.Stream, Now: o.House.Now, Steady: o.House.Queue.Now, Convert: converts.Convert,
	}
	limit := limited(o.House.Queue, log)
	p.Blind, p.Served = apart.Unfilled, come.served
	p.Wrote, p.Contested, p.Event = wrote, hotLoopsMetric.Inc, limit.Through(o.House.Events.Tell)
	trigger := &house.Trigger{}
	p.Wake = func(key machine.Key) { trigger.After(key, 0) }
	kept := keeps(p, records.Options{Wake: p.Wake, Live: apart.GetAPIReader(), Writer: apart.GetClient(), Clock: o.House.Queue, Namespace: o.OperatorNamespace, Tell: amiss(log)})
	t := targets{Phases: p, log: log}
	o.BootImages.Board.OnNews(heard(o.BootImages.Board, o.House.Queue, func() {
		for _, key := range t.all(context.Background()) {
			trigger.After(key, 0)
		}
	}))
	o.BootImages.Board.OnRoster(func() ([]machine.Key, bool) {
		if p.Blind() != "" {
			return nil, false
		}
		keys, err := p.Keys(context.Background())
		return keys, err == nil
	})
	o.BootImages.Board.OnBlind(p.Blind)
	return house.Add(mgr, o.House, house.Machine[guards.Facts, *phases.Pass]{
		Table: table.Table, Observe: p.Observe, Exists: p.Exists, Words: words, Limit: limit, Side: side, Trigger: trigger,
		UID:     func(pass *phases.Pass) string { return pass.UID },
		Watches: t.watches(apart.GetCache(), o, come), Store: p.Store(kept, table.StandingOf),
	})
}

// limited is the limit of Events that tell of targets.
func limited(clock clock.PassiveClock, log logr.Logger) *events.Limit {
	return events.NewLimit(told, time.Minute, clock, log)
}

// indexed has targets of Cluster API found by what they depend on.
func indexed(in cache.Cache, o options.Options) error {
	if !o.BootImages.ClusterAPI {
		return nil
	}
	for _, kind := range []schema.GroupVersionKind{phases.MachineSetKind, phases.MachineDeploymentKind} {
		if err := in.IndexField(context.Background(), phases.Untyped(kind), phases.Index, phases.IndexOf); err != nil {
			return fmt.Errorf("finding %s by templates: %w", kind.Kind, err)
		}
	}
	return nil
}

// keeps has records and attempts of targets kept in ConfigMaps.
func keeps(p *phases.Phases, o records.Options) *Records {
	o.Name, o.Shards, o.Entry, o.Transitions, o.Late, o.Gather = recordsName, shards, entry, transitions, late, gather
	o.Keep, o.Worth = worth, p.Worth
	kept := records.NewConfigMaps[guards.Facts, *phases.Pass](o)
	p.Notes = kept
	return kept
}

// worth says of a record that looking again would not lead to it.
func worth(r machine.Record) bool {
	switch r.State {
	case table.UpgradingStub, table.Cloning, table.Settling, table.HotLoop, table.Failed:
		return true
	}
	return false
}

// amiss logs what is wrong with a ConfigMap of records.
func amiss(log logr.Logger) func(client.ObjectKey, string) {
	return func(configMap client.ObjectKey, what string) {
		log.Info("A ConfigMap of records is amiss", "configMap", configMap.String(), "what", what)
	}
}

// words are what the machine says of a pass. Events tell what somebody has to know of one target; of what has moved the gate tells,
// of all together.
func words(_ machine.Key, s phases.Snapshot) house.Words {
	w := house.Words{Line: table.Line(s), Subject: s.Facts.Object.String(), About: s.Seen.About(), Quiet: true}
	switch s.Record.State {
	case table.HotLoop, table.Failed, table.Skipped:
		w.Quiet = false
	}
	return w
}

// watches are what targets are looked at again for.
func (t targets) watches(in cache.Cache, o options.Options, come arrivals) []house.Watch {
	watches := []house.Watch{
		{Kind: &machinev1beta1.MachineSet{}, In: in, Lets: matters, Asks: t.set(golden.MachineSets)},
		{Kind: phases.Secret(), In: in, Lets: predicate.Funcs{}, Asks: t.startFrom},
		{Kind: definition(), Lets: predicate.Funcs{}, Asks: come.arrives},
	}
	if o.BootImages.MachineAPI {
		watches = append(watches, house.Watch{Kind: &machinev1.ControlPlaneMachineSet{}, In: in, Lets: matters, Asks: itself(golden.ControlPlaneMachineSets)})
	}
	if o.BootImages.ClusterAPI {
		watches = append(watches,
			house.Watch{Kind: phases.Untyped(phases.MachineSetKind), In: in, Lets: matters, Asks: t.set(golden.CAPIMachineSets)},
			house.Watch{Kind: phases.Untyped(phases.MachineDeploymentKind), In: in, Lets: matters, Asks: itself(golden.MachineDeployments)},
			house.Watch{Kind: phases.Untyped(phases.ClusterKind), In: in, Lets: matters, Asks: t.ofCluster},
			house.Watch{Kind: phases.Untyped(phases.AWSTemplateKind), In: in, Lets: matters, Asks: t.ofTemplate},
			house.Watch{Kind: phases.Untyped(phases.GCPTemplateKind), In: in, Lets: matters, Asks: t.ofTemplate},
		)
	}
	return watches
}

// definition is an empty CRD of which the manager's caches have the metadata.
func definition() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}}
}

// arrives has a kind looked for whose definition has come or changed. No target is looked at for it: its objects are events.
func (a arrivals) arrives(o client.Object) []machine.Key {
	if arrival := a[o.GetName()]; arrival != nil {
		arrival.Expect()
	}
	return nil
}

// served says of a kind of targets that the API server has it.
func (a arrivals) served(kind golden.Kind) bool {
	arrival := a[string(kind)]
	return arrival != nil && arrival.Served()
}
