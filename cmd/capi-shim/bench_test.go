package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/cmd/capi-shim/linked"
	"github.com/capstan-capi/capstan/phases/conversion"
)

// BenchmarkConvert has Machines of some 4 KB converted to the storage version, a hundred in a review: the goal is at most 1 ms each.
func BenchmarkConvert(b *testing.B) {
	converter, err := linked.New(func(kind schema.GroupKind) (string, error) { return kind.Group + "/v1beta2", nil })
	if err != nil {
		b.Fatal(err)
	}
	routes, err := conversion.ReadRoutes("", logr.Discard())
	if err != nil {
		b.Fatal(err)
	}
	shim, err := conversion.New(converter.Convert, routes, clock.RealClock{}, logr.Discard())
	if err != nil {
		b.Fatal(err)
	}
	const batch = 100
	objects := make([]string, batch)
	for i := range objects {
		objects[i] = fmt.Sprintf(`{"apiVersion":"%[1]s/v1beta1","kind":"Machine","metadata":{"name":"m-%[2]d","namespace":"ns","annotations":{"text":"%[3]s"}},
			"spec":{"clusterName":"c","bootstrap":{"configRef":{"apiVersion":"bootstrap.%[1]s/v1beta2","kind":"KubeadmConfig","name":"m"}},
			"infrastructureRef":{"apiVersion":"infrastructure.%[1]s/v1beta2","kind":"AWSMachine","name":"m"}},
			"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T12:00:00Z"}]}}`, private, i, strings.Repeat("x", 3500))
	}
	text := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"` + private + `/v1beta2","objects":[` + strings.Join(objects, ",") + `]}}`
	handler := shim.Handler()
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/convert", strings.NewReader(text)))
		if recorder.Code != http.StatusOK || !strings.Contains(recorder.Body.String(), `"status":"Success"`) {
			b.Fatalf("answered %d %.300s", recorder.Code, recorder.Body.String())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "us/object")
}
