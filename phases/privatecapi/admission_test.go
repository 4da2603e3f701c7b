package privatecapi

import (
	"fmt"
	"strings"
	"testing"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/phases/render/admission"
)

func TestThePolicyOfWhatTheOperatorWritesKnowsWhatAMoveWritesByItsNames(t *testing.T) {
	words := []string{
		guards.ScopeAnnotation, guards.PreviousScopeAnnotation, guards.PrivateTypesAnnotation, guards.MigrationAnnotation, guards.FailedAnnotation,
		guards.CompanionAnnotation, guards.RevertAnnotation, guards.MigratedFromAnnotation, guards.MigratedByAnnotation, guards.CopiedToAnnotation, guards.Finalizer, guards.FenceLabel, guards.MoveLabel,
		Condition, PriorPause, PriorReplicas, PriorTemplate, sidecarName,
	}
	for _, component := range Components {
		words = append(words, component.Name)
	}
	var text string
	for _, o := range admission.Shipped.Objects() {
		if o.GetName() == "capstan-writes" {
			text += fmt.Sprint(o.Object)
		}
	}
	for _, word := range words {
		if !strings.Contains(text, "'"+word+"'") {
			t.Errorf("the policy does not know %s", word)
		}
	}
}
