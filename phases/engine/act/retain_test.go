package act

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNamed_is_a_few_of_many_instances_and_of_the_finalizers_that_each_waits_for(t *testing.T) {
	list := func(shown int, more int64, finalizers int) *metav1.PartialObjectMetadataList {
		list := &metav1.PartialObjectMetadataList{}
		for i := range shown {
			obj := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint("x", i)}}
			for f := range finalizers {
				obj.DeletionTimestamp = &metav1.Time{}
				obj.Finalizers = append(obj.Finalizers, fmt.Sprint("example.com/", f))
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
		"one":                       {list(1, 0, 0), 1, "1 instance (a/x0)"},
		"as many as are named":      {list(3, 0, 0), 3, "3 instances (a/x0; a/x1; a/x2)"},
		"more, which were not sent": {list(3, 7, 0), 10, "10 instances (a/x0; a/x1; a/x2; and 7 more)"},
		"more than were asked for":  {list(5, 7, 0), 12, "12 instances (a/x0; a/x1; a/x2; and 9 more)"},
		"one that waits":            {list(1, 0, 1), 1, "1 instance (a/x0 being deleted, finalizers pending: example.com/0)"},
		"one that waits for many":   {list(1, 0, 1000), 1, "1 instance (a/x0 being deleted, finalizers pending: example.com/0, example.com/1, example.com/2 and 997 more)"},
	} {
		if got := named(row.list); got.Count != row.count || got.What != row.want {
			t.Errorf("%s: %d, %s", name, got.Count, got.What)
		}
	}
}
