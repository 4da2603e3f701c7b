package house

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

// Apart gives kinds caches of their own, and a client that reads from them. What a cache keeps of a kind, and of which
// objects, is the same for whoever reads the kind through one manager: a machine that reads other objects, or less of them,
// than others do reads them apart.
func (kinds Kinds) Apart(ctx context.Context, mgr ctrl.Manager) (cluster.Cluster, error) {
	apart, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme, o.MapperProvider, o.Cache, o.Logger = kinds.Scheme(), kinds.Mapper, kinds.Cache(), mgr.GetLogger()
		o.Client = client.Options{Cache: &client.CacheOptions{Unstructured: true}}
	})
	if err != nil {
		return nil, fmt.Errorf("making caches: %w", err)
	}
	if err := kinds.Fill(ctx, apart.GetCache()); err != nil {
		return nil, err
	}
	if err := mgr.Add(apart); err != nil {
		return nil, fmt.Errorf("adding caches: %w", err)
	}
	return apart, nil
}
