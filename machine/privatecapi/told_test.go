package privatecapi_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
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

// said is the message of the condition of a hosted cluster.
func (p *play) said(key machine.Key) string {
	conditions, _ := p.Status(key)["conditions"].([]any)
	for _, item := range conditions {
		if one, _ := item.(map[string]any); one["type"] == phases.Condition {
			message, _ := one["message"].(string)
			return message
		}
	}
	return ""
}

func TestMigration_that_rests_reads_no_hosted_cluster_to_tell_the_same_again(t *testing.T) {
	p := newPlay(t)
	p.machine.Store = p.TellingStore()
	key := p.AddHosted("a", 1)
	p.Annotate(key, guards.PausedAnnotation, "true")
	p.until("told", time.Minute, func() bool { return p.rests(key, guards.Eligible)() && strings.HasPrefix(p.said(key), "Eligible") })
	p.round()
	was := p.Got()
	for range 5 {
		p.round()
	}
	if reads := p.Got() - was; reads > 0 {
		t.Errorf("%d reads in 5 passes", reads)
	}
	p.SetStatus(key, map[string]any{})
	p.round()
	if !strings.HasPrefix(p.said(key), "Eligible") {
		t.Errorf("it is not told again: %v", p.Status(key))
	}
}

func TestMigration_that_is_held_tells_by_whom_and_names_all_that_is_to_be_taken_off(t *testing.T) {
	theirs := guards.Companion{ID: guards.MigrationID("their-installation", "x", guards.ToPrivate), Direction: guards.ToPrivate, Stage: guards.Moving}.Text()
	for name, row := range map[string]struct {
		locks map[string]string
		by    string
	}{
		"by the annotation alone":  {map[string]string{guards.MigrationAnnotation: "true"}, "manager kubectl-annotate"},
		"by another installation":  {map[string]string{guards.MigrationAnnotation: "true", guards.CompanionAnnotation: theirs}, "their-installation"},
		"by what stands beside it": {map[string]string{guards.CompanionAnnotation: theirs}, "manager kubectl-annotate"},
		"by what cannot be read":   {map[string]string{guards.CompanionAnnotation: "x"}, "manager kubectl-annotate"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			p.machine.Store = p.TellingStore()
			key := p.AddHosted("a", 1)
			p.Annotate(key, guards.PausedAnnotation, "true")
			p.until("eligible", time.Minute, p.rests(key, guards.Eligible))
			p.LockAs(key, "kubectl-annotate", row.locks)
			p.until("held", time.Minute, func() bool { return p.State(key) == guards.Held })
			for range 5 {
				p.round()
			}
			for _, want := range []string{guards.MigrationAnnotation, guards.CompanionAnnotation, row.by} {
				if said := p.said(key); !strings.Contains(said, want) {
					t.Errorf("it does not tell %q: %s", want, said)
				}
			}
		})
	}
}
