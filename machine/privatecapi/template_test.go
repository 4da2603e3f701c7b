package privatecapi_test

import (
	"slices"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// forged is a pod template that somebody would have as that of a component.
const forged = `{"metadata":{"labels":{"app":"cluster-api"}},"spec":{"serviceAccountName":"cluster-api","containers":[{"name":"main","image":"registry.example/forged"}]}}`

// The status of a Deployment may be written, with the annotations, by those who may not write its template.
func TestMigration_makes_nothing_a_component_that_is_not_the_template_it_had(t *testing.T) {
	for _, at := range []machine.State{guards.Copying, guards.Observing} {
		for name, lost := range map[string]bool{"": false, ", where the journal is lost": true} {
			t.Run(string(at)+name, func(t *testing.T) {
				p, key := waits(t)
				was := p.Rest(key)
				delete(was, "hostedclusters a")
				p.begin(key)
				p.until(string(at), 5*time.Minute, p.reaches(key, at))
				p.Mark(key, phases.Deployments.Resource, "cluster-api", phases.PriorTemplate, forged)
				if lost {
					p.LoseRecord(key)
					p.restart()
				} else {
					p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
					p.Fail("a-0")
				}
				p.until("undone", 30*time.Minute, p.rests(key, guards.Failed))
				is := p.Rest(key)
				delete(is, "hostedclusters a")
				p.same("components", was, is)
			})
		}
	}
}

// They may write the annotation that says how many replicas it had, too, or take it off.
func TestMigration_gives_a_component_the_replicas_that_it_had_whatever_its_annotation_says(t *testing.T) {
	for _, says := range []string{"0", "1000", ""} {
		for at, end := range map[machine.State]machine.State{guards.Snapshotting: guards.Failed, guards.Observing: guards.Private} {
			t.Run(string(at)+" "+says, func(t *testing.T) {
				p, key := waits(t)
				p.begin(key)
				p.until(string(at), 5*time.Minute, p.reaches(key, at))
				for _, component := range []string{"cluster-api", "cluster-autoscaler"} {
					p.Mark(key, phases.Deployments.Resource, component, phases.PriorReplicas, says)
				}
				if end == guards.Failed {
					p.until("observing", 15*time.Minute, p.reaches(key, guards.Observing))
					p.Fail("a-0")
				}
				p.until("unlocking", 30*time.Minute, p.reaches(key, guards.Unlocking)) // from then on its operator looks after it again
				for _, component := range []string{"cluster-api", "cluster-autoscaler"} {
					if n := p.Replicas(key, component); n != int64(1) {
						t.Errorf("%s has %v replicas", component, n)
					}
				}
				p.until("over", 30*time.Minute, p.rests(key, end))
			})
		}
	}
}

func TestMigration_starts_a_component_whose_annotation_is_gone_before_it_is_committed(t *testing.T) {
	for _, at := range []machine.State{guards.Snapshotting, guards.Starting} {
		p, key := waits(t)
		p.begin(key)
		p.until(string(at), 5*time.Minute, p.reaches(key, at))
		for _, component := range []string{"capi-provider", "control-plane-operator"} {
			p.Mark(key, phases.Deployments.Resource, component, phases.PriorReplicas, "")
		}
		p.until("comparing", 5*time.Minute, p.reaches(key, guards.Comparing))
		for _, component := range []string{"capi-provider", "control-plane-operator"} {
			if n := p.Replicas(key, component); n != int64(1) {
				t.Errorf("%s has %v replicas, from %s on", component, n, at)
			}
		}
		p.until("moved", 10*time.Minute, p.rests(key, guards.Private))
	}
}

// RunChecks refuses the annotation before a move, but it may be written between that and the first word of the journal.
func TestMigration_does_not_begin_its_journal_with_a_number_that_somebody_has_written(t *testing.T) {
	for _, says := range []string{"0", "-1", "1000"} {
		t.Run(says, func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until("locking", 5*time.Minute, p.reaches(key, guards.Locking))
			for !guards.MarksOf(p.Annotations(key)).Companion.Present {
				p.round()
			}
			for _, component := range []string{"cluster-api", "cluster-autoscaler"} {
				p.Mark(key, phases.Deployments.Resource, component, phases.PriorReplicas, says)
			}
			p.until("unlocking", 30*time.Minute, p.reaches(key, guards.Unlocking))
			for _, component := range []string{"cluster-api", "cluster-autoscaler"} {
				if n := p.Replicas(key, component); n != int64(1) {
					t.Errorf("%s has %v replicas", component, n)
				}
			}
			p.until("moved", 30*time.Minute, p.rests(key, guards.Private))
		})
	}
}

func TestMigration_that_is_undone_keeps_what_the_operator_of_a_component_has_changed_meanwhile(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
	p.Retemplate(key, "cluster-autoscaler", "LATE")
	p.Fail("a-0")
	p.until("undone", 30*time.Minute, p.rests(key, guards.Failed))
	if env := p.Env(key, "cluster-autoscaler"); !slices.Equal(env, []string{"LATE", "KUBECONFIG", "A"}) {
		t.Errorf("its variables are %v", env)
	}
}

func TestMigration_gives_a_component_its_own_kubeconfig_back_also_where_the_journal_is_lost(t *testing.T) {
	for _, at := range []machine.State{guards.Starting, guards.Observing} {
		p, key := waits(t)
		p.begin(key)
		p.until(string(at), 5*time.Minute, p.reaches(key, at))
		p.Mark(key, phases.Deployments.Resource, "cluster-autoscaler", phases.PriorTemplate, "")
		p.LoseRecord(key)
		p.restart()
		p.until("undone", 30*time.Minute, p.rests(key, guards.Failed))
		if env := p.Env(key, "cluster-autoscaler"); !slices.Equal(env, []string{"KUBECONFIG", "A"}) {
			t.Errorf("its variables are %v", env)
		}
	}
}
