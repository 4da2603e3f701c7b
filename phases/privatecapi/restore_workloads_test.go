package privatecapi

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// drained is a component that stands still, with the replicas that it had kept on it.
func drained(name string, template map[string]any) workload {
	return workload{of: Component{Name: name}, object: &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name, "annotations": map[string]any{PriorReplicas: "1"}},
		"spec":     map[string]any{"replicas": int64(0), "template": template},
	}}}
}

func TestRestorations_without_an_image(t *testing.T) {
	equipped := func() map[string]any { return Equipment{Image: "some/image"}.Equip(template(), Component{}) }
	for name, c := range map[string]struct {
		side      Side
		templates []map[string]any
		fails     bool
	}{
		"the standard side gets all back":                                  {Standard, []map[string]any{equipped(), template()}, false},
		"the private side gets back what has its proxy":                    {Private, []map[string]any{equipped(), equipped()}, false},
		"the private side gets nothing back while one would have no image": {Private, []map[string]any{equipped(), template()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var all []workload
			for _, one := range c.templates {
				all = append(all, drained("cluster-api", one))
			}
			plan, err := restorations(all, Equipment{}, c.side)
			if (err != nil) != c.fails {
				t.Fatalf("error is %v", err)
			}
			if want := len(all); !c.fails && len(present(plan)) != want {
				t.Errorf("%d writes, want %d", len(present(plan)), want)
			}
			if c.fails && len(plan) > 0 {
				t.Errorf("%d writes, want none", len(plan))
			}
		})
	}
}
