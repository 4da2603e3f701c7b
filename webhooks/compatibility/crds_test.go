package compatibility

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

const (
	deny = requirementsv1alpha1.CRDAdmitActionDeny
	warn = requirementsv1alpha1.CRDAdmitActionWarn
)

func TestCRDs(t *testing.T) {
	is := func(objects ...client.Object) world { return world{live: objects, cached: objects} }
	broken := need("a", deny, "", "color")
	broken.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "{}"
	spoilt := enforced(need("a", "", "", "color"), "CRDsDeny")
	spoilt.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "{}"
	elsewhere := need("a", deny, "", "color")
	elsewhere.Status.CRDName = "bags.example.com"
	terminating := crd(t)
	terminating.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
	loss := definitionChange(admissionv1.Update, crd(t), crd(t, "color"))
	for name, row := range map[string]struct {
		world    world
		path     string
		request  admissionv1.AdmissionRequest
		denied   []string // nil if it is allowed
		warnings []string
	}{
		"a lost field is refused under Deny":    {is(need("a", deny, "", "color")), paths.CRDsDeny, loss, []string{"CompatibilityRequirement a: v1: spec.color is missing"}, nil},
		"and warned of under Warn":              {is(need("a", warn, "", "color")), paths.CRDsWarn, loss, nil, []string{"CompatibilityRequirement a: v1: spec.color is missing"}},
		"and under Open":                        {is(opened(need("a", deny, "", "color"))), paths.CRDsDeny, loss, nil, []string{"CompatibilityRequirement a: v1: spec.color is missing"}},
		"and let through without a block":       {is(need("a", "", "", "color")), paths.CRDsDeny, loss, nil, nil},
		"and of a requirement that goes":        {is(gone(need("a", deny, "", "color"))), paths.CRDsDeny, loss, nil, nil},
		"and of another definition":             {is(elsewhere), paths.CRDsDeny, loss, nil, nil},
		"and where the definition goes":         {is(need("a", deny, "", "color")), paths.CRDsDeny, definitionChange(admissionv1.Update, terminating, terminating), nil, nil},
		"a field that nobody needs may go":      {is(need("a", deny, "")), paths.CRDsDeny, loss, nil, nil},
		"what was missing before only warns":    {is(need("a", deny, "", "color", "name")), paths.CRDsDeny, definitionChange(admissionv1.Update, crd(t, "color"), crd(t, "color")), nil, []string{"CompatibilityRequirement a: v1: spec.name is missing"}},
		"a further loss is refused with a mend": {is(need("a", deny, "", "color", "name")), paths.CRDsDeny, definitionChange(admissionv1.Update, crd(t, "name"), crd(t, "color")), []string{"spec.color is missing"}, nil},
		"a creation has no before":              {is(need("a", deny, "", "color")), paths.CRDsDeny, definitionChange(admissionv1.Create, crd(t), nil), []string{"spec.color is missing"}, nil},
		"all requirements answer together": {
			is(need("b", deny, "", "color"), need("a", deny, "", "color"), need("c", warn, "", "color")), paths.CRDsDeny, loss,
			[]string{"CompatibilityRequirement a: v1: spec.color is missing\nCompatibilityRequirement b: v1: spec.color is missing"},
			[]string{"CompatibilityRequirement c: v1: spec.color is missing"},
		},
		"a deletion is refused under Deny":            {is(need("a", deny, "", "color"), need("b", warn, "")), paths.CRDsDeny, definitionChange(admissionv1.Delete, nil, crd(t)), []string{"CompatibilityRequirement a: needs boxes.example.com"}, []string{"CompatibilityRequirement b: needs boxes.example.com; delete the requirement first, if nobody needs it any more"}},
		"a deletion without a block passes":           {is(need("a", "", "", "color")), paths.CRDsDeny, definitionChange(admissionv1.Delete, nil, crd(t)), nil, nil},
		"what cannot be judged is refused under Deny": {is(broken), paths.CRDsDeny, loss, []string{"CompatibilityRequirement a: cannot be judged: "}, nil},
		"also where its block went with it":           {is(spoilt), paths.CRDsDeny, loss, []string{"CompatibilityRequirement a: cannot be judged: "}, nil},
		"and its definition stays":                    {is(spoilt), paths.CRDsDeny, definitionChange(admissionv1.Delete, nil, crd(t)), []string{"CompatibilityRequirement a: needs boxes.example.com"}, nil},
		"a block may go from a spec that can be used": {is(enforced(need("a", "", "", "color"), "CRDsDeny")), paths.CRDsDeny, loss, nil, nil},
		"a requirement that is not cached is asked for": {
			world{live: []client.Object{need("a", deny, "", "color")}}, paths.CRDsDeny, loss, []string{"CompatibilityRequirement a: v1: spec.color is missing"}, nil,
		},
		"one that is cached and gone says nothing": {world{cached: []client.Object{need("a", deny, "", "color")}}, paths.CRDsDeny, loss, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			handler, _ := row.world.served(t)
			answer := ask(t, handler, row.path, row.request)
			if answer.Allowed != (row.denied == nil) {
				t.Fatalf("%+v", answer)
			}
			for _, text := range row.denied {
				if !strings.Contains(answer.Result.Message, text) {
					t.Errorf("%q is not in %q", text, answer.Result.Message)
				}
			}
			if !slices.Equal(answer.Warnings, row.warnings) {
				t.Errorf("warnings are %q", answer.Warnings)
			}
		})
	}
}

func TestCRDs_take_no_older_generation_for_the_present_one(t *testing.T) {
	old, now := need("a", deny, ""), need("a", deny, "", "color")
	old.Generation, old.ResourceVersion, now.ResourceVersion = 1, "1", "2"
	handler, _ := world{live: []client.Object{now}, cached: []client.Object{old}}.served(t)
	if answer := ask(t, handler, paths.CRDsDeny, definitionChange(admissionv1.Update, crd(t), crd(t, "color"))); answer.Allowed {
		t.Error("the need of an older generation counted")
	}
}

func TestCRDs_without_an_API_server_are_refused_under_Deny_alone(t *testing.T) {
	handler, logged := world{broken: true}.served(t)
	loss := definitionChange(admissionv1.Update, crd(t), crd(t, "color"))
	if answer := ask(t, handler, paths.CRDsDeny, loss); answer.Allowed || answer.Result.Code != http.StatusInternalServerError {
		t.Errorf("%+v", answer)
	}
	if answer := ask(t, handler, paths.CRDsWarn, loss); !answer.Allowed || len(answer.Warnings) != 1 {
		t.Errorf("%+v", answer)
	}
	if !strings.Contains(logged.String(), "does not answer") || strings.Contains(logged.String(), "color") {
		t.Errorf("logged is %s", logged)
	}
}

// large is a definition that is stored, and too large to be judged.
func large(t *testing.T, names ...string) *definition {
	t.Helper()
	d := crd(t, names...)
	many := map[string]apiextensionsv1.JSONSchemaProps{}
	for i := range 1000 {
		many[fmt.Sprintf("f%d", i)] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[strings.Repeat("x", 20_000)] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: many}
	return d
}

func TestCRDs_that_are_too_large_can_be_mended(t *testing.T) {
	r := need("a", deny, "", "color")
	handler, _ := world{live: []client.Object{r}, cached: []client.Object{r}}.served(t)
	for name, c := range map[string]struct {
		now, before *definition
		denied      string
	}{
		"one that becomes so is refused":       {large(t, "color"), crd(t, "color"), "cannot be judged"},
		"one that is so may become smaller":    {crd(t, "color"), large(t, "color"), ""},
		"and lose no more than a new one may":  {crd(t), large(t), "spec.color is missing"},
		"one that stays so, and loses nothing": {large(t, "color", "name"), large(t, "color"), "cannot be judged"},
	} {
		answer := ask(t, handler, paths.CRDsDeny, definitionChange(admissionv1.Update, c.now, c.before))
		if answer.Allowed != (c.denied == "") || !answer.Allowed && !strings.Contains(answer.Result.Message, c.denied) {
			t.Errorf("%s: %+v", name, answer.Result)
		}
	}
}
