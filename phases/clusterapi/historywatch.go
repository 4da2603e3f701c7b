package clusterapi

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/capstan-capi/capstan/phases/history"
	"github.com/capstan-capi/capstan/phases/newest"
)

// watchHistory has the history written again when its ConfigMap is deleted, which is watched by its metadata alone. It ends with ctx.
func (p *Phases) watchHistory(ctx context.Context) error {
	one := fields.OneTermEqualSelector(metav1.ObjectNameField, history.ConfigMap).String()
	configMaps := p.metadata.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(p.OperatorNamespace)
	_, informer := toolscache.NewInformerWithOptions(toolscache.InformerOptions{
		ListerWatcher: newest.Watched(toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.FieldSelector = one
				return configMaps.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.FieldSelector = one
				return configMaps.Watch(ctx, o)
			},
		}, p.metadata), func() {}),
		ObjectType: &metav1.PartialObjectMetadata{},
		Handler:    toolscache.ResourceEventHandlerFuncs{DeleteFunc: func(any) { p.History.Gone() }},
	})
	informer.RunWithContext(ctx)
	return nil
}
