package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine"
)

var _ = Describe("An answer that comes late", func() {
	It("brings no object back that went with its definition, so that it is created again", func(ctx SpecContext) {
		w := begin(ctx)
		crd, one, two := w.crd("gadget"), w.instance("gadget", "a"), w.instance("gadget", "b")
		written, late := make(chan struct{}), make(chan struct{})
		var holds, listed atomic.Bool
		e := w.start(meddle(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			switch isGadgets := strings.Contains(r.URL.Path, "/gadgets"); {
			case err != nil || !isGadgets:
			case r.Method == http.MethodGet:
				response.Body = &listing{ReadCloser: response.Body, ended: &listed}
			case strings.HasSuffix(r.URL.Path, "/b") && holds.CompareAndSwap(true, false):
				close(written)
				<-late
			}
			return response, err
		}))
		e.converge(ctx, of(1, crd, one))

		holds.Store(true)
		rev, done := of(2, crd, one, two), make(chan struct{})
		go func() {
			defer GinkgoRecover()
			defer close(done)
			e.until(ctx, rev, acted(two, engine.Created))
		}()
		Eventually(written).WithTimeout(patience).Should(BeClosed())
		definition := w.fetch(ctx, crd)
		w.delete(ctx, crd)
		eventually(ctx, "the definition to go", func(ctx context.Context) error { return w.isGone(ctx, crd) })
		listed.Store(false)
		definition.SetResourceVersion("")
		definition.SetUID("")
		w.create(ctx, definition)
		eventually(ctx, "the kind to be listed again", func(context.Context) error {
			if !listed.Load() {
				return errors.New("it is not")
			}
			return nil
		})
		close(late)
		Eventually(done).WithTimeout(patience).Should(BeClosed())
		eventually(ctx, "the object to be created again", func(ctx context.Context) error {
			e.converge(ctx, rev)
			_, err := w.get(ctx, two)
			return err
		})
	})
})

// listing is the body of a watch that begins with a list; it tells when that has come to its end.
type listing struct {
	io.ReadCloser
	ended *atomic.Bool
	last  []byte
}

func (l *listing) Read(into []byte) (int, error) {
	n, err := l.ReadCloser.Read(into)
	l.last = append(l.last[max(0, len(l.last)-len(metav1.InitialEventsAnnotationKey)):], into[:n]...)
	if bytes.Contains(l.last, []byte(metav1.InitialEventsAnnotationKey)) {
		l.ended.Store(true)
	}
	return n, err
}
