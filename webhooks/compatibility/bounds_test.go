package compatibility

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

// asked is the answer to a request, and how many MiB it took.
func asked(t *testing.T, handler http.Handler, path string, request admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, uint64) {
	t.Helper()
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	answer := ask(t, handler, path, request)
	goruntime.ReadMemStats(&after)
	took := (after.TotalAlloc - before.TotalAlloc) >> 20
	t.Logf("%d MiB for %d KiB", took, len(request.Object.Raw)>>10)
	return answer, took
}

func TestServer_reads_nothing_that_takes_hundreds_of_times_its_bytes(t *testing.T) {
	clauses := func(n int) runtime.RawExtension {
		return runtime.RawExtension{Raw: []byte(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "boxes.example.com"}, "spec": {"versions": [` +
			`{"name": "v1", "schema": {"openAPIV3Schema": {"allOf": [` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}}}]}}`)}
	}
	long := `{"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "a", "namespace": "default"}, "spec": {"tags": {"` + strings.Repeat("x", 1<<20) + `": [` +
		strings.TrimSuffix(strings.Repeat("1,", 10_000), ",") + `]}}}`
	both := need("a", deny, deny, "color")
	for name, c := range map[string]struct {
		path    string
		request admissionv1.AdmissionRequest
		world   world
		want    string // "" if it is allowed
		most    uint64 // MiB
	}{
		"a definition that nobody needs": {paths.CRDsDeny, admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: clauses(2 << 20)}, world{}, "", 96},
		"a definition":                   {paths.CRDsDeny, admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: clauses(2 << 20)}, world{live: []client.Object{both}, cached: []client.Object{both}}, "more than 100000 maps", 128},
		"an object":                      {path(paths.Objects, 2), boxChange(runtime.RawExtension{Raw: []byte(long)}, nil), world{live: []client.Object{both}, cached: []client.Object{both}}, "the paths of all fields", 32},
		"a requirement":                  {paths.Requirements, admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"spec": {"objectSchemaValidation": {"matchConditions": [` + strings.TrimSuffix(strings.Repeat("{},", 1<<20), ",") + `]}}}`)}}, world{}, "more than 100000 maps", 96},
	} {
		t.Run(name, func(t *testing.T) {
			handler, _ := c.world.served(t)
			answer, took := asked(t, handler, c.path, c.request)
			if answer.Allowed != (c.want == "") || c.want != "" && !strings.Contains(answer.Result.Message, c.want) || took > c.most {
				t.Errorf("%+v", answer)
			}
		})
	}
}

func TestRooms_have_no_more_bodies_at_once_than_places(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	r := rooms{small: make(chan struct{}, 1), large: make(chan struct{}, 1)}
	handler := r.before(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside <- struct{}{}; <-leave }))
	send := func(ctx context.Context, bytes int64) int {
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("{}"))
		request.ContentLength = bytes
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	ended := make(chan int, 2)
	for _, bytes := range []int64{-1, smallBody} { // one does not wait for the other
		go func() { ended <- send(t.Context(), bytes) }()
		<-inside
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	for _, bytes := range []int64{-1, maxBody, smallBody + 1, smallBody, 2} {
		if code := send(impatient, bytes); code != http.StatusServiceUnavailable {
			t.Errorf("beside others %d bytes are answered with %d", bytes, code)
		}
	}
	if code := send(t.Context(), maxBody+1); code != http.StatusRequestEntityTooLarge {
		t.Errorf("more than may be is answered with %d", code)
	}
	go func() { ended <- send(t.Context(), 2) }() // it waits
	leave <- struct{}{}
	leave <- struct{}{}
	<-inside
	leave <- struct{}{}
	for range 3 {
		if code := <-ended; code != http.StatusOK {
			t.Errorf("answered with %d", code)
		}
	}
}

func TestRooms_judge_no_body_that_is_cut_or_too_long(t *testing.T) {
	handler := newRooms().before(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is judged") }))
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Repeat("x", maxBody+1)))
	request.ContentLength = -1
	answer := httptest.NewRecorder()
	if handler.ServeHTTP(answer, request); answer.Code != http.StatusRequestTimeout {
		t.Errorf("answered with %d", answer.Code)
	}
}

func TestWarnings_never_refuse_whatever_goes_wrong(t *testing.T) {
	denies := need("a", deny, deny, "color")
	is := world{live: []client.Object{denies}, cached: []client.Object{denies}}
	loss := definitionChange(admissionv1.Update, crd(t), crd(t, "color"))
	for name, c := range map[string]struct {
		world   world
		path    string
		request admissionv1.AdmissionRequest
		want    string
	}{
		"the API server is away":            {world{broken: true}, path(paths.ObjectsWarn, 2), boxChange(box("{size: 1}"), nil), "the API server does not answer"},
		"the API server is away from CRDs":  {world{broken: true}, paths.CRDsWarn, loss, "the API server does not answer"},
		"the object is none":                {is, path(paths.ObjectsWarn, 2), boxChange(map[string]any{"a": "b"}, nil), "cannot be decoded"},
		"the definition is none":            {is, paths.CRDsWarn, definitionChange(admissionv1.Create, map[string]any{"metadata": "b"}, nil), "decoding a CustomResourceDefinition"},
		"the requirement denies by now":     {is, path(paths.ObjectsWarn, 2), boxChange(box("{size: 10}"), nil), "CompatibilityRequirement a: spec.size: "},
		"it denies a definition by now":     {is, paths.CRDsWarn, loss, "CompatibilityRequirement a: v1: spec.color is missing"},
		"it is about an object that is bad": {is, path(paths.ObjectsWarn, 1), boxChange(box("{size: 10}"), nil), "CompatibilityRequirement a: spec.size: "},
	} {
		t.Run(name, func(t *testing.T) {
			handler, _ := c.world.served(t)
			answer := ask(t, handler, c.path, c.request)
			if !answer.Allowed || len(answer.Warnings) == 0 || !strings.Contains(answer.Warnings[0], c.want) {
				t.Errorf("%+v", answer)
			}
		})
	}
	s, err := New(nil, nil, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	panics := s.serve(endpoint{name: "crds", warns: true, judges: func(context.Context, call) admission.Response { panic("now") }})
	if answer := ask(t, panics, paths.CRDsWarn, loss); !answer.Allowed || fmt.Sprint(answer.Warnings) != "["+errPanic.Error()+"]" {
		t.Errorf("%+v", answer)
	}
}

// A configuration that an older operator has written calls the path of refusals for warnings, too.
func TestObjects_at_the_path_of_refusals_do_what_the_requirement_says(t *testing.T) {
	warns := need("a", "", warn, "color")
	handler, _ := world{live: []client.Object{warns}, cached: []client.Object{warns}}.served(t)
	if answer := ask(t, handler, path(paths.Objects, 2), boxChange(box("{size: 10}"), nil)); !answer.Allowed || len(answer.Warnings) != 1 {
		t.Errorf("%+v", answer)
	}
	handler, _ = world{broken: true}.served(t)
	if answer := ask(t, handler, path(paths.Objects, 2), boxChange(box("{size: 1}"), nil)); answer.Allowed {
		t.Errorf("%+v", answer)
	}
}
