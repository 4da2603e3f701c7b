package compatibility

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

// described is a definition of so many KiB, most of it descriptions, as real ones are.
func described(b *testing.B, kib int) *definition {
	b.Helper()
	d := crd(&testing.T{}, "color")
	spec := map[string]apiextensionsv1.JSONSchemaProps{}
	for i := range kib * 4 {
		spec[fmt.Sprintf("field%d", i)] = apiextensionsv1.JSONSchemaProps{Type: "string", Description: fmt.Sprintf("field%d is told of in two lines of text,\nof which this is the second, and it is as long as the others are, so that a field takes its share of what there is: a quarter.", i)}
	}
	d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: spec}
	return d
}

// A definition is judged that has lost nothing.
func BenchmarkCRDs(b *testing.B) {
	for _, kib := range []int{300, 1024} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			r := need("a", deny, "", "color")
			handler, _ := world{live: []client.Object{r}, cached: []client.Object{r}}.served(&testing.T{})
			change := definitionChange(admissionv1.Update, described(b, kib), described(b, kib))
			change.UID = "request"
			review := raw(admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: &change}).Raw
			b.SetBytes(int64(len(review)))
			for b.Loop() {
				sent := httptest.NewRequest(http.MethodPost, paths.CRDsDeny, bytes.NewReader(review))
				sent.Header.Set("Content-Type", "application/json")
				answer := httptest.NewRecorder()
				if handler.ServeHTTP(answer, sent); answer.Code != http.StatusOK || !bytes.Contains(answer.Body.Bytes(), []byte(`"allowed":true`)) {
					b.Fatal(answer.Code, answer.Body)
				}
			}
		})
	}
}
