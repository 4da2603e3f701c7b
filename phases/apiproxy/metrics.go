package apiproxy

import (
	"io"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// metrics are what the proxy counts. Labels are verbs, classes and codes: nothing that a client can make up.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	overhead *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	prefixes prometheus.Counter
	watches  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	name := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "hypershift", Subsystem: "api_proxy", Name: name, Help: help}
	}
	histogram := func(of prometheus.Opts, buckets []float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: of.Namespace, Subsystem: of.Subsystem, Name: of.Name, Help: of.Help, Buckets: buckets}
	}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts(name("requests_total", "Requests, by verb, class and the code that the client got; 0 if it got none.")), []string{"verb", "class", "code"}),
		duration: prometheus.NewHistogramVec(histogram(name("request_duration_seconds", "How long requests took, watches and streams left out."), prometheus.ExponentialBuckets(0.001, 2.5, 12)), []string{"verb", "class"}),
		overhead: prometheus.NewHistogramVec(histogram(name("overhead_seconds", "How much of it the proxy itself took."), prometheus.ExponentialBuckets(0.000025, 3, 11)), []string{"class"}),
		errors:   prometheus.NewCounterVec(prometheus.CounterOpts(name("translation_errors_total", "Bodies that could not be translated, by class and direction.")), []string{"class", "direction"}),
		prefixes: prometheus.NewCounter(prometheus.CounterOpts(name("other_prefixes_total", "Requests that name, themselves or in a body, groups that only look like those that are translated: these pass as they are."))),
		watches:  prometheus.NewGauge(prometheus.GaugeOpts(name("open_watches", "Watches that are open."))),
	}
	for _, collector := range []prometheus.Collector{m.requests, m.duration, m.overhead, m.errors, m.prefixes, m.watches} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	// A series that began at 1 would hide its first error from whoever asks by how much it has grown.
	for _, class := range rewrite.Classes() {
		for _, direction := range []rewrite.Direction{rewrite.ToServer, rewrite.ToClient} {
			m.errors.WithLabelValues(class.String(), direction.String())
		}
	}
	return m, nil
}

// done counts a request that was understood.
func (m *metrics) done(x *exchange, code int, took time.Duration) {
	verb, class := verbOf(x.request), x.request.Class.String()
	m.requests.WithLabelValues(verb, class, strconv.Itoa(code)).Inc()
	if x.streams() {
		return
	}
	m.duration.WithLabelValues(verb, class).Observe(took.Seconds())
	if x.request.Class != rewrite.Opaque {
		m.overhead.WithLabelValues(class).Observe(x.spent().Seconds())
	}
}

// refused counts a request that was not.
func (m *metrics) refused(code int) {
	m.requests.WithLabelValues("none", "refused", strconv.Itoa(code)).Inc()
}

func (m *metrics) failed(x *exchange, d rewrite.Direction) {
	m.errors.WithLabelValues(x.request.Class.String(), d.String()).Inc()
}

// otherPrefix counts a request, once.
func (m *metrics) otherPrefix(x *exchange) {
	if x.otherPrefix.CompareAndSwap(false, true) {
		m.prefixes.Inc()
	}
}

// prefixed counts a request by what its body or answer names.
type prefixed struct {
	io.Reader
	found func()
}

func (p *prefixed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if counts, ok := p.Reader.(interface{ OtherPrefixes() int }); ok && counts.OtherPrefixes() > 0 {
		p.found()
	}
	return n, err
}

// verbOf is the verb of a request for a resource, and none of those that a client can make up for other paths.
func verbOf(r *rewrite.Request) string {
	switch verb := r.Info.Verb; verb {
	case "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "head", "post", "put", "proxy":
		return verb
	}
	return "other"
}
