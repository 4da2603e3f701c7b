package simulated

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// May says that everything is allowed but what is forbidden.
func (s *server) May(_ context.Context, account, verb string, k phases.Kind, _ string) (bool, error) {
	if s.down {
		return false, s.unavailable()
	}
	return account == "" || !s.forbidden[verb+" "+k.Resource+"."+k.Group], nil
}

// MayBecome says that every account may be spoken as but those that are forbidden.
func (s *server) MayBecome(_ context.Context, account string) (bool, error) {
	if s.down {
		return false, s.unavailable()
	}
	return !s.forbidden["impersonate "+account], nil
}

// ownersDenied is what an API server says, before any policy is asked, where a component names an owner or a finalizer that it may not.
func ownersDenied(w phases.Write) error {
	o := unstructured.Unstructured{Object: w.Body}
	if len(o.GetOwnerReferences())+len(o.GetFinalizers()) == 0 {
		return nil
	}
	return apierrors.NewForbidden(gr(w.Kind), w.Name, fmt.Errorf("cannot set an ownerRef on a resource you can't delete"))
}
