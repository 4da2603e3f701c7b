package decide

import "k8s.io/apimachinery/pkg/runtime/schema"

// Places are the namespaces that have objects of kinds; the empty one stands for the cluster.
type Places map[schema.GroupVersionKind]map[string]bool

// Add adds a namespace of a kind.
func (p Places) Add(gvk schema.GroupVersionKind, namespace string) {
	if p[gvk] == nil {
		p[gvk] = map[string]bool{}
	}
	p[gvk][namespace] = true
}

// AddAll adds all that others are.
func (p Places) AddAll(others Places) {
	for gvk, namespaces := range others {
		for namespace := range namespaces {
			p.Add(gvk, namespace)
		}
	}
}
