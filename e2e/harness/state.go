package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// RevisionAnnotation tells on every managed object which revision applied it last.
const RevisionAnnotation = "capi-operator.openshift.io/revision"

// Thing is what a state remembers of one object.
type Thing struct {
	UID types.UID
	// Digest is the same for the same wishes: status, and what servers and
	// controllers write by themselves, have no part in it.
	Digest string
	// Version is the resourceVersion, which any write changes.
	Version string
	// Revision is the one that applied it last, empty if none did.
	Revision string
}

// State is every object that the installation has brought, by
// "resource.group namespace/name".
type State map[string]Thing

// State looks at everything that carries the installation's label, and at the
// inventories.
func (e *Environment) State(ctx context.Context) (State, error) {
	client, err := dynamic.NewForConfig(e.Cluster.Config())
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	var mu sync.Mutex
	state := State{}
	return state, e.eachKind(ctx, func(ctx context.Context, resource schema.GroupVersionResource) error {
		list, err := client.Resource(resource).List(ctx, metav1.ListOptions{LabelSelector: ManagedByLabel})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range list.Items {
			object := &list.Items[i]
			key := fmt.Sprintf("%s %s/%s", resource.GroupResource(), object.GetNamespace(), object.GetName())
			if state[key], err = thing(object); err != nil {
				return err
			}
		}
		return nil
	})
}

// byServers are fields that API server and controllers fill in.
var byServers = [][]string{
	{"status"},
	{"metadata", "uid"},
	{"metadata", "resourceVersion"},
	{"metadata", "creationTimestamp"},
	{"metadata", "generation"},
	{"metadata", "managedFields"},
	{"metadata", "annotations", RevisionAnnotation},
	{"metadata", "annotations", "deployment.kubernetes.io/revision"},
	{"spec", "clusterIP"},
	{"spec", "clusterIPs"},
}

func thing(object *unstructured.Unstructured) (Thing, error) {
	t := Thing{UID: object.GetUID(), Version: object.GetResourceVersion(), Revision: object.GetAnnotations()[RevisionAnnotation]}
	for _, path := range byServers {
		unstructured.RemoveNestedField(object.Object, path...)
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		return t, fmt.Errorf("encoding %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	sum := sha256.Sum256(text)
	t.Digest = hex.EncodeToString(sum[:8])
	return t, nil
}
