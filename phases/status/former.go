package status

import (
	"context"
	"fmt"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// takeOver gives up, in their names, what former managers have applied to the
// status: what nobody else owns goes, such as a condition of theirs that nobody
// would ever write again. It is done after a write of our own, so that what is
// told again is ours by then, and once: a former manager that is still at work is
// not fought.
func (s *Store[F, E]) takeOver(ctx context.Context, operator *configv1.ClusterOperator) error {
	if s.takenOver {
		return nil
	}
	for _, manager := range s.Former {
		if !slices.ContainsFunc(operator.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "status"
		}) {
			continue
		}
		written, err := s.Operators.ApplyStatus(ctx, configv1ac.ClusterOperator(s.Operator), metav1.ApplyOptions{FieldManager: manager, Force: true})
		if err != nil {
			return fmt.Errorf("taking over the status of ClusterOperator %s from field manager %s: %w", s.Operator, manager, err)
		}
		s.keep(written)
	}
	s.takenOver = true
	return nil
}
