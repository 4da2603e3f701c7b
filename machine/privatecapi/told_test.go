package privatecapi_test

import (
	"reflect"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

func TestMigration_leaves_the_status_of_a_hosted_cluster_that_watches_show_without_it(t *testing.T) {
	p := newPlay(t)
	p.machine.Store = p.TellingStore()
	key := p.AddHosted("a", 1)
	p.Annotate(key, guards.PausedAnnotation, "true")
	available := map[string]any{"type": "Available", "status": "True"}
	p.SetStatus(key, map[string]any{"version": "4.18.1", "conditions": []any{available}})
	told := func(of string) {
		t.Helper()
		status := p.Status(key)
		conditions, _ := status["conditions"].([]any)
		if status["version"] != "4.18.1" || len(conditions) != 2 || !reflect.DeepEqual(conditions[0], available) {
			t.Errorf("the status is %v", status)
		}
		if one, _ := conditions[len(conditions)-1].(map[string]any); one["reason"] != of {
			t.Errorf("it tells %v", one)
		}
	}
	p.until("eligible", time.Minute, p.rests(key, guards.Eligible))
	p.round()
	told("Eligible")
	p.begin(key)
	p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
	p.round()
	told("Private")
}
