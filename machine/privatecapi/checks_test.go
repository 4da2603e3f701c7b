package privatecapi_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// refuses checks that a hosted cluster is not locked, and that an Event says why.
func (p *play) refuses(key machine.Key, why string) {
	p.t.Helper()
	p.begin(key)
	p.until("refused", time.Minute, func() bool {
		return slices.ContainsFunc(p.ToldTexts("MigrationRefused"), func(text string) bool { return strings.Contains(text, why) })
	})
	for end := p.Now().Add(3 * time.Minute); p.Now().Before(end); p.round() {
		if locked := p.Locked(); len(locked) > 0 {
			p.t.Fatalf("locked %v", locked)
		}
	}
}

func TestMigration_tries_the_fence_with_every_kind_of_both_sides(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("locked", time.Minute, p.reaches(key, guards.Pausing))
	for _, kind := range []string{"clusters", "machinesets", "machines"} {
		for _, group := range []string{".cluster.x-k8s.io", ".cluster.hypershift.openshift.io"} {
			if denied := p.DeniedKinds(); !slices.Contains(denied, kind+group) {
				t.Errorf("%s%s was not tried; denied are %v", kind, group, denied)
			}
		}
	}
	for _, kind := range []string{"awsclusters", "awsmachines", "awsmachinetemplates"} {
		if denied := p.DeniedKinds(); !slices.Contains(denied, kind+".infrastructure.cluster.hypershift.openshift.io") {
			t.Errorf("%s was not tried; denied are %v", kind, denied)
		}
	}
}

func TestMigration_is_refused_where_components_may_not_create_what_the_fence_is_tried_with(t *testing.T) {
	for _, right := range []string{"create machines.cluster.x-k8s.io", "create awsmachines.infrastructure.cluster.hypershift.openshift.io"} {
		t.Run(right, func(t *testing.T) {
			p, key := waits(t)
			p.Forbid(right)
			p.refuses(key, "system:serviceaccount:clusters-a:cluster-api may not "+right)
		})
	}
}

func TestMigration_is_refused_where_more_belongs_to_the_objects_than_can_be_moved(t *testing.T) {
	p, key := waits(t)
	p.ManySecrets(true)
	p.refuses(key, "there are more than 20000 secrets")
}

func TestMigration_is_refused_where_the_operator_may_not_speak_as_a_component(t *testing.T) {
	p, key := waits(t)
	p.Forbid("impersonate system:serviceaccount:clusters-a:cluster-api")
	p.refuses(key, "the operator may not impersonate system:serviceaccount:clusters-a:cluster-api")
}
