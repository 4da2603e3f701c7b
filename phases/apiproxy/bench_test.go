package apiproxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
)

// BenchmarkProxy makes requests for a Machine of 4 KiB, or for 150 of them, to a server that does nothing, straight, by a reverse proxy that copies
// bytes, and by the proxy. All of them are this process: what an arm takes of the processor beyond another one is what is in between.
func BenchmarkProxy(b *testing.B) {
	stored := []byte(`{"apiVersion":"` + private + `/v1beta2","kind":"Machine","spec":{"infrastructureRef":{"apiGroup":"infrastructure.` + private +
		`"},"text":"` + strings.Repeat("text ", 800) + `"}}`)
	said := bytes.ReplaceAll(stored, []byte(private), []byte(standard))
	list := []byte(`{"kind":"MachineList","items":[` + strings.TrimSuffix(strings.Repeat(string(stored)+",", 150), ",") + `]}`)
	server := benchServer(b, stored, list)
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	for _, verb := range []struct {
		method, path, contentType string
		body                      []byte
	}{
		{http.MethodGet, machines + "/m", "", nil},
		{http.MethodGet, machines, "", nil},
		{http.MethodPost, machines, "application/json", said},
		{http.MethodPatch, machines + "/m", "application/merge-patch+json", []byte(`{"metadata":{"annotations":{"turn":"1"}}}`)},
		{http.MethodPatch, machines + "/m?fieldManager=bench", "application/apply-patch+yaml", said},
	} {
		for name, at := range map[string]string{"direct": server.URL, "copy": benchCopy(b, config), "proxy": benchProxy(b, config)} {
			b.Run(strings.ReplaceAll(verb.method+" "+strings.TrimPrefix(verb.path, machines)+" "+verb.contentType, "/", " ")+"/"+name, func(b *testing.B) {
				client := server.Client()
				before := processorTime(b)
				for range b.N {
					request, err := http.NewRequestWithContext(context.Background(), verb.method, at+verb.path, bytes.NewReader(verb.body))
					if err != nil {
						b.Fatal(err)
					}
					if verb.contentType != "" {
						request.Header.Set("Content-Type", verb.contentType)
					}
					response, err := client.Do(request)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, response.Body); err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK {
						b.Fatal(response.Status, err)
					}
				}
				b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
				b.ReportAllocs()
			})
		}
	}
}

// benchServer answers everything with an object or a list, by HTTP/2 as API servers do.
func benchServer(b *testing.B, object, list []byte) *httptest.Server {
	b.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/machines") {
			_, _ = w.Write(list)
			return
		}
		_, _ = w.Write(object)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	return server
}

func benchCopy(b *testing.B, config *rest.Config) string {
	b.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		b.Fatal(err)
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	b.Cleanup(server.Close)
	return server.URL
}

func benchProxy(b *testing.B, config *rest.Config) string {
	b.Helper()
	proxy, err := New(config, prometheus.NewRegistry(), logr.Discard())
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewUnstartedServer(proxy)
	asServed(server, proxy)
	server.Start()
	b.Cleanup(server.Close)
	return server.URL
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
