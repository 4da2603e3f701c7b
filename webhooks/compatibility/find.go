package compatibility

import (
	"context"
	"fmt"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/live"
	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

type requirement = requirementsv1alpha1.CompatibilityRequirement

const (
	// stateCondition has the state of the machine compatibility as its reason.
	stateCondition = "State"
	// open is the state in which nothing is refused.
	open = "Open"
)

func isOpen(r *requirement) bool {
	state := meta.FindStatusCondition(r.Status.Conditions, stateCondition)
	return state != nil && state.Reason == open
}

// find returns the requirement of a path, of no older generation than the path has, and nil if it is gone or being deleted.
// Who has gone on from Open refuses again, so that this state alone is not believed of a cache.
func (s *Server) find(ctx context.Context, about paths.Subject) (*requirement, error) {
	found := &requirement{}
	key := client.ObjectKey{Name: about.Name}
	err := s.Cached.Get(ctx, key, found)
	if err != nil || string(found.UID) != about.UID || found.Generation < about.Generation || isOpen(found) {
		found = &requirement{}
		err = s.Live.Get(ctx, key, found)
	}
	gone, err := live.Gone(ctx, s.Live, err)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading CompatibilityRequirement %s: %w", about.Name, err)
	case gone:
		return nil, nil
	case string(found.UID) != about.UID || found.DeletionTimestamp != nil:
		return nil, nil
	}
	return found, nil
}

// about are the requirements that a CustomResourceDefinition has, by name. Which there are, and as of when, is asked live: a
// path of definitions does not tell. Of that only metadata is sent, and only what the cache is behind with is read whole.
func (s *Server) about(ctx context.Context, crd string) ([]*requirement, error) {
	there := &metav1.PartialObjectMetadataList{}
	there.SetGroupVersionKind(requirementsv1alpha1.GroupVersion.WithKind("CompatibilityRequirementList"))
	if gone, err := live.Gone(ctx, s.Live, s.Live.List(ctx, there)); err != nil {
		return nil, fmt.Errorf("listing CompatibilityRequirements: %w", err)
	} else if gone {
		return nil, nil
	}
	cached := &requirementsv1alpha1.CompatibilityRequirementList{}
	if err := s.Cached.List(ctx, cached, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading the cached CompatibilityRequirements: %w", err)
	}
	byUID := map[string]*requirement{}
	for i := range cached.Items {
		byUID[string(cached.Items[i].UID)] = &cached.Items[i]
	}
	var found []*requirement
	for i := range there.Items {
		r := byUID[string(there.Items[i].UID)]
		switch {
		case there.Items[i].DeletionTimestamp != nil:
			continue
		case r == nil || r.ResourceVersion != there.Items[i].ResourceVersion && (r.Status.CRDName == "" || r.Status.CRDName == crd):
			r = &requirement{}
			if gone, err := live.Gone(ctx, s.Live, s.Live.Get(ctx, client.ObjectKey{Name: there.Items[i].Name}, r)); err != nil {
				return nil, fmt.Errorf("reading CompatibilityRequirement %s: %w", there.Items[i].Name, err)
			} else if gone {
				continue
			}
		}
		if r.Status.CRDName == crd && r.DeletionTimestamp == nil {
			found = append(found, r)
		}
	}
	return found, nil
}

// need is what a requirement asks for, of no older generation than the requirement that is given. Its first error says that
// this cannot be told now, the one in what is decoded that it never can.
func (s *Server) need(ctx context.Context, r *requirement) (decoded, error) {
	return s.needs.get(ctx, identity(r), func(ctx context.Context) (decoded, int, error) {
		full := r
		if r.Spec.CompatibilitySchema.CustomResourceDefinition.Data == "" {
			full = &requirement{}
			if err := s.Live.Get(ctx, client.ObjectKeyFromObject(r), full); err != nil {
				return decoded{}, 0, fmt.Errorf("reading CompatibilityRequirement %s: %w", r.Name, err)
			}
			if full.UID != r.UID || full.Generation < r.Generation {
				return decoded{}, 0, fmt.Errorf("reading CompatibilityRequirement %s: it is another one, or older than it was", r.Name)
			}
		}
		var need *crdschema.Need
		var err error
		if late := s.inTurn(ctx, func() { need, err = s.below.decode(&full.Spec) }); late != nil {
			return decoded{}, 0, late
		}
		weight := len(full.Spec.CompatibilitySchema.CustomResourceDefinition.Data)
		return decoded{need, s.met(ctx, err), weight}, weight, nil
	})
}

// actions are what a requirement has done about writes. A spec that cannot be used, or not be read now, loosens nothing
// that was enforced before it.
func (s *Server) actions(ctx context.Context, r *requirement) crdschema.Actions {
	asked, held := crdschema.Asked(r), crdschema.Held(r)
	if asked == held {
		return asked
	}
	if found, err := s.need(ctx, r); err == nil && found.err == nil && found.need.Name() == r.Status.CRDName {
		return asked
	}
	return held
}

// identity is what a compilation belongs to.
func identity(r *requirement) string { return fmt.Sprintf("%s/%d", r.UID, r.Generation) }
