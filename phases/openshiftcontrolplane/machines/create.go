package machines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/capstan-capi/capstan/machine"
)

// soon is after how long is looked again for what is on its way out.
const soon = 5 * time.Second

// errLater says that there is nothing wrong, and that it has to be done later: an object of the name is on its way out, or another
// one has written at the same time.
var errLater = errors.New("it has to be waited for")

// CreateMachines makes the bootstrap Machine, if it may be made, and those of the control plane, and makes whole what is half made.
// One that meets an error holds no other one up, but where machines are asked for one after the other.
func (s *Seen) CreateMachines(ctx context.Context) (machine.Result, error) {
	if s.look.Plane == nil || s.look.Cluster == nil {
		return machine.Result{}, nil
	}
	if err := s.Hold(ctx); err != nil {
		return machine.Result{}, err
	}
	var did []string
	errs := errors.Join(s.keep(ctx, &did), s.makeBootstrap(ctx, &did))
	if sequential := s.look.Plane.Spec.BootstrapMachine.Sequential; sequential != nil && *sequential && (s.bootstrap == nil || !isProvisioned(s.bootstrap)) && !s.facts.Reached().Initialized {
		return done(did, errs)
	}
	for i := range s.replicas() {
		errs = errors.Join(errs, s.make(ctx, s.wantedMaster(i), s.master(MasterName(s.look.Plane.Name, i)), nil, &did))
	}
	return done(did, errs)
}

// done is the result of works that have met errors, of which those that only have to be waited out are none.
func done(did []string, errs error) (machine.Result, error) {
	result := machine.Result{Did: strings.Join(did, ", ")}
	errs, waits := sift(errs)
	if waits {
		result.LookAgain = soon
	}
	return result, errs
}

// sift takes those errors out that only have to be waited out.
func sift(errs error) (rest error, waits bool) {
	if joined, is := errs.(interface{ Unwrap() []error }); is {
		for _, one := range joined.Unwrap() {
			one, later := sift(one)
			rest, waits = errors.Join(rest, one), waits || later
		}
		return rest, waits
	}
	if errors.Is(errs, errLater) {
		return nil, true
	}
	return errs, false
}

// make makes a machine: config, infrastructure machine, Machine. there is the Machine, nil for none. may is asked before a Machine is
// created, nil for always.
func (s *Seen) make(ctx context.Context, w wanted, there *clusterv1.Machine, may func(context.Context) (bool, error), did *[]string) error {
	if there != nil {
		return s.whole(ctx, w, there, did)
	}
	if _, err := s.claim(ctx, s.config(w), did); err != nil {
		return err
	}
	infrastructure, err := s.infrastructure(ctx, w)
	if err != nil {
		return err
	}
	if _, err := s.claim(ctx, infrastructure, did); err != nil {
		return err
	}
	if may != nil {
		if allowed, err := may(ctx); err != nil || !allowed {
			return err
		}
	}
	one := s.machine(w, clusterv1.ContractVersionedObjectReference{
		APIGroup: infrastructure.GroupVersionKind().Group, Kind: infrastructure.GetKind(), Name: w.name,
	})
	uid, err := s.claim(ctx, one, did)
	if err != nil {
		return err
	}
	one.UID = uid
	if w.name == s.wantedBootstrap().name {
		s.bootstrap = one
	} else {
		s.masters = append(s.masters, one)
	}
	return nil
}

// whole makes the config of a Machine anew that has lost it before it was started.
func (s *Seen) whole(ctx context.Context, w wanted, one *clusterv1.Machine, did *[]string) error {
	if !one.DeletionTimestamp.IsZero() || isProvisioned(one) || s.configs[w.name] != nil || one.Spec.Bootstrap.DataSecretName != nil {
		return nil
	}
	_, err := s.claim(ctx, s.config(w), did)
	return err
}

// claim creates an object, or takes up the one of its name if it is ours, and returns its UID.
func (s *Seen) claim(ctx context.Context, object client.Object, did *[]string) (types.UID, error) {
	kind, err := apiutil.GVKForObject(object, s.maker.client.Scheme())
	if err != nil {
		return "", fmt.Errorf("telling the kind of %T: %w", object, err)
	}
	key := client.ObjectKeyFromObject(object)
	switch err := s.maker.client.Create(ctx, object); {
	case err == nil:
		*did = append(*did, fmt.Sprintf("created %s %s", kind.Kind, key))
		return object.GetUID(), nil
	case !apierrors.IsAlreadyExists(err):
		return "", fmt.Errorf("creating %s %s: %w", kind.Kind, key, err)
	}
	there := &metav1.PartialObjectMetadata{}
	there.SetGroupVersionKind(kind)
	switch err := s.maker.live.Get(ctx, key, there); {
	case apierrors.IsNotFound(err) || err == nil && !there.DeletionTimestamp.IsZero():
		return "", fmt.Errorf("creating %s %s: %w", kind.Kind, key, errLater)
	case err != nil:
		return "", fmt.Errorf("reading %s %s: %w", kind.Kind, key, err)
	case !s.isOurs(there):
		return "", &ConflictError{Kind: kind.Kind, Key: key, Owner: s.look.Plane.Name}
	}
	return there.UID, nil
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
		Labels: labels(s.look.Plane, s.cluster, w.role), Annotations: annotations(s.look.Plane, w.role),
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
	s.templates[ref] = one
	return one, nil
}
