package inspect

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/phases/history"
)

// History reads what the operator remembers of revisions.
func (r *Reader) History(ctx context.Context, namespace string) (history.History, error) {
	stored := &corev1.ConfigMap{}
	found, err := r.Get(ctx, corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap", namespace, history.ConfigMap, stored)
	switch {
	case err != nil:
		return history.History{}, err
	case !found:
		return history.History{}, &Error{
			What: fmt.Sprintf("ConfigMap %s/%s does not exist: no operator that keeps a history has listed a revision here", namespace, history.ConfigMap),
			Next: "look at capstan status",
		}
	}
	known, err := history.Read([]byte(stored.Data[history.Key]))
	if err != nil {
		return known, &Error{
			What: fmt.Sprintf("ConfigMap %s/%s cannot be read: %v", namespace, history.ConfigMap, err), Next: "use the capstan of the release that runs on the cluster", Err: err,
		}
	}
	return known, nil
}
