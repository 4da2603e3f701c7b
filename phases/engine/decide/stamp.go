package decide

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Stamp is what the engine writes on an object besides its manifest.
type Stamp struct {
	Component string
	Number    int64
	// Adopts is the UID of the object that an administrator lets the manifest adopt as if it said adopt-existing: always, and says
	// so; empty for none.
	Adopts types.UID

	owner, label string
}

// on is metadata with our marks on it. A component that the manifest names stays.
func (s Stamp) on(metadata any) map[string]any {
	meta := shallow(metadata)
	labels, annotations := shallow(meta["labels"]), shallow(meta["annotations"])
	if _, labelled := labels[ManagedByLabel]; s.label != "" {
		labels[ManagedByLabel] = s.label
	} else if !labelled {
		labels[ManagedByLabel] = s.Component
	}
	annotations[RevisionAnnotation] = strconv.FormatInt(s.Number, 10)
	annotations[OwnerAnnotation] = s.owner
	if s.Adopts != "" {
		annotations[AdoptAnnotation] = AdoptAlways
	}
	meta["labels"], meta["annotations"] = labels, annotations
	return meta
}

// payloadOf is what is sent for a manifest that was cleaned. It is not changed; parts that stay the same are shared.
func payloadOf(obj *unstructured.Unstructured, s Stamp) *unstructured.Unstructured {
	body := shallow(obj.Object)
	body["metadata"] = s.on(body["metadata"])
	return &unstructured.Unstructured{Object: body}
}

func shallow(v any) map[string]any {
	m, _ := v.(map[string]any)
	out := make(map[string]any, len(m)+2)
	for k, v := range m {
		out[k] = v
	}
	return out
}
