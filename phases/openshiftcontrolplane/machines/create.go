package machines

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// CreateMachines makes the bootstrap Machine, if it may be made, and those of the control plane, and makes whole what is half made.
// One that meets an error holds no other one up, but where machines are asked for one after the other.
func (s *Seen) CreateMachines(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil || s.look.Cluster == nil {
		return machine.Result{}, nil
	}
	if err := s.Hold(ctx); err != nil {
		return machine.Result{}, err
	}
	d := &doing{waits: s.unread != nil}
	s.keep(ctx, d)
	if err := s.refusesEnded(); err != nil {
		d.meet(err)
		return d.result()
	}
	d.meet(s.makeBootstrap(ctx, d))
	if s.awaitsBootstrap() {
		return d.result()
	}
	for i := range s.replicas() {
		d.meet(s.makeMaster(ctx, i, d))
	}
	return d.result()
}

// makeMaster makes the i-th machine of the control plane, unless that was done a moment ago and no list shows it yet.
func (s *Seen) makeMaster(ctx context.Context, i int, d *doing) error {
	w := s.wantedMaster(i)
	key, there := client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: w.name}, s.master(w.name)
	switch {
	case there != nil:
		s.maker.created.forget(key)
	case s.maker.created.has(key, s.maker.now()):
		d.waits = true
		return nil
	}
	uid, err := s.make(ctx, w, there, nil, d)
	if err == nil && uid != "" && there == nil {
		s.maker.created.note(key, s.maker.now())
	}
	return err
}

// awaitsBootstrap says that the machines of the control plane are to be made later, because the bootstrap machine is not provisioned.
func (s *Seen) awaitsBootstrap() bool {
	sequential := s.look.Plane.Spec.BootstrapMachine.Sequential
	return sequential != nil && *sequential && !s.facts.Reached().Initialized && (s.bootstrap == nil || !isProvisioned(s.bootstrap))
}

// make makes a machine: config, infrastructure machine, Machine, and returns the UID of the last, empty if it has to be made later.
// there is the Machine, nil for none. may is asked before a Machine is created, nil for always.
func (s *Seen) make(ctx context.Context, w wanted, there *clusterv1.Machine, may func(context.Context) (bool, error), d *doing) (types.UID, error) {
	if there != nil {
		return there.UID, s.mend(ctx, w, there, d)
	}
	claim := s.create
	if s.configs[w.name] != nil { // somebody has begun, and what is there is not asked for again
		claim = s.takeUpOrCreate
	}
	if uid, err := claim(ctx, s.config(w), d); err != nil || uid == "" {
		return "", err
	}
	infrastructure, err := s.infrastructure(ctx, w)
	if err != nil {
		return "", err
	}
	if uid, err := claim(ctx, infrastructure, d); err != nil || uid == "" {
		return "", err
	}
	if may != nil {
		if allowed, err := may(ctx); err != nil || !allowed {
			return "", err
		}
	}
	return claim(ctx, s.machine(w, clusterv1.ContractVersionedObjectReference{
		APIGroup: infrastructure.GroupVersionKind().Group, Kind: infrastructure.GetKind(), Name: w.name,
	}), d)
}

// mend makes the config of a Machine anew that has lost it before it was started.
func (s *Seen) mend(ctx context.Context, w wanted, one *clusterv1.Machine, d *doing) error {
	if !one.DeletionTimestamp.IsZero() || isProvisioned(one) || s.configs[w.name] != nil || one.Spec.Bootstrap.DataSecretName != nil {
		return nil
	}
	_, err := s.create(ctx, s.config(w), d)
	return err
}

// create creates an object, or takes up the one of its name if it is ours, and returns its UID. That is empty while one of the name is
// on its way out.
func (s *Seen) create(ctx context.Context, object client.Object, d *doing) (types.UID, error) {
	kind, err := apiutil.GVKForObject(object, s.maker.client.Scheme())
	if err != nil {
		return "", fmt.Errorf("telling the kind of %T: %w", object, err)
	}
	key := client.ObjectKeyFromObject(object)
	switch err := s.maker.client.Create(ctx, object); {
	case err == nil:
		d.note("created", kind.Kind, key)
		return object.GetUID(), nil
	case !apierrors.IsAlreadyExists(err):
		return "", fmt.Errorf("creating %s %s: %w", kind.Kind, key, err)
	}
	uid, found, err := s.takeUp(ctx, kind, key, d)
	d.waits = d.waits || !found
	return uid, err
}

// takeUpOrCreate does the same for an object that may be there already: it is looked for first.
func (s *Seen) takeUpOrCreate(ctx context.Context, object client.Object, d *doing) (types.UID, error) {
	kind, err := apiutil.GVKForObject(object, s.maker.client.Scheme())
	if err != nil {
		return "", fmt.Errorf("telling the kind of %T: %w", object, err)
	}
	if uid, found, err := s.takeUp(ctx, kind, client.ObjectKeyFromObject(object), d); err != nil || found {
		return uid, err
	}
	return s.create(ctx, object, d)
}

// takeUp looks live for the object of a name, and returns its UID if it is ours, empty while it is on its way out.
func (s *Seen) takeUp(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey, d *doing) (uid types.UID, found bool, err error) {
	there := metaOf(kind, metav1.ObjectMeta{})
	switch err := s.maker.live.Get(ctx, key, there); {
	case apierrors.IsNotFound(err):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("reading %s %s: %w", kind.Kind, key, err)
	case !there.DeletionTimestamp.IsZero():
		d.waits = true
		return "", true, nil
	case s.isOurs(there):
		return there.UID, true, nil
	}
	switch owned, err := s.ownedLive(ctx, there); {
	case err != nil:
		return "", true, err
	case owned == ours:
		return there.UID, true, nil
	case owned == nobodys: // it goes, too
		d.waits = true
		return "", true, nil
	}
	return "", true, phases.Conflict(kind.Kind, key, s.look.Plane.Name)
}

// whose is whose an object is.
type whose int

const (
	others whose = iota
	ours
	// nobodys is the object of a Machine that is gone.
	nobodys
)

// ownedLive asks for the Machine that controls an object: Cluster API has the Machine own it in our place, maybe before a list shows
// the Machine.
func (s *Seen) ownedLive(ctx context.Context, object client.Object) (whose, error) {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || !isKind(*owner, clusterv1.GroupVersion.Group, machineKind) || owner.Name != object.GetName() {
		return others, nil
	}
	key := client.ObjectKeyFromObject(object)
	one := metaOf(machines, metav1.ObjectMeta{})
	switch err := s.maker.live.Get(ctx, key, one); {
	case apierrors.IsNotFound(err):
		return nobodys, nil
	case err != nil:
		return others, fmt.Errorf("reading Machine %s: %w", key, err)
	case one.UID != owner.UID:
		return nobodys, nil
	case controlledBy(one, s.look.Plane.UID):
		return ours, nil
	}
	return others, nil
}

// infrastructure is an infrastructure machine as its template has it.
func (s *Seen) infrastructure(ctx context.Context, w wanted) (*unstructured.Unstructured, error) {
	template, err := s.template(ctx, w.template)
	if err != nil {
		return nil, err
	}
	owner := s.owner(false)
	one, err := external.GenerateTemplate(&external.GenerateTemplateInput{
		Template: template.DeepCopy(),
		TemplateRef: &corev1.ObjectReference{
			APIVersion: template.GetAPIVersion(), Kind: template.GetKind(), Namespace: template.GetNamespace(), Name: template.GetName(),
		},
		Namespace: s.look.Plane.Namespace, Name: w.name, ClusterName: s.cluster, OwnerRef: &owner,
		Labels: labelsOf(s.look.Plane, s.cluster, w.role), Annotations: annotationsOf(s.look.Plane, w.role),
	})
	if err != nil {
		return nil, fmt.Errorf("cloning %s %s: %w", w.template.Kind, w.template.Name, err)
	}
	return one, nil
}

// template reads a template, once in a pass.
func (s *Seen) template(ctx context.Context, ref clusterv1.ContractVersionedObjectReference) (*unstructured.Unstructured, error) {
	if there := s.templates[ref]; there != nil {
		return there, nil
	}
	one, err := external.GetObjectFromContractVersionedRef(ctx, s.maker.client, ref, s.look.Plane.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading %s %s/%s: %w", ref.Kind, s.look.Plane.Namespace, ref.Name, err)
	}
	if err := phases.OwnTemplate(ctx, s.maker.client, s.look.Cluster, one); err != nil { // it may have been made anew
		return nil, err
	}
	s.templates[ref] = one
	return one, nil
}
