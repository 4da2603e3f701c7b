package watching

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
)

// seen is what was told last, so that nothing is told twice.
type seen struct {
	state      *State
	conditions map[string]map[string]Condition
}

func newSeen() *seen { return &seen{conditions: map[string]map[string]Condition{}} }

func nameOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// planeOf is an OpenShiftControlPlane as its type has it. What does not fit the type is left out.
func planeOf(object *unstructured.Unstructured) *v1alpha1.OpenShiftControlPlane {
	plane := &v1alpha1.OpenShiftControlPlane{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, plane); err != nil {
		plane.Name, plane.Namespace = object.GetName(), object.GetNamespace()
	}
	return plane
}

// changes are those of an object since it was told of last.
func (s *seen) changes(object *unstructured.Unstructured, now time.Time) (all []Change) {
	name := nameOf(object)
	if object.GetKind() == v1alpha1.ControlPlaneKind {
		state := stateOf(planeOf(object))
		if s.state == nil || !reflect.DeepEqual(*s.state, state) {
			s.state = &state
			all = append(all, Change{At: now, Object: name, State: &state})
		}
	}
	before, known := s.conditions[name]
	after := map[string]Condition{}
	for _, c := range standing.Sorted(conditionsOf(object)) {
		is := Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message}
		after[c.Type] = is
		if had, was := before[c.Type]; known && (!was || had != is) || !known && standing.IsAmiss(c) {
			all = append(all, Change{At: now, Object: name, Condition: &is})
		}
	}
	s.conditions[name] = after
	return all
}

// gone is the change of an object that is no more; nothing where it was never told of.
func (s *seen) gone(object *unstructured.Unstructured, now time.Time) []Change {
	name := nameOf(object)
	if _, known := s.conditions[name]; !known {
		return nil
	}
	delete(s.conditions, name)
	return []Change{{At: now, Object: name, Gone: true}}
}

// conditionsOf are those of an object of any kind of Cluster API.
func conditionsOf(object *unstructured.Unstructured) []metav1.Condition {
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	raw, _, _ := unstructured.NestedMap(object.Object, "status")
	if raw == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &status) != nil {
		return nil
	}
	return status.Conditions
}
