package privatecapi

import (
	"errors"
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

func TestWorkloads_get_nothing_back_while_one_would_get_a_proxy_without_an_image(t *testing.T) {
	equipped := func(of Component) map[string]any { return Equipment{Image: "some/image"}.Equip(template(), of) }
	scales := Component{Scales: true}
	for name, c := range map[string]struct {
		side      Side
		templates []map[string]any
		fails     bool
	}{
		"the standard side gets all back":                                  {Standard, []map[string]any{equipped(scales), template()}, false},
		"the private side gets back what has its proxy":                    {Private, []map[string]any{equipped(scales), equipped(Component{})}, false},
		"the private side gets nothing back while one would have no image": {Private, []map[string]any{equipped(scales), template()}, true},
	} {
		p := &Pass{Phases: &Phases{}}
		for i, one := range c.templates {
			w := drained("cluster-api", one)
			w.of.Scales = i == 0
			p.workloads = append(p.workloads, w)
		}
		for way, each := range map[string]func(workload) *Write{
			"restored": func(w workload) *Write { return w.restore(p.Equipment, c.side) },
			"settled":  func(w workload) *Write { return w.settle(p.Equipment, c.side) },
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				plan, err := p.inOrder(each)
				if (err != nil) != c.fails {
					t.Fatalf("error is %v", err)
				}
				if c.fails && len(plan) > 0 || !c.fails && len(present(plan)) != len(p.workloads) {
					t.Errorf("%d writes for %d components", len(present(plan)), len(p.workloads))
				}
			})
		}
	}
}

func TestInspectSides_writes_nothing_while_a_component_would_get_a_proxy_without_an_image(t *testing.T) {
	p := &Pass{Phases: &Phases{}, workloads: []workload{drained("cluster-api", template())}, sides: &sides{}}
	if plan, err := p.alone(Private, nil); err == nil || len(plan) > 0 {
		t.Errorf("%d writes, %v", len(plan), err)
	}
}

// A Deployment that selects nothing stays one: no outage of the API server, which would be waited for without an error.
func TestLooks_fail_by_what_was_read_and_not_as_an_outage(t *testing.T) {
	_, err := new(Phases).podsOf(t.Context(), &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "cluster-api"}}})
	if err == nil || isAway(err) {
		t.Errorf("%v is an outage", err)
	}
	if !isAway(errors.New("connection refused")) {
		t.Error("a server that cannot be reached is none")
	}
	if _, failed := unsure(err); failed == nil {
		t.Error("the work waits for it")
	}
}
