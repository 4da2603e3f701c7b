package compatibility

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema/live"
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

// enforced is a requirement of which the spec before could be used, and enforced what a reason says.
func enforced(r *requirement, reason string) *requirement {
	r.Status.Conditions = []metav1.Condition{{Type: "Enforces", Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: r.Generation - 1}}
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
	unserved     bool // it answers 404 for the kind of requirements, as one that is starting does
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

// starting is an API server that does not serve requirements.
type starting struct{ client.Reader }

var errUnserved = apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{Group: requirementsv1alpha1.GroupName, Resource: "compatibilityrequirements"}, "", "404 page not found", 0, true)

func (s starting) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, is := object.(*requirement); is {
		return errUnserved
	}
	return s.Reader.Get(ctx, key, object, options...)
}

func (starting) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errUnserved
}

// requirements is their definition, as a cluster has it that serves them.
func requirements() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: live.RequirementsCRD},
		Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: requirementsv1alpha1.GroupVersion.Version, Served: true}}},
		Status:     apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}},
	}
}

// served is a server for a world, and what it logs.
func (w world) served(t *testing.T) (http.Handler, *bytes.Buffer) {
	t.Helper()
	var logged bytes.Buffer
	there := client.Reader(reader(t, copies(w.live)))
	cached := copies(w.cached)
	for _, object := range cached {
		if _, err := Slim(object); err != nil {
			t.Fatal(err)
		}
	}
	if w.broken {
		there = deaf{}
	}
	if w.unserved {
		there = starting{there}
	}
	s, err := New(reader(t, cached), there, funcr.New(func(prefix, args string) { logged.WriteString(prefix + args + "\n") }, funcr.Options{Verbosity: 9}))
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
	if answer := ask(t, handler, paths.Requirements, change(gone(bad.DeepCopy()), gone(good.DeepCopy()))); !answer.Allowed {
		t.Errorf("one that goes: %+v", answer.Result)
	}
	if answer := ask(t, handler, paths.Requirements, change(gone(bad.DeepCopy()), nil)); answer.Allowed {
		t.Error("one that is created, and says that it goes, is allowed")
	}
	answer := ask(t, handler, paths.Requirements, change(bad, nil))
	if answer.Allowed || answer.Result.Code != http.StatusUnprocessableEntity || answer.Result.Reason != metav1.StatusReasonInvalid {
		t.Fatalf("a bad one: %+v", answer)
	}
	if causes := answer.Result.Details.Causes; len(causes) == 0 || !strings.HasPrefix(causes[0].Field, "spec.compatibilitySchema") {
		t.Errorf("the causes are %v", causes)
	}
}

func TestServer_makes_an_answer_of_a_panic_and_logs_none_of_it(t *testing.T) {
	var logged bytes.Buffer
	s, err := New(nil, nil, funcr.New(func(prefix, args string) { logged.WriteString(prefix + args) }, funcr.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	answer := ask(t, s.serve(endpoint{name: "crds", judges: func(context.Context, call) admission.Response { panic("secret content") }}), paths.CRDsDeny, definitionChange(admissionv1.Create, crd(t), nil))
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

func TestServer_does_no_more_at_once_than_it_has_turns(t *testing.T) {
	s := &Server{turns: make(chan struct{}, 1)}
	soon, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("nobody waits any more"))
	err := s.inTurn(t.Context(), func() {
		if err := s.inTurn(soon, func() { t.Error("it is done beside the first") }); err == nil || !strings.Contains(err.Error(), "nobody waits any more") {
			t.Errorf("the second one: %v", err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	done := false
	if err := s.inTurn(t.Context(), func() { done = true }); err != nil || !done {
		t.Errorf("the turn is not given back: %v", err)
	}
}

func TestInvalid_tells_nothing_that_a_terminal_would_obey(t *testing.T) {
	problem := field.Invalid(field.NewPath("spec", "\x1b[2J"), field.OmitValueType{}, "red\x1b[31m"+strings.Repeat("x", 1<<20))
	answer := invalid(apierrors.NewInvalid(schema.GroupKind{Kind: "Box"}, "a", field.ErrorList{problem}), "")
	for _, text := range []string{answer.Result.Message, answer.Result.Details.Causes[0].Message, answer.Result.Details.Causes[0].Field} {
		if strings.ContainsRune(text, '\x1b') || len(text) > 16<<10 {
			t.Errorf("%d bytes: %.80q", len(text), text)
		}
	}
}
