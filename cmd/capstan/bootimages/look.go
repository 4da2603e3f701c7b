package bootimages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/bootgate"
	"github.com/capstan-capi/capstan/controllers/bootimage"
	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/controllers/view"
	gateguards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	gatetable "github.com/capstan-capi/capstan/machine/bootgate"
	imagetable "github.com/capstan-capi/capstan/machine/bootimage"
	"github.com/capstan-capi/capstan/phases/bootboard"
	gatephases "github.com/capstan-capi/capstan/phases/bootgate"
	imagephases "github.com/capstan-capi/capstan/phases/bootimage"
)

// Options say where to look, and by which flags of the operator.
type Options struct {
	OperatorNamespace, CAPINamespace, Lease string
	// Settings are judged by where no operator has published its own, and APIs in any case, unless they are none.
	Settings gatephases.Settings
	APIs     []string
	Now      func() time.Time
}

// Look is one look at a cluster.
type Look struct {
	Options
	// Published says that the settings are the operator's own.
	Published bool

	from     *reader
	operator *configv1.ClusterOperator
	// record is what the operator has published of the gate, problem why there is none, and detail what stands beside it; at is
	// when it was written last.
	record  machine.Record
	problem string
	detail  gatephases.Detail
	at      time.Time
	lease   lease

	images  *imagephases.Phases
	records *bootimage.Records
	facts   gateguards.Facts
	gate    *gatephases.Pass
	verdict bootboard.Verdict
	targets []*target
}

// lease is who works, as far as can be told.
type lease struct {
	object *coordinationv1.Lease
	err    error
}

// At looks at a cluster.
func At(ctx context.Context, config *rest.Config, o Options) (*Look, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server's own priority and fairness bounds it better
	kinds := kindsRead()
	mapper, err := kinds.Mapper(nil, nil)
	if err != nil {
		return nil, err
	}
	live, err := client.New(config, client.Options{Scheme: kinds.Scheme(), Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	look, err := lookBy(ctx, newReader(live, config.Host), o)
	// What was asked for in vain says more than who asked for it.
	var told *inspect.Error
	if errors.As(err, &told) {
		return nil, told
	}
	return look, err
}

// kindsRead are those that are read; the client knows no others, and asks the API server for none.
func kindsRead() house.Kinds {
	all := options.Options{BootImages: options.BootImages{MachineAPI: true, ClusterAPI: true}}
	lease := house.Kind{Version: coordinationv1.SchemeGroupVersion, Object: &coordinationv1.Lease{}, List: &coordinationv1.LeaseList{}, Namespaced: true}
	return slices.Concat(bootgate.Kinds(all), bootimage.Kinds(all), house.Kinds{lease})
}

func lookBy(ctx context.Context, from *reader, o Options) (*Look, error) {
	l := &Look{Options: o, from: from}
	if err := l.readPublished(ctx); err != nil {
		return nil, err
	}
	l.readLease(ctx)
	board := bootboard.New()
	by := options.Options{OperatorNamespace: o.OperatorNamespace, CAPINamespace: o.CAPINamespace, BootImages: options.BootImages{
		MachineAPI: l.looksAfter(gatephases.MachineAPI), ClusterAPI: l.looksAfter(gatephases.ClusterAPI), GCPProject: l.Settings.GCPProject,
		Stream: l.Settings.Stream, Limits: l.Settings.Limits, RollsOutBefore: l.Settings.RollsOutBefore, Board: board,
	}}
	gate, err := bootgate.Looking(from, by, o.Now)
	if err != nil {
		return nil, err
	}
	if err := l.observeGate(ctx, gate, board); err != nil {
		return nil, err
	}
	l.images, l.records = bootimage.Looking(from, by, o.Now)
	if err := l.lookAtTargets(ctx, board); err != nil {
		return nil, err
	}
	// Sums and skew follow from how targets stand, so the gate looks once more.
	return l, l.observeGate(ctx, gate, board)
}

func (l *Look) looksAfter(api string) bool { return slices.Contains(l.Settings.APIs, api) }

func (l *Look) observeGate(ctx context.Context, gate *gatephases.Phases, board *bootboard.Board) error {
	var err error
	if l.facts, l.gate, err = gate.Observe(ctx, gatephases.Configuration); err != nil {
		return err
	}
	l.verdict = l.gate.Verdict()
	board.Post(l.verdict)
	return nil
}

// readPublished reads what the operator has published of the gate, and by which settings.
func (l *Look) readPublished(ctx context.Context) error {
	get := func(ctx context.Context, _ schema.GroupVersionResource, _, namespace, name string, into any) (bool, error) {
		object, is := into.(client.Object)
		if !is {
			return false, fmt.Errorf("a %T cannot be read", into)
		}
		err := l.from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
		return err == nil, client.IgnoreNotFound(err)
	}
	var err error
	if l.operator, err = view.Operator(ctx, get, gatephases.ClusterOperator); err != nil {
		return err
	}
	l.record, l.problem = view.Published(view.TableOf(gatetable.Table), gatephases.ClusterOperator, l.operator, &l.detail)
	if l.operator != nil {
		l.at = lastWritten(l.operator, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" })
	}
	if len(l.detail.Settings.APIs) > 0 {
		l.Published, l.Settings = true, l.detail.Settings
	}
	if len(l.APIs) > 0 {
		l.Published, l.Settings.APIs = false, l.APIs
	}
	return nil
}

func (l *Look) readLease(ctx context.Context) {
	object := &coordinationv1.Lease{}
	if l.lease.err = l.from.Get(ctx, client.ObjectKey{Namespace: l.OperatorNamespace, Name: l.Lease}, object); l.lease.err == nil {
		l.lease.object = object
	}
}

// lookAtTargets looks at all, and has each stand on the board: who starts from one stub, or is a twin, concerns others.
func (l *Look) lookAtTargets(ctx context.Context, board *bootboard.Board) error {
	keys, err := l.images.Keys(ctx)
	if err != nil {
		return err
	}
	slices.Sort(keys)
	board.OnRoster(func() ([]machine.Key, bool) { return keys, true })
	for _, key := range keys {
		t, err := l.lookAt(ctx, key)
		if err != nil {
			return err
		}
		if t != nil {
			l.targets = append(l.targets, t)
			board.Stand(key, imagephases.Stands(t.shot, imagetable.StandingOf))
		}
	}
	// Whether one counts follows from how its twin stands.
	for _, t := range l.targets {
		again, err := l.lookAt(ctx, t.key)
		if err != nil || again == nil {
			return err
		}
		*t = *again
		t.standing = imagephases.Stands(t.shot, imagetable.StandingOf)
		board.Stand(t.key, t.standing)
	}
	return nil
}
