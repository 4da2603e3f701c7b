package conversion_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/capstan-capi/capstan/phases/conversion"
)

// manyOf repeats an element of a list until it has 6 MiB.
func manyOf(element string) string {
	return "[" + element + strings.Repeat(","+element, 6<<20/(len(element)+1)) + "]"
}

func TestShim_takes_little_memory_for_a_review_that_would_take_much(t *testing.T) {
	desired := `"uid":"u","desiredAPIVersion":"` + private + `/v1beta1"`
	conversionOf := func(rest string) string {
		return `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1",` + rest + `}`
	}
	admissionOf := func(rest string) string {
		return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",` + rest + `}`
	}
	for name, row := range map[string]struct{ path, body, says string }{
		"objects that are numbers":           {"/convert", conversionOf(`"request":{` + desired + `,"objects":` + manyOf("1") + `}`), "more than 20000 objects"},
		"a response":                         {"/convert", conversionOf(`"request":{` + desired + `},"response":{"convertedObjects":` + manyOf("1") + `}`), "has a response"},
		"a second request":                   {"/convert", conversionOf(`"request":{` + desired + `},"request":{"objects":` + manyOf("1") + `}`), "has request twice"},
		"a second request in other letters":  {"/convert", conversionOf(`"request":{` + desired + `},"Reque\u017ft":{"objects":` + manyOf("1") + `}`), "is written request"},
		"second objects":                     {"/convert", conversionOf(`"request":{` + desired + `,"objects":[],"objects":` + manyOf("1") + `}`), "has objects twice"},
		"objects in an escaped key":          {"/convert", conversionOf(`"request":{` + desired + `,"\u006fbjects":` + manyOf("1") + `}`), "more than 20000 objects"},
		"a review that is long":              {"/convert", conversionOf(`"request":{` + desired + `},"apiVersion":` + manyOf("1")), "has apiVersion twice"},
		"groups of a user":                   {"/admit/here/x", admissionOf(`"request":{"uid":"u","userInfo":{"groups":` + manyOf(`""`) + `}}`), "beside its objects"},
		"a long object":                      {"/admit/here/x", admissionOf(`"request":{"uid":"u","object":` + manyOf("1") + `}`), "its object has more than"},
		"a response of an admission":         {"/admit/here/x", admissionOf(`"response":{"warnings":` + manyOf(`""`) + `}`), "has a response"},
		"groups, at a route that nobody has": {"/admit/nowhere/x", admissionOf(`"request":{"uid":"u","userInfo":{"groups":` + manyOf(`""`) + `}}`), "no route"},
	} {
		t.Run(name, func(t *testing.T) {
			handler := serve(t, noConverter(t), conversion.Route{Name: "here", URL: "http://127.0.0.1:1"}).http
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, row.path, strings.NewReader(row.body))
			answer := httptest.NewRecorder()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			handler.ServeHTTP(answer, request)
			runtime.ReadMemStats(&after)
			if answer.Code < 400 || !strings.Contains(answer.Body.String(), row.says) {
				t.Errorf("answered %d %s", answer.Code, answer.Body)
			}
			// The body is read into room that doubles, which takes twice its bytes in all; no more is allowed for than one more copy.
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(4*len(row.body)) {
				t.Errorf("a body of %d MiB took %d MiB of memory", len(row.body)>>20, took>>20)
			}
		})
	}
}

func TestShim_takes_little_memory_for_an_answer_that_would_take_much(t *testing.T) {
	converted := conversionOf(private+"/v1beta2", machine(private, "v1beta1", 1))
	admitted := admissionOf(admissionv1.AdmissionRequest{})
	for name, row := range map[string]struct {
		path   string
		review any
		answer string
		says   string
	}{
		"objects that are numbers": {"/convert/here/x", converted, `{"response":{"uid":"the-uid","convertedObjects":` + manyOf("1") + `}}`, "more objects than the request"},
		"details of a refusal":     {"/convert/here/x", converted, `{"response":{"uid":"the-uid","result":{"details":{"causes":` + manyOf(`{}`) + `}}}}`, "beside its objects"},
		"a request that it is for": {"/convert/here/x", converted, `{"request":{"objects":` + manyOf("1") + `}}`, "the answer is no review"},
		"two responses":            {"/convert/here/x", converted, `{"response":{},"response":{"convertedObjects":` + manyOf("1") + `}}`, "has response twice"},
		"warnings":                 {"/admit/here/x", admitted, `{"response":{"uid":"the-uid","warnings":` + manyOf(`""`) + `}}`, "beside its objects"},
		"a patch that is a list":   {"/admit/here/x", admitted, `{"response":{"uid":"the-uid","patch":` + manyOf(`1`) + `}}`, "beside its objects"},
		"a response that is cut":   {"/admit/here/x", admitted, `{"response":{"uid":"the-uid","allowed":true}`, "it is no JSON"},
		"no response":              {"/admit/here/x", admitted, `{}`, "it is no review"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(row.answer))
			}))
			defer server.Close()
			to := serve(t, noConverter(t), conversionRoute(server.URL))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, body := to.post(row.path, row.review)
			runtime.ReadMemStats(&after)
			if !strings.Contains(body, row.says) {
				t.Errorf("answered %.300s", body)
			}
			// The answer is a byte slice once for this server, and read into room that grows slowly beyond its review.
			if took := after.TotalAlloc - before.TotalAlloc; len(row.answer) > 1<<20 && took > uint64(24*len(row.answer)) {
				t.Errorf("an answer of %d MiB took %d MiB of memory", len(row.answer)>>20, took>>20)
			}
		})
	}
}

func conversionRoute(url string) conversion.Route { return conversion.Route{Name: "here", URL: url} }

func TestShim_converts_one_large_object_at_a_time(t *testing.T) {
	var now, most atomic.Int32
	convert := func(object []byte, _ string) ([]byte, error) {
		at := now.Add(1)
		defer now.Add(-1)
		for range 1000 {
			most.Store(max(most.Load(), at, now.Load()))
			runtime.Gosched()
		}
		return object, nil
	}
	shim := serve(t, convert)
	large := strings.Replace(machine(private, "v1beta1", 1), `"kind"`, `"long":"`+strings.Repeat("x", 3<<20)+`","kind"`, 1)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if response := shim.convert("/convert", private+"/v1beta2", large); len(response.ConvertedObjects) != 1 {
				t.Errorf("answered %.200v", response.Result)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d were converted at once", most.Load())
	}
}
