package apiproxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// counted is what a counter says.
func counted(t *testing.T, counter prometheus.Counter) float64 {
	t.Helper()
	var metric dto.Metric
	if err := counter.Write(&metric); err != nil {
		t.Fatal(err)
	}
	return metric.GetCounter().GetValue()
}

// served tells when a server is done with a request: what it counts then comes after a client has its whole answer.
func served(shown *httptest.Server) <-chan struct{} {
	done := make(chan struct{}, 1)
	inner := shown.Config.Handler
	shown.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { done <- struct{}{} }() // also of an answer that is broken off
		inner.ServeHTTP(w, r)
	})
	return done
}

func TestMetrics_count_a_refused_stream_by_the_code_of_its_refusal(t *testing.T) {
	proxy, shown := front(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	done := served(shown)
	upgraded(t, shown, exec, "SPDY/3.1", "")
	<-done
	for code, want := range map[string]float64{"403": 1, "101": 0} {
		if got := counted(t, proxy.metrics.requests.WithLabelValues("create", "opaque", code)); got != want {
			t.Errorf("%v requests of code %s", got, code)
		}
	}
}

func TestMetrics_count_once_each_request_that_names_a_group_with_another_prefix(t *testing.T) {
	const other = `{"apiVersion":"` + standard + `/v1beta2","spec":{"one":{"apiVersion":"other.` + standard + `/v1"},"two":{"apiVersion":"other.` + standard + `/v1"}}}`
	answer := "{}"
	proxy, shown := front(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answers("application/json", answer)(w, r)
	})
	count := 0.0
	for _, row := range []struct {
		what   string
		sent   sent
		answer string
		counts bool
	}{
		{"a body in JSON", sent{http.MethodPost, machines, other, asJSON()}, "{}", true},
		{"a body that is applied", sent{http.MethodPatch, machines + "/m?fieldManager=a", other, http.Header{"Content-Type": {"application/apply-patch+yaml"}}}, "{}", true},
		{"an answer", sent{http.MethodGet, machines + "/m", "", nil}, `{"apiVersion":"other.` + private + `/v1"}`, true},
		{"a path", sent{http.MethodGet, "/apis/other." + standard + "/v1/things/t", "", nil}, `{"apiVersion":"other.` + standard + `/v1"}`, true},
		{"none of them", sent{http.MethodPost, machines, `{"apiVersion":"` + standard + `/v1beta2"}`, asJSON()}, "{}", false},
	} {
		answer = row.answer
		if _, _, err := row.sent.to(t, shown); err != nil {
			t.Fatal(err)
		}
		if row.counts {
			count++
		}
		if got := counted(t, proxy.metrics.prefixes); got != count {
			t.Fatalf("with %s: %v requests are counted, not %v", row.what, got, count)
		}
	}
}

func TestMetrics_count_a_watch_that_ends_within_a_frame(t *testing.T) {
	proxy, shown := front(t, answers("application/vnd.kubernetes.protobuf;stream=watch", "\x00\x00\x00\x09x"))
	done := served(shown)
	if _, _, err := (sent{http.MethodGet, machines + "?watch=1", "", nil}).to(t, shown); err == nil {
		t.Error("the client takes half an event for whole")
	}
	<-done
	proxy.streams.Wait()
	if got := counted(t, proxy.metrics.errors.WithLabelValues("mapped", "to client")); got != 1 {
		t.Errorf("%v errors are counted", got)
	}
}

func TestMetrics_begin_at_zero_so_that_a_first_error_is_growth(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := newMetrics(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "hypershift_api_proxy_translation_errors_total" {
			continue
		}
		for _, series := range family.GetMetric() {
			if got := series.GetCounter().GetValue(); got != 0 {
				t.Errorf("%v begins at %v", series.GetLabel(), got)
			}
		}
		if got, want := len(family.GetMetric()), 2*len(rewrite.Classes()); got != want {
			t.Errorf("%d series are served before the first error, and there are %d", got, want)
		}
		return
	}
	t.Error("no series is served before the first error")
}
