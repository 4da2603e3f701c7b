package conversion_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admission/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/capstan-capi/capstan/phases/conversion"
)

func TestReadRoutes_tells_of_each_route_that_leads_nowhere_and_takes_the_others(t *testing.T) {
	for name, c := range map[string]struct{ route, says string }{
		"no map":               {`3`, "cannot unmarshal"},
		"a field it knows not": {`{name: a, url: "https://a", path: /b}`, "unknown field"},
		"no name":              {`{url: "https://a"}`, "its name"},
		"a name with a slash":  {`{name: a/b, url: "https://a"}`, "its name"},
		"twice":                {`{name: good, url: "https://b"}`, "twice"},
		"no host":              {`{name: a, url: "/b"}`, "https://host:port"},
		"a path":               {`{name: a, url: "https://a/b"}`, "https://host:port"},
		"a user":               {`{name: a, url: "https://u:p@a"}`, "https://host:port"},
		"no encryption":        {`{name: a, url: "http://a:80"}`, "not encrypted"},
		"another scheme":       {`{name: a, url: "ftp://a"}`, "https://host:port"},
		"no certificates":      {`{name: a, url: "https://a", caFile: /missing}`, "reading its certificates"},
	} {
		t.Run(name, func(t *testing.T) {
			route := delegate(t, func(_ string, review admissionv1.AdmissionReview) (int, any) {
				return http.StatusOK, answers(review, admissionv1.AdmissionResponse{Allowed: true})
			})
			file := filepath.Join(t.TempDir(), "routes.yaml")
			text := `{routes: [{name: good, url: "` + route.URL + `"}, ` + c.route + `]}`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var told strings.Builder
			routes, err := conversion.ReadRoutes(file, funcr.New(func(_, text string) { told.WriteString(text) }, funcr.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(told.String(), c.says) || !strings.Contains(told.String(), `"number"=2`) {
				t.Errorf("told is %s", told.String())
			}
			if code, body := asking(t, routes).post("/admit/good/a", admissionOf(request(private))); code != http.StatusOK {
				t.Errorf("the good route is answered %d %s", code, body)
			}
		})
	}
}

func TestReadRoutes_refuses_a_file_that_it_cannot_read(t *testing.T) {
	file := filepath.Join(t.TempDir(), "routes.yaml")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{file, filepath.Join(t.TempDir(), "missing")} {
		if _, err := conversion.ReadRoutes(file, logr.Discard()); err == nil || !strings.Contains(err.Error(), "reading the route file") {
			t.Errorf("got %v", err)
		}
	}
}

// asking is a shim with routes that are read.
func asking(t *testing.T, routes *conversion.Routes) served {
	t.Helper()
	c := jumping{testclock.NewFakeClock(noon)}
	shim, err := conversion.New(noConverter(t), routes, c, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	return served{t, shim.Handler(), c}
}

func TestRoutes_take_a_route_when_its_certificates_come_and_keep_it_when_it_breaks(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(server.Close)
	file, certificates := filepath.Join(t.TempDir(), "routes.yaml"), filepath.Join(t.TempDir(), "ca.crt")
	write(t, file, conversion.Route{Name: "core", URL: server.URL, CAFile: certificates})
	routes, err := conversion.ReadRoutes(file, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	s := asking(t, routes)
	answered := func(says string) {
		t.Helper()
		if code, body := s.post("/admit/core/a", admissionOf(request(private))); code != http.StatusBadGateway || !strings.Contains(body, says) {
			t.Errorf("answered %d %s", code, body)
		}
	}
	answered("no route")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(certificates, text, 0o600); err != nil {
		t.Fatal(err)
	}
	answered("418")
	write(t, file, conversion.Route{Name: "core", URL: "elsewhere"})
	answered("418")
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
	s := asking(t, routes)
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
