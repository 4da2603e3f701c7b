package dashboard

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/controllers"
	"github.com/capstan-capi/capstan/controllers/bootimage"
	"github.com/capstan-capi/capstan/machine"
)

// crowded is a cluster with 5,000 instances of a family and 5,000 objects in memory, which nobody asks for.
func crowded(b *testing.B) *cluster {
	b.Helper()
	c := newCluster(b.Context(), "0", Cluster{Name: "one"}, "https://one", Options{Views: controllers.Views()})
	c.known.singles = map[schema.GroupVersionResource]*single{
		clusterAPIs:      {read: true, object: &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "cluster"}}}},
		clusterOperators: {read: true, object: &unstructured.Unstructured{Object: operator(map[string]any{"clusterapi": stands("Installed", "all is well")})}},
	}
	c.known.singles[clusterOperators].object.SetName("cluster-api")
	for _, of := range controllers.Views() {
		if of.Instances == nil {
			continue
		}
		r := &roster{of: of}
		rows := map[machine.Key]row{}
		for i := range 5000 {
			key := machine.Key(fmt.Sprintf("widgets-%04d", i))
			rows[key] = r.rowOf(key, bootimage.SeenOf(key, machine.Record{State: of.Table.Start, Reason: "it waits for something that has a name"}))
		}
		r.replace(rows, nil, "", nil)
		c.known.rosters = append(c.known.rosters, r)
	}
	c.known.objects = &shelf{}
	for i := range 5000 {
		o := Object{Object: fmt.Sprintf("Deployment capi/object-%04d", i)}
		c.known.objects.objects = append(c.known.objects.objects, listedObject{Object: o, text: o.Object})
	}
	return c
}

func BenchmarkView_of_5000_instances(b *testing.B) {
	c := crowded(b)
	for b.Loop() {
		if line := c.view(context.Background()); len(line) < 1000 {
			b.Fatalf("it is %s", line)
		}
	}
}

func BenchmarkSearch_in_5000_instances(b *testing.B) {
	c := crowded(b)
	for b.Loop() {
		if found := c.known.rosters[0].instances("", wanted{search: "widgets-49", limit: maxLimit}); found.Matching != 100 {
			b.Fatalf("found are %d", found.Matching)
		}
	}
}

func BenchmarkSearch_in_5000_objects(b *testing.B) {
	c := crowded(b)
	for b.Loop() {
		if found := c.known.objects.find(0, 0, wanted{search: "object-49", limit: maxLimit}); found.Matching != 100 {
			b.Fatalf("found are %d", found.Matching)
		}
	}
}
