package openshiftcontrolplane

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/controllers/provider/options"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/phases/openshiftcontrolplane/joint"
)

// infrastructure watches infrastructure machines, by their metadata, of whatever kinds control planes have. A kind is watched from the
// first pass on that may make a machine of it: before, it need not be served. If that cannot be, the next pass tries again; what a
// provider says of its machines Cluster API tells of their Machines, too.
type infrastructure struct {
	in     cache.Cache
	mapper meta.RESTMapper
	// asks has passes made for an object.
	asks func(client.Object)
	log  logr.Logger

	mu      sync.Mutex
	watched map[schema.GroupKind]bool
}

type observe func(context.Context, machine.Key) (guards.Facts, phases.Works, error)

// before has the kinds of a control plane watched that a look has seen.
func (i *infrastructure) before(look observe) observe {
	return func(ctx context.Context, key machine.Key) (guards.Facts, phases.Works, error) {
		facts, works, err := look(ctx, key)
		pass, is := works.(*joint.Pass)
		if err != nil || !is || pass.Plane() == nil || facts.Reached().Inputs == "" {
			return facts, works, err
		}
		for _, kind := range machineKinds(pass.Plane()) {
			if err := i.watch(ctx, kind); err != nil {
				i.log.Info("Infrastructure machines are not watched yet", "kind", kind.String(), "error", machine.Shorten(err.Error(), machine.MaxMessage))
			}
		}
		return facts, works, nil
	}
}

// machineKinds are those that the templates of a control plane are of.
func machineKinds(plane *v1alpha1.OpenShiftControlPlane) []schema.GroupKind {
	refs := []clusterv1.ContractVersionedObjectReference{plane.Spec.MachineTemplate.Spec.InfrastructureRef}
	if own := plane.Spec.BootstrapMachine.InfrastructureRef; own != nil {
		refs = append(refs, *own)
	}
	var kinds []schema.GroupKind
	for _, ref := range refs {
		kinds = append(kinds, schema.GroupKind{Group: ref.APIGroup, Kind: strings.TrimSuffix(ref.Kind, clusterv1.TemplateSuffix)})
	}
	return kinds
}

// watch begins to watch a kind, unless somebody does or has begun to.
func (i *infrastructure) watch(ctx context.Context, kind schema.GroupKind) error {
	if !i.mark(kind, true) {
		return nil
	}
	err := i.begin(ctx, kind)
	if err != nil {
		i.mark(kind, false)
	}
	return err
}

// mark notes whether a kind is watched, and says whether that was otherwise before.
func (i *infrastructure) mark(kind schema.GroupKind, is bool) (changed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	changed = i.watched[kind] != is
	i.watched[kind] = is
	return changed
}

func (i *infrastructure) begin(ctx context.Context, kind schema.GroupKind) error {
	mapping, err := i.mapper.RESTMapping(kind)
	if err != nil {
		return fmt.Errorf("looking for the kind: %w", err)
	}
	informer, err := i.in.GetInformer(ctx, options.MetadataOf(mapping.GroupVersionKind), cache.BlockUntilSynced(false))
	if err == nil {
		_, err = informer.AddEventHandler(i.handler())
	}
	if err != nil {
		return fmt.Errorf("watching it: %w", err)
	}
	return nil
}

// handler asks for passes for what comes, goes, and changes in more than its status.
func (i *infrastructure) handler() toolscache.ResourceEventHandler {
	ask := func(object any) {
		if gone, unseen := object.(toolscache.DeletedFinalStateUnknown); unseen {
			object = gone.Obj
		}
		if o, is := object.(client.Object); is {
			i.asks(o)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: ask, DeleteFunc: ask,
		UpdateFunc: func(before, now any) {
			was, is := before.(*metav1.PartialObjectMetadata)
			o, are := now.(*metav1.PartialObjectMetadata)
			if !is || !are || !equality.Semantic.DeepEqual(standingOf(was), standingOf(o)) {
				ask(now)
			}
		},
	}
}

func standingOf(o *metav1.PartialObjectMetadata) any {
	return []any{o.UID, o.Generation, o.Labels, o.OwnerReferences, o.Finalizers, o.DeletionTimestamp}
}
