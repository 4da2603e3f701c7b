package status

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/conditions"
	"github.com/capstan-capi/capstan/phases/newest"
)

// operator is the newest ClusterOperator known, nil if there is none.
func (s *Store[F, E]) operator(ctx context.Context) (*configv1.ClusterOperator, error) {
	cached := &configv1.ClusterOperator{}
	s.ahead = false
	err := s.Client.Get(ctx, client.ObjectKey{Name: s.Operator}, cached)
	switch {
	case apierrors.IsNotFound(err):
		return s.writtenStillThere(ctx)
	case err != nil:
		return nil, fmt.Errorf("reading ClusterOperator %s: %w", s.Operator, err)
	case s.written != nil && newest.Unsettled(s.written, cached, s.Now().Sub(s.wrote)):
		if _, err := s.writtenStillThere(ctx); err != nil {
			return nil, err
		}
	}
	if s.written != nil && newest.WrittenFirst(s.written, cached, s.Now().Sub(s.wrote)) {
		s.ahead = true
		return s.written, nil
	}
	s.written = nil // the cache has come as far, or the API server has gone back: what it shows from now on is how it is
	return cached, nil
}

// writtenStillThere asks the API server about a ClusterOperator that the cache
// does not show as it was written: either it was deleted or is an older one
// again, or the cache does not know yet.
func (s *Store[F, E]) writtenStillThere(ctx context.Context) (*configv1.ClusterOperator, error) {
	if s.written == nil {
		return nil, nil
	}
	live, err := s.Operators.Get(ctx, s.Operator, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		live = nil
	case err != nil:
		return nil, fmt.Errorf("reading ClusterOperator %s: %w", s.Operator, err)
	}
	s.keep(live)
	return live, nil
}

func (s *Store[F, E]) create(ctx context.Context) (*configv1.ClusterOperator, error) {
	created, err := s.Operators.Create(ctx,
		&configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: s.Operator}}, metav1.CreateOptions{FieldManager: FieldManager(s.Table.Name)})
	if apierrors.IsAlreadyExists(err) {
		created, err = s.Operators.Get(ctx, s.Operator, metav1.GetOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("creating ClusterOperator %s: %w", s.Operator, err)
	}
	s.keep(created)
	return created, nil
}

func (s *Store[F, E]) write(ctx context.Context, r report) error {
	name := s.Table.Name
	extension := fmt.Appendf(nil, `{%q:%s`, RecordKey(name), r.raw)
	if len(r.detail) > 0 {
		extension = fmt.Appendf(extension, `,%q:%s`, DetailKey(name), r.detail)
	}
	status := configv1ac.ClusterOperatorStatus().WithExtension(runtime.RawExtension{Raw: append(extension, '}')})
	conditions.AddTo(status, r.conditions)
	for _, v := range r.versions {
		status.WithVersions(configv1ac.OperandVersion().WithName(v.Name).WithVersion(v.Version))
	}
	for _, o := range r.related {
		status.WithRelatedObjects(configv1ac.ObjectReference().WithGroup(o.Group).WithResource(o.Resource).
			WithNamespace(o.Namespace).WithName(o.Name))
	}
	written, err := s.Operators.ApplyStatus(ctx, configv1ac.ClusterOperator(s.Operator).WithStatus(status),
		metav1.ApplyOptions{FieldManager: FieldManager(name), Force: true})
	if err != nil {
		return fmt.Errorf("writing the status of ClusterOperator %s: %w", s.Operator, err)
	}
	s.keep(written)
	return nil
}

// keep remembers what the API server has answered.
func (s *Store[F, E]) keep(answered *configv1.ClusterOperator) {
	s.written, s.wrote = answered, s.Now()
}
