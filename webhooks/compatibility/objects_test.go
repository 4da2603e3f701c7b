package compatibility

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

func box(spec string) map[string]any {
	object := map[string]any{"apiVersion": "example.com/v1", "kind": "Box", "metadata": map[string]any{"name": "a", "namespace": "default", "resourceVersion": "1"}}
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		panic(err)
	}
	object["spec"] = fields
	return object
}

func boxChange(now, before any) admissionv1.AdmissionRequest {
	r := admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Name: "a", Namespace: "default", Object: raw(now), OldObject: raw(before),
		Kind:     metav1.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Box"},
		Resource: metav1.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "boxes"},
	}
	if before != nil {
		r.Operation = admissionv1.Update
	}
	return r
}

// path is that of a requirement as need makes it.
func path(prefix string, generation int64) string {
	return paths.Subject{Name: "a", UID: "uid-of-a", Generation: generation}.Path(prefix)
}

func TestObjects_and_Prune(t *testing.T) {
	both := func(r *requirement) world {
		return world{live: []client.Object{r, crd(t, "color", "extra")}, cached: []client.Object{r, crd(t, "color", "extra")}}
	}
	other := boxChange(box("{size: 10}"), nil)
	other.Resource.Version = "v2"
	claims := box("{extra: x}") // that it is being deleted: a server-side apply may
	claims["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	for name, row := range map[string]struct {
		world   world
		prefix  string
		request admissionv1.AdmissionRequest
		denied  string
		warning string
		patch   string
	}{
		"a bad number is refused under Deny":        {both(need("a", "", deny, "color")), paths.Objects, boxChange(box("{size: 10}"), nil), "spec.size", "", ""},
		"and warned of under Warn":                  {both(need("a", "", warn, "color")), paths.Objects, boxChange(box("{size: 10}"), nil), "", "CompatibilityRequirement a: spec.size: ", ""},
		"and under Open":                            {both(opened(need("a", "", deny, "color"))), paths.Objects, boxChange(box("{size: 10}"), nil), "", "CompatibilityRequirement a: spec.size: ", ""},
		"and let through without a block":           {both(need("a", "", "", "color")), paths.Objects, boxChange(box("{size: 10}"), nil), "", "", ""},
		"and of a requirement that goes":            {both(gone(need("a", "", deny, "color"))), paths.Objects, boxChange(box("{size: 10}"), nil), "", "", ""},
		"and in a version that is not selected":     {both(need("a", "", deny, "color")), paths.Objects, other, "", "", ""},
		"a good object passes":                      {both(need("a", "", deny, "color")), paths.Objects, boxChange(box("{size: 9, color: red}"), nil), "", "", ""},
		"what was bad before may stay":              {both(need("a", "", deny, "color")), paths.Objects, boxChange(box("{size: 10, color: red}"), box("{size: 10}")), "", "", ""},
		"an unknown field is pruned under Deny":     {both(need("a", "", deny, "color")), paths.Prune, boxChange(box("{extra: x}"), nil), "", `CompatibilityRequirement a: unknown field`, `[{"op":"remove","path":"/spec/extra"}]`},
		"whatever a new object says of itself":      {both(need("a", "", deny, "color")), paths.Prune, boxChange(claims, nil), "", `CompatibilityRequirement a: unknown field`, `[{"op":"remove","path":"/spec/extra"}]`},
		"not of what is being deleted":              {both(need("a", "", deny, "color")), paths.Prune, boxChange(claims, claims), "", "", ""},
		"kept if it is stored already":              {both(need("a", "", deny, "color")), paths.Prune, boxChange(box("{extra: x}"), box("{extra: x}")), "", "", ""},
		"kept under Warn":                           {both(need("a", "", warn, "color")), paths.Prune, boxChange(box("{extra: x}"), nil), "", "", ""},
		"which the validating endpoint tells":       {both(need("a", "", warn, "color")), paths.Objects, boxChange(box("{extra: x}"), nil), "", "is kept", ""},
		"a requirement that is not cached is asked": {world{live: both(need("a", "", deny, "color")).live}, paths.Objects, boxChange(box("{size: 10}"), nil), "spec.size", "", ""},
		"one that is nowhere allows":                {world{}, paths.Objects, boxChange(box("{size: 10}"), nil), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			handler, logged := row.world.served(t)
			answer := ask(t, handler, path(row.prefix, 2), row.request)
			if answer.Allowed != (row.denied == "") {
				t.Fatalf("%+v", answer)
			}
			if !answer.Allowed && (answer.Result.Code != http.StatusUnprocessableEntity || !slices.ContainsFunc(answer.Result.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == row.denied })) {
				t.Errorf("the answer is %+v", answer.Result)
			}
			if got := strings.Join(answer.Warnings, "\n"); row.warning == "" && got != "" || !strings.Contains(got, row.warning) {
				t.Errorf("warnings are %q", got)
			}
			if string(answer.Patch) != row.patch {
				t.Errorf("the patch is %s", answer.Patch)
			}
			if logged.Len() > 0 {
				t.Errorf("logged is %s", logged)
			}
		})
	}
}

func TestObjects_of_a_spec_that_cannot_be_used_are_refused_also_where_its_block_went_with_it(t *testing.T) {
	spoilt := enforced(need("a", "", "", "color"), "ObjectsDeny")
	usable := spoilt.DeepCopy()
	spoilt.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "{}"
	for r, allowed := range map[*requirement]bool{spoilt: false, usable: true} {
		handler, _ := world{live: []client.Object{r}, cached: []client.Object{r}}.served(t)
		for _, prefix := range []string{paths.Objects, paths.Prune} {
			if answer := ask(t, handler, path(prefix, 1), boxChange(box("{size: 1}"), nil)); answer.Allowed != allowed {
				t.Errorf("%s: %+v", prefix, answer)
			}
		}
	}
}

func TestObjects_of_a_path_that_is_newer_than_the_cache_are_judged_live(t *testing.T) {
	old, now := need("a", "", deny, "color"), need("a", "", deny, "color")
	old.Generation, now.Generation = 1, 2
	old.Spec.ObjectSchemaValidation.Action = ""
	handler, _ := world{live: []client.Object{now}, cached: []client.Object{old}}.served(t)
	if answer := ask(t, handler, path(paths.Objects, 2), boxChange(box("{size: 10}"), nil)); answer.Allowed {
		t.Error("an older generation counted")
	}
	if answer := ask(t, handler, path(paths.Objects, 1), boxChange(box("{size: 10}"), nil)); !answer.Allowed {
		t.Errorf("%+v", answer)
	}
}

func TestObjects_are_let_through_by_no_404_of_a_server_that_does_not_serve_requirements_yet(t *testing.T) {
	for definition, allowed := range map[client.Object]bool{requirements(): false, crd(t): true} {
		handler, _ := world{live: []client.Object{definition}, unserved: true}.served(t)
		for _, prefix := range []string{paths.Objects, paths.Prune} {
			answer := ask(t, handler, path(prefix, 2), boxChange(box("{size: 10}"), nil))
			if answer.Allowed != allowed || !allowed && !strings.Contains(answer.Result.Message, "does not serve it") {
				t.Errorf("%s with CRD %s: %+v", prefix, definition.GetName(), answer)
			}
		}
		handler, _ = world{live: []client.Object{definition}, cached: []client.Object{need("a", deny, deny, "color")}, unserved: true}.served(t)
		if answer := ask(t, handler, paths.CRDsDeny, definitionChange(admissionv1.Update, crd(t), crd(t, "color"))); answer.Allowed != allowed {
			t.Errorf("a CRD with CRD %s: %+v", definition.GetName(), answer)
		}
	}
}

func TestPrune_refuses_what_a_definition_that_is_too_large_may_require(t *testing.T) {
	r := need("a", "", deny, "color")
	handler, _ := world{live: []client.Object{r, large(t, "color")}, cached: []client.Object{r, large(t, "color")}}.served(t)
	answer := ask(t, handler, path(paths.Prune, 2), boxChange(box("{extra: x}"), nil))
	if answer.Allowed || answer.Result.Code != http.StatusUnprocessableEntity || !strings.Contains(answer.Result.Message, "too large to be judged") {
		t.Errorf("%+v", answer)
	}
}
