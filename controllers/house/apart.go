package house

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

// Apart are caches of their own, and a client that reads from them. The manager waits for them before anything else, unless the
// API server refuses one of their lists: then whoever reads from them asks [Apart.Unfilled] first, since a read would wait.
type Apart struct {
	cluster.Cluster
	refusals refusals
	filled   []filled
}

// filled says of a kind whether its first list has come to its end.
type filled struct {
	kind string
	is   func() bool
}

// Apart gives kinds caches of their own, and a client that reads from them. What a cache keeps of a kind, and of which
// objects, is the same for whoever reads the kind through one manager: a machine that reads other objects, or less of them,
// than others do reads them apart.
func (kinds Kinds) Apart(ctx context.Context, mgr ctrl.Manager) (*Apart, error) {
	a := &Apart{}
	options := kinds.Cache(mgr.GetConfig())
	options.NewInformer = kinds.informers(mgr.GetConfig(), a.refusals.noting)
	var err error
	a.Cluster, err = cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme, o.MapperProvider, o.Cache, o.Logger = kinds.Scheme(), kinds.Mapper, options, mgr.GetLogger()
		o.Client = client.Options{Cache: &client.CacheOptions{Unstructured: true}}
	})
	if err != nil {
		return nil, fmt.Errorf("making caches: %w", err)
	}
	for _, k := range kinds.cached() {
		informer, err := a.Cluster.GetCache().GetInformer(ctx, k.Object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", k.of().Kind, err)
		}
		a.filled = append(a.filled, filled{kind: k.of().Kind, is: informer.HasSynced})
	}
	if err := mgr.Add(a); err != nil {
		return nil, fmt.Errorf("adding caches: %w", err)
	}
	return a, nil
}

// Unfilled is why the caches do not hold yet all that there is, with the right that lacks; empty once they do, and from then on.
func (a *Apart) Unfilled() string {
	for _, f := range a.filled {
		if f.is() {
			continue
		}
		if refused := a.refusals.any(); refused != "" {
			return refused
		}
		return f.kind + " objects have not been listed yet"
	}
	return ""
}

// GetCache is the cache that the manager waits for.
func (a *Apart) GetCache() cache.Cache {
	return unlessRefused{Cache: a.Cluster.GetCache(), refusals: &a.refusals}
}

// unlessRefused is a cache that is not waited for once the API server has refused a list.
type unlessRefused struct {
	cache.Cache
	refusals *refusals
}

// WaitForCacheSync returns false only if the context has ended.
func (c unlessRefused) WaitForCacheSync(ctx context.Context) bool {
	waits, cancel := context.WithCancel(ctx)
	defer cancel()
	c.refusals.onFirst(cancel)
	return c.Cache.WaitForCacheSync(waits) || ctx.Err() == nil && c.refusals.any() != ""
}
