package conversion_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/capstan-capi/capstan/phases/conversion"
)

func TestReadRoutes_refuses_what_leads_nowhere(t *testing.T) {
	for name, c := range map[string]struct{ file, says string }{
		"no YAML":              {`{`, "reading the route file"},
		"a field it knows not": {`{routes: [{name: a, url: "https://a", path: /b}]}`, "unknown field"},
		"no name":              {`{routes: [{url: "https://a"}]}`, "its name"},
		"a name with a slash":  {`{routes: [{name: a/b, url: "https://a"}]}`, "its name"},
		"twice":                {`{routes: [{name: a, url: "https://a"}, {name: a, url: "https://b"}]}`, "route a is there twice"},
		"no host":              {`{routes: [{name: a, url: "/b"}]}`, "https://host:port"},
		"a path":               {`{routes: [{name: a, url: "https://a/b"}]}`, "https://host:port"},
		"a user":               {`{routes: [{name: a, url: "https://u:p@a"}]}`, "https://host:port"},
		"no encryption":        {`{routes: [{name: a, url: "http://a:80"}]}`, "not encrypted"},
		"another scheme":       {`{routes: [{name: a, url: "ftp://a"}]}`, "https://host:port"},
		"no certificates":      {`{routes: [{name: a, url: "https://a", caFile: /missing}]}`, "certificates of route a"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "routes.yaml")
			if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := conversion.ReadRoutes(file, logr.Discard()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := conversion.ReadRoutes(filepath.Join(t.TempDir(), "missing"), logr.Discard()); err == nil {
		t.Error("a file that is missing is taken")
	}
}

func TestRoutes_follow_their_file_and_keep_what_they_had_where_it_breaks(t *testing.T) {
	route := delegate(t, func(_ string, review admissionv1.AdmissionReview) (int, any) {
		return http.StatusOK, answers(review, admissionv1.AdmissionResponse{Allowed: true})
	})
	file := filepath.Join(t.TempDir(), "routes.yaml")
	write(t, file)
	routes, err := conversion.ReadRoutes(file, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	shim, err := conversion.New(noConverter(t), routes, jumping{testclock.NewFakeClock(noon)}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	s := served{t: t, http: shim.Handler()}
	if code, body := s.post("/admit/core/a", admissionOf(request(private))); code != http.StatusBadGateway || !strings.Contains(body, "no route") {
		t.Fatalf("answered %d %s", code, body)
	}
	write(t, file, route)
	if code, body := s.post("/admit/core/a", admissionOf(request(private))); code != http.StatusOK {
		t.Fatalf("answered %d %s", code, body)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, body := s.post("/admit/core/a", admissionOf(request(private))); code != http.StatusOK {
		t.Fatalf("answered %d %s", code, body)
	}
}

func TestMetrics_count_requests_and_errors_by_known_routes(t *testing.T) {
	s := serve(t, upgrade(t, ""))
	s.convert("/convert", private+"/v1beta2", machine(private, "v1beta1", 1))
	s.post("/admit/made-up/a", admissionOf(request(private)))
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetValue() == "made-up" {
					t.Errorf("%s has a route that somebody made up", family.GetName())
				}
				found[family.GetName()+" "+label.GetName()+"="+label.GetValue()] = true
			}
		}
	}
	for _, want := range []string{
		"hypershift_conversion_webhook_requests_total endpoint=convert", "hypershift_conversion_webhook_duration_seconds endpoint=convert",
		"hypershift_conversion_webhook_errors_total reason=route", "hypershift_conversion_webhook_errors_total route=unknown",
	} {
		if !found[want] {
			t.Errorf("there is no %s", want)
		}
	}
}
