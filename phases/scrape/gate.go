package scrape

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// Scraper is who may read the metrics by certificate: OpenShift's Prometheus.
const Scraper = "system:serviceaccount:openshift-monitoring:prometheus-k8s"

// Path is where the metrics are served.
const Path = "/metrics"

// Gate lets through who may read the metrics.
type Gate struct {
	// Authorities are those, in PEM, that certify clients of the API server.
	Authorities func(context.Context) (string, error)
	Reviews     *Reviews
	Clock       clock.PassiveClock
	Log         logr.Logger
}

// Before stands before a handler. A connection serves one request, so that the
// next one meets the profile, the certificates and the rights of its own moment.
func (g *Gate) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		verdict, err := g.judge(r)
		if err != nil {
			g.Log.V(1).Info("Cannot tell who may read the metrics", "error", err.Error())
		}
		if verdict != http.StatusOK {
			http.Error(w, http.StatusText(verdict), verdict)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// judge returns 200 for who may read, and otherwise the answer to give.
func (g *Gate) judge(r *http.Request) (verdict int, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
	defer cancel()
	name, err := g.certified(ctx, r)
	if name == Scraper {
		return http.StatusOK, nil
	}
	token, brought := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case brought:
		return g.Reviews.judge(ctx, token)
	case err != nil:
		return http.StatusServiceUnavailable, err
	case name != "":
		return http.StatusForbidden, nil
	default:
		return http.StatusUnauthorized, nil
	}
}

// certified is the user that a client's certificate is about, empty if there is none that counts.
func (g *Gate) certified(ctx context.Context, r *http.Request) (string, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return "", nil
	}
	bundle, err := g.Authorities(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the authorities of clients: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(bundle)) {
		return "", errors.New("there are no authorities of clients")
	}
	between := x509.NewCertPool()
	for _, certificate := range r.TLS.PeerCertificates[1:] {
		between.AddCert(certificate)
	}
	client := r.TLS.PeerCertificates[0]
	_, err = client.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: g.Clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return "", nil //nolint:nilerr // A certificate that does not count is as good as none.
	}
	return client.Subject.CommonName, nil
}

// How long a connection may keep the server of the metrics: nobody who opens many holds it up.
const (
	// requestTimeout is how long a client may take for its request.
	requestTimeout = 10 * time.Second
	// answerTimeout is how long a client may take to read the metrics.
	answerTimeout = time.Minute
)

// Server serves what a gate stands before.
func Server(gated http.Handler, trouble logr.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.Handle(Path, gated)
	return Bounded(mux, trouble)
}

// Bounded is a server that does not wait for a client that does not come to the
// end of a request, or does not take in the answer.
func Bounded(handler http.Handler, trouble logr.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout,
		MaxHeaderBytes: 32 << 10, ErrorLog: log.New(lines{trouble}, "", 0),
	}
}

// lines logs what a server says of connections, which anybody can make it say, where only who asks for it reads it.
type lines struct{ to logr.Logger }

func (l lines) Write(text []byte) (int, error) {
	l.to.V(1).Info(strings.TrimSpace(string(text)))
	return len(text), nil
}
