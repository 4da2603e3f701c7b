package compatibility

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

// text is a definition with a field for each name.
func text(fields ...string) string {
	var properties strings.Builder
	for _, field := range fields {
		fmt.Fprintf(&properties, "%s: {type: string}, ", field)
	}
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Box, plural: boxes}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {` + properties.String() + `size: {type: integer, maximum: 9}}}
`
}

func crd(t *testing.T, fields ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	found := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(text(fields...)), found); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(found)
	found.UID, found.Generation = "crd", 1
	return found
}

// need is a requirement of fields, with an action for the definition and one for objects.
func need(name string, definition, objects requirementsv1alpha1.CRDAdmitAction, fields ...string) *requirement {
	r := &requirement{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name), Generation: 2}}
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: text(fields...)}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = definition
	r.Spec.ObjectSchemaValidation.Action = objects
	r.Status.CRDName = "boxes.example.com"
	return r
}

func opened(r *requirement) *requirement {
	r.Status.Conditions = []metav1.Condition{{Type: "State", Status: metav1.ConditionFalse, Reason: "Open"}}
	return r
}

func gone(r *requirement) *requirement {
	now := metav1.Now()
	r.DeletionTimestamp, r.Finalizers = &now, []string{"example.com/test"}
	return r
}

// world is a cluster, and what a replica has seen of it.
type world struct {
	live, cached []client.Object
	broken       bool // the API server answers nothing
}

func reader(t *testing.T, objects []client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{requirementsv1alpha1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource().Build()
}

type deaf struct{ client.Reader }

func (deaf) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("the API server does not answer")
}

func (deaf) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the API server does not answer")
}

// served is a server for a world, and what it logs.
func (w world) served(t *testing.T) (http.Handler, *bytes.Buffer) {
	t.Helper()
	var logged bytes.Buffer
	live := client.Reader(reader(t, copies(w.live)))
	cached := copies(w.cached)
	for _, object := range cached {
		if _, err := Slim(object); err != nil {
			t.Fatal(err)
		}
	}
	if w.broken {
		live = deaf{}
	}
	s, err := New(reader(t, cached), live, funcr.New(func(prefix, args string) { logged.WriteString(prefix + args + "\n") }, funcr.Options{Verbosity: 9}))
	if err != nil {
		t.Fatal(err)
	}
	return s.Handler(), &logged
}

func copies(objects []client.Object) []client.Object {
	var all []client.Object
	for _, object := range objects {
		if copied, is := object.DeepCopyObject().(client.Object); is {
			all = append(all, copied)
		}
	}
	return all
}

func raw(object any) runtime.RawExtension {
	if object == nil {
		return runtime.RawExtension{}
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return runtime.RawExtension{Raw: data}
}

// ask sends a request as an API server does.
func ask(t *testing.T, handler http.Handler, path string, request admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	request.UID = "request"
	review := admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: &request}
	sent := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(raw(review).Raw))
	sent.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, sent)
	if err := json.Unmarshal(answer.Body.Bytes(), &review); err != nil {
		t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	return review.Response
}

func definitionChange(operation admissionv1.Operation, now, before any) admissionv1.AdmissionRequest {
	return admissionv1.AdmissionRequest{
		Operation: operation, Object: raw(now), OldObject: raw(before),
		Kind:     metav1.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		Resource: metav1.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	}
}

const (
	deny = requirementsv1alpha1.CRDAdmitActionDeny
	warn = requirementsv1alpha1.CRDAdmitActionWarn
)

func TestCRDs(t *testing.T) {
	is := func(objects ...client.Object) world { return world{live: objects, cached: objects} }
	broken := need("a", deny, "", "color")
	broken.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "{}"
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

func TestRequirements(t *testing.T) {
	change := func(now, before *requirement) admissionv1.AdmissionRequest {
		r := admissionv1.AdmissionRequest{Operation: admissionv1.Create, Name: now.Name, Object: raw(now)}
		if before != nil {
			r.Operation, r.OldObject = admissionv1.Update, raw(before)
		}
		return r
	}
	good, bad := need("a", deny, "", "color"), need("a", deny, "")
	bad.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "{}"
	handler, _ := world{}.served(t)
	if answer := ask(t, handler, paths.Requirements, change(good, nil)); !answer.Allowed {
		t.Errorf("a good one: %+v", answer.Result)
	}
	if answer := ask(t, handler, paths.Requirements, change(bad, bad)); !answer.Allowed {
		t.Errorf("one whose spec stays: %+v", answer.Result)
	}
	if answer := ask(t, handler, paths.Requirements, change(gone(bad.DeepCopy()), good)); !answer.Allowed {
		t.Errorf("one that goes: %+v", answer.Result)
	}
	answer := ask(t, handler, paths.Requirements, change(bad, nil))
	if answer.Allowed || answer.Result.Code != http.StatusUnprocessableEntity || answer.Result.Reason != metav1.StatusReasonInvalid {
		t.Fatalf("a bad one: %+v", answer)
	}
	if causes := answer.Result.Details.Causes; len(causes) == 0 || !strings.HasPrefix(causes[0].Field, "spec.compatibilitySchema") {
		t.Errorf("the causes are %v", causes)
	}
}

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

func TestServer_makes_an_answer_of_a_panic_and_logs_none_of_it(t *testing.T) {
	var logged bytes.Buffer
	s, err := New(nil, nil, funcr.New(func(prefix, args string) { logged.WriteString(prefix + args) }, funcr.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	answer := ask(t, s.serve("crds", "", func(context.Context, call) admission.Response { panic("secret content") }), paths.CRDsDeny, definitionChange(admissionv1.Create, crd(t), nil))
	if answer.Allowed || answer.Result.Code != http.StatusInternalServerError {
		t.Errorf("%+v", answer)
	}
	if text := logged.String(); strings.Contains(text, "secret content") || !strings.Contains(text, "server_test.go") {
		t.Errorf("logged is %s", text)
	}
}

func TestServer_answers_no_other_path(t *testing.T) {
	handler, _ := world{}.served(t)
	for _, path := range []string{"/", "/crds", "/objects/a", "/objects/a/b/x", "/prune/a/b/1/2"} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}")))
		if answer.Code != http.StatusNotFound {
			t.Errorf("%s is answered with %d", path, answer.Code)
		}
	}
}

func TestAbsent_knows_a_kind_that_is_not_served(t *testing.T) {
	if !absent(apierrors.NewNotFound(schema.GroupResource{}, "a")) || absent(errors.New("x")) || absent(nil) {
		t.Error("it does not")
	}
}
