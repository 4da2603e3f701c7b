package openshiftcontrolplane

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

func TestWords_of_the_questions_are_those_of_the_API(t *testing.T) {
	for name, pair := range map[string][2]string{
		"from scratch":        {guards.FromScratch, v1alpha1.FromScratch},
		"intended":            {guards.Intended, v1alpha1.BootstrapIntended},
		"PostInfrastructure":  {string(guards.PostInfrastructure), string(v1alpha1.PostInfrastructure)},
		"PreBootstrapRemoval": {string(guards.PreBootstrapRemoval), string(v1alpha1.PreBootstrapRemoval)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q is %q in the API", name, pair[0], pair[1])
		}
	}
	for _, guard := range []machine.Guard[guards.Facts]{guards.CauseIsGone, guards.ScratchIsAsked} {
		if !strings.Contains(strings.ToLower(guard.Doc), v1alpha1.RetryAnnotation) {
			t.Errorf("%s does not name annotation %s", guard.Name, v1alpha1.RetryAnnotation)
		}
	}
}
