package privatecapi_test

import (
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
