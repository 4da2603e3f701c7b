package privatecapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	// late is by how much later than without the proxy an event may come.
	late = 10 * time.Millisecond
	// tries is how often all events are sent before a busy machine is no excuse any more.
	tries = 3
)

// copying is a server that passes bytes on as they are: what comes late through it, too, is not late because of what the proxy does.
func copying() *rest.Config {
	GinkgoHelper()
	config := plane.Config()
	through, err := rest.TransportFor(config)
	Expect(err).NotTo(HaveOccurred())
	to, err := url.Parse(config.Host)
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(&httputil.ReverseProxy{
		Transport: through, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		// The watch ends with the spec.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	DeferCleanup(server.CloseClientConnections)
	return &rest.Config{Host: server.URL, QPS: -1, UserAgent: "copying"}
}

// arrivals are the moments at which the events of a watch come, each of which has to be the next one.
func arrivals(ctx context.Context, of clients, group, in string, events int) <-chan []time.Time {
	GinkgoHelper()
	watched, err := of.dynamic.Resource(resource(group, version, "machines")).Namespace(in).Watch(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	done := make(chan []time.Time, 1)
	go func() {
		defer GinkgoRecover()
		defer watched.Stop()
		defer close(done)
		moments := make([]time.Time, 0, events)
		Expect(next(watched).Type).To(BeEquivalentTo("ADDED"))
		for i := range events {
			one := next(watched)
			moments = append(moments, time.Now())
			seen, err := asObject(one.Object)
			Expect(err).NotTo(HaveOccurred())
			Expect(seen.GetAnnotations()["n"]).To(Equal(strconv.Itoa(i)))
			Expect(seen.GetAPIVersion()).To(Equal(group + "/" + version))
		}
		done <- moments
	}()
	return done
}

// worst is by how much the latest event came later than directly.
func worst(direct, other []time.Time) time.Duration {
	most := time.Duration(0)
	for i := range direct {
		most = max(most, other[i].Sub(direct[i]))
	}
	return most
}

var _ = Describe("A watch of a thousand events", func() {
	It("shows each in its order, ten milliseconds after it would come without the proxy at the most", func(ctx SpecContext) {
		const events = 1000
		copied := clientsOf(copying())
		var added []string
		for range tries {
			in := namespace(ctx)
			behind := stored.dynamic.Resource(resource(private, version, "machines")).Namespace(in)
			direct, through, beside := arrivals(ctx, stored, private, in, events), arrivals(ctx, seen, standard, in, events), arrivals(ctx, copied, private, in, events)
			of := object("", "Machine", "m", machineSpec)
			of.SetAPIVersion(private + "/" + version)
			_, err := behind.Create(ctx, of, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			for i := range events {
				patch := fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i)
				_, err := behind.Patch(ctx, "m", "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
			without := <-direct
			is, machine := worst(without, <-through), worst(without, <-beside)
			if is <= max(late, 2*machine) {
				return
			}
			added = append(added, fmt.Sprintf("%s, and %s by copying", is, machine))
		}
		Fail(fmt.Sprintf("the latest events came later by %q", added))
	}, NodeTimeout(10*time.Minute))
})
