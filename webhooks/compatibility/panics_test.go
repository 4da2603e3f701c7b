package compatibility

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	dto "github.com/prometheus/client_model/go"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

const secret = "what a library read"

// Each is a library that panics below where it is entered.
var (
	decodes = func(b *below) {
		b.decode = func(*requirementsv1alpha1.CompatibilityRequirementSpec) (*crdschema.Need, error) {
			return nil, crdschema.Panicked(secret)
		}
	}
	compares = func(b *below) { // nothing is a need without any
		b.decode = func(*requirementsv1alpha1.CompatibilityRequirementSpec) (*crdschema.Need, error) { return nil, nil }
	}
	compiles = func(b *below) {
		b.compile = func(*crdschema.Need, string) (*judge.Judge, error) { return nil, crdschema.Panicked(secret) }
	}
	keeps = func(b *below) {
		b.keep = func(*definition, string) (*judge.Kept, error) { return nil, crdschema.Panicked(secret) }
	}
	validates = func(b *below) {
		b.validate = func(*judge.Judge, context.Context, *unstructured.Unstructured, *unstructured.Unstructured, string) field.ErrorList {
			panic(secret)
		}
	}
	examines = func(b *below) {
		b.problems = func(context.Context, *requirement, *requirement) field.ErrorList { panic(secret) }
	}
)

func TestServer_answers_a_panic_of_a_library_with_a_counted_500(t *testing.T) {
	loss := definitionChange(admissionv1.Update, crd(t), crd(t, "color"))
	write := boxChange(box("{size: 1}"), nil)
	for name, c := range map[string]struct {
		below    func(*below)
		action   requirementsv1alpha1.CRDAdmitAction
		endpoint string
		path     string
		request  admissionv1.AdmissionRequest
	}{
		"decoding data, for a CRD":      {decodes, deny, "crds", paths.CRDsDeny, loss},
		"comparing":                     {compares, deny, "crds", paths.CRDsDeny, loss},
		"decoding data, for an object":  {decodes, deny, "objects", path(paths.Objects, 2), write},
		"compiling":                     {compiles, deny, "objects", path(paths.Objects, 2), write},
		"compiling, to prune":           {compiles, deny, "prune", path(paths.Prune, 2), write},
		"reading the live CRD":          {keeps, deny, "prune", path(paths.Prune, 2), write},
		"judging an object":             {validates, deny, "objects", path(paths.Objects, 2), write},
		"examining a requirement":       {examines, deny, "requirements", paths.Requirements, admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: raw(need("a", deny, deny))}},
		"decoding data, and it warns":   {decodes, warn, "crds", paths.CRDsDeny, loss},
		"comparing, and it warns":       {compares, warn, "crds", paths.CRDsWarn, loss},
		"compiling, and it warns":       {compiles, warn, "objects", path(paths.ObjectsWarn, 2), write},
		"judging, and it warns by now":  {validates, warn, "objects", path(paths.Objects, 2), write},
		"judging, and it always warned": {validates, warn, "objects", path(paths.ObjectsWarn, 2), write},
	} {
		t.Run(name, func(t *testing.T) {
			r, other := need("a", c.action, c.action, "color"), need("b", deny, "")
			other.Status.CRDName = "lids.example.com"
			there := []client.Object{r, other, crd(t, "color")}
			var logged bytes.Buffer
			s, err := New(reader(t, copies(there)), reader(t, copies(there)), funcr.New(func(prefix, args string) { logged.WriteString(prefix + args) }, funcr.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			c.below(&s.below)
			handler := s.Handler()
			before := panics(t, c.endpoint)
			answer := ask(t, handler, c.path, c.request)
			if c.action == deny && (answer.Allowed || answer.Result.Code != http.StatusInternalServerError) || c.action == warn && (!answer.Allowed || len(answer.Warnings) == 0) {
				t.Errorf("%+v, %+v", answer, answer.Result)
			}
			told := strings.Join(answer.Warnings, "\n")
			if answer.Result != nil {
				told += answer.Result.Message
			}
			if !strings.Contains(told, errPanic.Error()) || c.endpoint != "requirements" && !strings.Contains(told, "CompatibilityRequirement a: ") {
				t.Errorf("it says %s", told)
			}
			if strings.Contains(told+logged.String(), secret) || !strings.Contains(logged.String(), "panics_test.go") && c.path != paths.CRDsWarn {
				t.Errorf("it says %s, and logs %s", told, logged.String())
			}
			if counted := panics(t, c.endpoint) - before; counted != 1 {
				t.Errorf("counted are %v", counted)
			}
			lids := crd(t, "color")
			lids.Name = "knobs.example.com"
			if answer := ask(t, handler, paths.CRDsDeny, definitionChange(admissionv1.Create, lids, nil)); !answer.Allowed {
				t.Errorf("another CRD: %+v", answer.Result)
			}
		})
	}
}

// panics is how many an endpoint has counted.
func panics(t *testing.T, endpoint string) float64 {
	t.Helper()
	m := &dto.Metric{}
	if err := panicMetric.WithLabelValues(endpoint).Write(m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}
