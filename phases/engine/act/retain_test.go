package act

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestHeld_counts_instances_says_how_to_list_them_and_names_neither_them_nor_their_finalizers(t *testing.T) {
	list := func(shown, going int, more int64, namespaces ...string) *metav1.PartialObjectMetadataList {
		list := &metav1.PartialObjectMetadataList{}
		for i := range shown {
			obj := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("secret-x", i), Finalizers: []string{"secret.example.com/f"}}}
			if len(namespaces) > 0 {
				obj.Namespace = namespaces[i%len(namespaces)]
			}
			if i < going {
				obj.DeletionTimestamp = &metav1.Time{}
			}
			list.Items = append(list.Items, obj)
		}
		if more > 0 {
			list.RemainingItemCount = &more
		}
		return list
	}
	for name, row := range map[string]struct {
		list  *metav1.PartialObjectMetadataList
		count int64
		want  string
	}{
		"none":                        {list(0, 0, 0), 0, ""},
		"one of the cluster":          {list(1, 0, 0), 1, "1 instance (kubectl get things.v1.example.com)"},
		"one in a namespace":          {list(1, 0, 0, "secret-a"), 1, "1 instance in 1 namespace (kubectl get things.v1.example.com -A)"},
		"some in two namespaces":      {list(3, 0, 0, "secret-a", "secret-b"), 3, "3 instances in 2 namespaces (kubectl get things.v1.example.com -A)"},
		"more, which were not sent":   {list(3, 0, 7, "secret-a"), 10, "10 instances in at least 1 namespace (kubectl get things.v1.example.com -A)"},
		"more of the cluster":         {list(3, 0, 7), 10, "10 instances (kubectl get things.v1.example.com)"},
		"one that waits":              {list(1, 1, 0, "secret-a"), 1, "1 instance in 1 namespace, 1 of them being deleted (kubectl get things.v1.example.com -A -o yaml)"},
		"two that wait, of many more": {list(3, 2, 7, "secret-a"), 10, "10 instances in at least 1 namespace, at least 2 of them being deleted (kubectl get things.v1.example.com -A -o yaml)"},
	} {
		if got := held(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}, row.list); got.Count != row.count || got.What != row.want {
			t.Errorf("%s: %d, %s", name, got.Count, got.What)
		}
	}
}
