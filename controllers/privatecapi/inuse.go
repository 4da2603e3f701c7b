package privatecapi

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/privatecapi/kube"
)

// InUse says whether a HostedCluster has private types, or is being moved. It asks for HostedClusters only where the programme was
// enabled, by its ConfigMap in a namespace; who may not read one of them has no programme.
func InUse(ctx context.Context, config *rest.Config, namespace string) (bool, error) {
	api, err := kube.New(config, time.Now)
	if err != nil {
		return false, err
	}
	switch _, err := api.Get(ctx, phases.ConfigMaps, namespace, guards.ProgrammeName); {
	case isNone(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading ConfigMap %s/%s: %w", namespace, guards.ProgrammeName, err)
	}
	all, err := api.List(ctx, phases.HostedClusters, "", "")
	switch {
	case isNone(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("listing HostedClusters: %w", err)
	}
	for _, o := range all {
		if marks := guards.MarksOf(o.GetAnnotations()); marks.Private || marks.Locked() {
			return true, nil
		}
	}
	return false, nil
}

func isNone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) }
