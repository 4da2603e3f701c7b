package decide

import (
	"testing"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestOurs_says_what_is_to_be_let_go_of(t *testing.T) {
	us := Identity{Owner: "me", FieldManager: testManager, Legacy: []string{"former"}}
	for metadata, want := range map[string]bool{
		`{name: a}`: false,
		`{name: a, annotations: {capi-operator.openshift.io/owner: me}}`:                                                           true,
		`{name: a, annotations: {capi-operator.openshift.io/owner: other}}`:                                                        false,
		`{name: a, managedFields: [{manager: capstan, operation: Apply}]}`:                                                         true,
		`{name: a, managedFields: [{manager: kubectl, operation: Apply}]}`:                                                         false,
		`{name: a, managedFields: [{manager: former, operation: Apply}]}`:                                                          false,
		`{name: a, annotations: {capi-operator.openshift.io/owner: other}, managedFields: [{manager: capstan, operation: Apply}]}`: false,
	} {
		if got := us.Ours(objects.Parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: `+metadata+`}`)); got != want {
			t.Errorf("%s: %v", metadata, got)
		}
	}
}

func TestManifest_is_about_a_definition_only_where_it_is_a_requirement(t *testing.T) {
	const about = `, metadata: {name: a, annotations: {capi-operator.openshift.io/required-crd: b.c}}}`
	for text, want := range map[string]string{
		`{apiVersion: apiextensions.openshift.io/v1alpha1, kind: CompatibilityRequirement` + about:               "b.c",
		`{apiVersion: v1, kind: ConfigMap` + about:                                                               "",
		`{apiVersion: apiextensions.openshift.io/v1alpha1, kind: CompatibilityRequirement, metadata: {name: a}}`: "",
	} {
		if m := manifestOf(objects.Parse(t, text)); m.About != want || m.Fault != (Fault{}) {
			t.Errorf("%s is about %q (%v)", text, m.About, m.Fault)
		}
	}
}
