package clusterapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

func seenRequirement(t *testing.T, name, requirement, crd string) engine.Requirement {
	t.Helper()
	r := engine.Requirement{Key: engine.Key{Kind: "CompatibilityRequirement", Name: name}, About: "a.b.c"}
	for text, into := range map[string]**unstructured.Unstructured{requirement: &r.Object, crd: &r.Definition} {
		if text == "" {
			continue
		}
		*into = &unstructured.Unstructured{}
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := (*into).UnmarshalJSON([]byte(strings.Replace(string(raw), "{", `{"apiVersion":"v1","kind":"Any",`, 1))); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

const (
	judgedMet = `
metadata: {name: r, generation: 2}
status:
  conditions:
  - {type: Progressing, status: "False", reason: UpToDate, observedGeneration: 2}
  - {type: Admitted, status: "True", reason: Admitted, observedGeneration: 2}
  - {type: Compatible, status: "True", reason: Compatible, message: m, observedGeneration: 2}
  observedCRD: {uid: u, generation: 5}`
	established = `
metadata: {name: a.b.c, uid: u, generation: 5}
status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}`
)

func TestRequirementOf_makes_facts_of_what_was_seen(t *testing.T) {
	got := requirementOf(seenRequirement(t, "r", judgedMet, established))
	want := guards.Requirement{
		Name: "r", Definition: "a.b.c", Generation: 2,
		Conditions: []guards.Condition{
			{Type: "Progressing", Status: "False", Reason: "UpToDate", Generation: 2},
			{Type: "Admitted", Status: "True", Reason: "Admitted", Generation: 2},
			{Type: "Compatible", Status: "True", Reason: "Compatible", Message: "m", Generation: 2},
		},
		ObservedUID: "u", ObservedGeneration: 5,
		Live: guards.Definition{Exists: true, UID: "u", Generation: 5, Established: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = requirementOf(seenRequirement(t, "r", "metadata: {generation: 1}\nstatus: {conditions: [a, {type: 3}]}", "metadata: {deletionTimestamp: 2026-01-01T00:00:00Z}"))
	want = guards.Requirement{Name: "r", Definition: "a.b.c", Generation: 1, Conditions: []guards.Condition{{}}, Live: guards.Definition{Exists: true, Terminating: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of odd ones: %s", diff)
	}
}

func TestMet_is_the_gate_of_each_kind_of_requirement(t *testing.T) {
	const shape, objects = "capstan-shape.a.b.c.00000000", "capstan-objects.a.b.c"
	gone := strings.Replace(judgedMet, `Compatible, status: "True", reason: Compatible`, `Compatible, status: "False", reason: CRDNotFound`, 1)
	arming := strings.Replace(judgedMet, `Progressing, status: "False"`, `Progressing, status: "True"`, 1)
	for name, row := range map[string]struct {
		of, requirement, crd string
		installed            bool
		want                 engine.Answer
	}{
		"a shape that is met":             {shape, judgedMet, established, false, engine.AnswerTrue},
		"a shape that is not":             {shape, gone, "", false, engine.AnswerFalse},
		"a shape that is not in force":    {shape, arming, established, false, engine.AnswerFalse},
		"the same once it is installed":   {shape, arming, established, true, engine.AnswerTrue},
		"installed, and not met any more": {shape, gone, "", true, engine.AnswerFalse},
		"objects in force":                {objects, gone, "", false, engine.AnswerTrue},
		"objects not in force":            {objects, arming, established, false, engine.AnswerFalse},
		"objects not judged":              {objects, "metadata: {generation: 1}", established, false, engine.AnswerUnknown},
		"what an image requires":          {"other", "metadata: {generation: 1}", "", false, engine.AnswerTrue},
	} {
		probe := Met(seenRequirement(t, row.of, row.requirement, row.crd), row.installed)
		if probe.Answer != row.want || strings.Contains(probe.Message, row.of) {
			t.Errorf("%s: got %v (%q)", name, probe.Answer, probe.Message)
		}
	}
}

func TestTheEngine_reads_what_rendering_says_a_requirement_is_about(t *testing.T) {
	if render.DefinitionAnnotation != engine.RequiredAnnotation {
		t.Errorf("%s is not %s", render.DefinitionAnnotation, engine.RequiredAnnotation)
	}
}

func TestNowhereWarning_is_bounded(t *testing.T) {
	if nowhereWarning(nil) != "" || nowhereWarning(&render.Revision{}) != "" {
		t.Error("it tells of nothing")
	}
	text := nowhereWarning(&render.Revision{Nowhere: []string{"a.b.c", strings.Repeat("d", 1000)}})
	if !strings.Contains(text, "a.b.c") || len(text) > 500 {
		t.Errorf("it says %q", text)
	}
}
