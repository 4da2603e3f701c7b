package privatecapi_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// two are a hosted cluster and a younger one, which both wait for their turn.
func two(t *testing.T) (p *play, older, younger machine.Key) {
	t.Helper()
	p = newPlay(t)
	older = p.AddHosted("a", 1)
	p.Pass(time.Minute)
	return p, older, p.AddHosted("b", 1)
}

func TestMigration_moves_others_past_one_that_cannot_be_locked(t *testing.T) {
	for what, write := range map[string]struct {
		verb     phases.Verb
		resource string
		name     func(*play, machine.Key) string
	}{
		"as its fence is refused": {phases.Patch, phases.Namespaces.Resource, (*play).NamespaceOf},
		"as its lock is refused":  {phases.Patch, phases.HostedClusters.Resource, func(*play, machine.Key) string { return "a" }},
	} {
		t.Run(what, func(t *testing.T) {
			p, older, younger := two(t)
			for _, key := range []machine.Key{older, younger} {
				p.Annotate(key, guards.ScopeAnnotation, guards.ScopeLegacy)
			}
			p.RefuseOf(write.verb, write.resource, write.name(p, older))
			p.until("the other has moved", 15*time.Minute, func() bool { return p.State(younger) == guards.Private })
		})
	}
}

func TestMigration_moves_others_past_one_that_cannot_be_checked(t *testing.T) {
	p, older, younger := two(t)
	p.Untold(older)
	p.until("the other has moved", 15*time.Minute, func() bool { return p.State(younger) == guards.Private })
	if slices.Contains(p.visited[older], guards.Locking) {
		t.Errorf("it was locked; states %v", p.visited)
	}
}

func TestMigration_of_one_whose_control_plane_is_not_made_yet_comes_to_its_end(t *testing.T) {
	for what, add := range map[string]func(*play) machine.Key{
		"without a namespace":        func(p *play) machine.Key { return p.AddEmpty("a") },
		"with an empty namespace":    func(p *play) machine.Key { return p.AddBare("a") },
		"and is made while it moves": nil,
	} {
		t.Run(what, func(t *testing.T) {
			p := newPlay(t)
			if add != nil {
				key := add(p)
				p.until("moved", 5*time.Minute, p.rests(key, guards.Private))
				if !p.reaches(key, guards.Committing)() {
					t.Errorf("states %v", p.visited)
				}
				return
			}
			key := p.AddEmpty("a")
			p.until("draining", 5*time.Minute, p.reaches(key, guards.Draining))
			p.MakeNamespace(key)
			p.until("undone", 5*time.Minute, p.rests(key, guards.Failed))
		})
	}
}

func TestMigration_is_refused_where_marks_of_a_move_stand_before_there_is_one(t *testing.T) {
	for annotation, on := range map[string]struct{ resource, name string }{
		phases.PriorPause:             {"clusters", "a"},
		guards.MigratedFromAnnotation: {"machines", "a-0"},
		guards.MigratedByAnnotation:   {"machines", "a-0"},
		guards.CopiedToAnnotation:     {"awsmachines", "a-0"},
		phases.PriorReplicas:          {phases.Deployments.Resource, "cluster-api"},
		phases.PriorTemplate:          {phases.Deployments.Resource, "capi-provider"},
	} {
		t.Run(annotation, func(t *testing.T) {
			p, key := waits(t)
			p.Mark(key, on.resource, on.name, annotation, "0")
			p.begin(key)
			p.until("refused", 2*time.Minute, func() bool {
				return slices.ContainsFunc(p.Said(), func(text string) bool {
					return strings.Contains(text, on.name+" has annotation "+annotation)
				})
			})
			for range 90 {
				p.round()
			}
			if slices.Contains(p.visited[key], guards.Locking) {
				t.Errorf("it was locked; states %v", p.visited)
			}
		})
	}
}
