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

// watchHistory has the history read from what a watch of its ConfigMap shows first, and written again when that is deleted. It ends with
// ctx.
func (p *Phases) watchHistory(ctx context.Context) error {
	one := fields.OneTermEqualSelector(metav1.ObjectNameField, history.ConfigMap).String()
	lister := &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = one
			return p.configMaps.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = one
			return p.configMaps.Watch(ctx, o)
		},
	}
	shown := shownHistory(func(configMap *corev1.ConfigMap) { p.History.Shown(ctx, configMap) })
	reflector := toolscache.NewReflectorWithOptions(newest.Watched(lister, func() {}), &corev1.ConfigMap{}, shown, toolscache.ReflectorOptions{Name: "history"})
	reflector.RunWithContext(ctx)
	return nil
}

// shownHistory is the store of a reflector that keeps nothing: it is told what there is, nil where there is nothing.
type shownHistory func(*corev1.ConfigMap)

// Add is called for a ConfigMap that appeared.
func (tell shownHistory) Add(object any) error { return tell.Update(object) }

// Update is called for a ConfigMap that changed.
func (tell shownHistory) Update(object any) error {
	if configMap, is := object.(*corev1.ConfigMap); is {
		tell(configMap)
	}
	return nil
}

// Delete is called for a ConfigMap that was deleted.
func (tell shownHistory) Delete(any) error {
	tell(nil)
	return nil
}

// Replace is called after a list.
func (tell shownHistory) Replace(list []any, _ string) error {
	if len(list) == 0 {
		return tell.Delete(nil)
	}
	return tell.Update(list[0])
}

// Resync has no meaning here.
func (shownHistory) Resync() error { return nil }
