package records

import (
	"context"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// listed are the shards of a family as a process finds them: they are listed once, which is a request instead of one for each.
// If they cannot be listed, each is read by itself, as it is ever after.
type listed struct {
	options *Options
	mu      sync.Mutex
	asked   bool
	// objects are those that are there, by name; a shard takes its own. Nil if they could not be listed.
	objects map[string]*corev1.ConfigMap
	taken   map[string]bool
}

// take is a shard as it was listed, nil if it was not there; known says that it was listed, and not taken before.
func (l *listed) take(ctx context.Context, name string) (object *corev1.ConfigMap, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asked {
		l.asked, l.taken = true, map[string]bool{}
		l.objects = l.list(ctx)
	}
	if l.objects == nil || l.taken[name] {
		return nil, false
	}
	l.taken[name] = true
	object = l.objects[name]
	delete(l.objects, name)
	return object, true
}

// list is nil after an error, which reading a shard by itself meets too.
func (l *listed) list(ctx context.Context) map[string]*corev1.ConfigMap {
	const page = 50
	objects := map[string]*corev1.ConfigMap{}
	for next := ""; ; {
		list := &corev1.ConfigMapList{}
		if err := l.options.Live.List(ctx, list, client.InNamespace(l.options.Namespace), client.Limit(page), client.Continue(next)); err != nil {
			return nil
		}
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Name, l.options.Name+"-") {
				objects[list.Items[i].Name] = list.Items[i].DeepCopy() // not the whole page with it
			}
		}
		if next = list.Continue; next == "" {
			return objects
		}
	}
}
