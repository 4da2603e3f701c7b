package privatecapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// absent is the prior pause of a Cluster that did not say.
const absent = "absent"

// isCluster says that objects of a kind pause all that belongs to them.
func isCluster(k Kind) bool {
	return k.Kind == "Cluster" && (k.Group == "cluster.x-k8s.io" || k.Group == Standard.to("cluster.x-k8s.io"))
}

// isPaused says that a Cluster is paused.
func isPaused(o *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(o.Object, "spec", "paused")
	return paused
}

// pause is the write that pauses a Cluster and keeps on it what was before; nil if it is paused.
func pause(kind Kind, o *unstructured.Unstructured) *Write {
	if isPaused(o) {
		return nil
	}
	metadata := map[string]any{}
	if _, kept := o.GetAnnotations()[PriorPause]; !kept {
		prior := absent
		if _, said, _ := unstructured.NestedBool(o.Object, "spec", "paused"); said {
			prior = "false"
		}
		metadata["annotations"] = map[string]any{PriorPause: prior}
	}
	return patchOf(kind, o, map[string]any{"metadata": metadata, "spec": map[string]any{"paused": true}})
}

// unpause is the write that gives a Cluster the pause that it had; nil if it has it.
func unpause(kind Kind, o *unstructured.Unstructured) *Write {
	prior, kept := o.GetAnnotations()[PriorPause]
	if !kept {
		return nil
	}
	var value any
	if prior == "false" {
		value = false
	}
	return patchOf(kind, o, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{PriorPause: nil}}, "spec": map[string]any{"paused": value},
	})
}

// eachCluster are the writes for all Clusters of a side, sources or targets.
func (s *sides) eachCluster(target bool, write func(Kind, *unstructured.Unstructured) *Write) []*Write {
	var plan []*Write
	for _, c := range s.couples {
		kind, o := c.kind(target), c.of(target)
		if o != nil && isCluster(kind) && !(target && s.isStranger(c)) {
			if w := write(kind, o); w != nil {
				plan = append(plan, w)
			}
		}
	}
	return plan
}
