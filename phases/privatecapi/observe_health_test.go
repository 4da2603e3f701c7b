package privatecapi

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWorse_wants_of_the_target_what_the_source_had(t *testing.T) {
	object := func(phase string, conditions ...string) *unstructured.Unstructured {
		var list []any
		for i := 0; i < len(conditions); i += 2 {
			list = append(list, map[string]any{"type": conditions[i], "status": conditions[i+1]})
		}
		return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": phase, "conditions": list}}}
	}
	for name, row := range map[string]struct {
		source, target *unstructured.Unstructured
		want           string
	}{
		"as before":                            {object("", "Ready", "True"), object("", "Ready", "True"), ""},
		"lost":                                 {object("", "Ready", "True"), object("", "Ready", "False"), "condition Ready is False"},
		"unknown now":                          {object("", "Ready", "True"), object("", "Ready", "Unknown"), "condition Ready is Unknown"},
		"not told any more":                    {object("", "Ready", "True"), object(""), "condition Ready is not told"},
		"one of two is not told any more":      {object("", "Ready", "True", "NodeHealthy", "True"), object("", "Ready", "True"), "condition NodeHealthy is not told"},
		"never had":                            {object("", "Ready", "False"), object("", "Ready", "False"), ""},
		"never known":                          {object("", "Ready", "Unknown"), object(""), ""},
		"better":                               {object("", "Ready", "False"), object("", "Ready", "True"), ""},
		"a condition that tells of no health":  {object("", "Paused", "True"), object(""), ""},
		"failed now":                           {object("Running"), object("Failed"), "phase Failed"},
		"failed before":                        {object("Failed"), object("Failed"), ""},
		"without any status at the target yet": {object("", "Ready", "True"), &unstructured.Unstructured{Object: map[string]any{}}, "condition Ready is not told"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := worse(row.source, row.target); got != row.want {
				t.Errorf("it lost %q, want %q", got, row.want)
			}
		})
	}
}
