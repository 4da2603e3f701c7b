package scrape

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/kubernetes/fake"
	testclock "k8s.io/utils/clock/testing"
)

// gated is a gate before an empty page, and the API server that it asks.
func gated(authorities func(context.Context) (string, error)) (http.Handler, *fake.Clientset, *testclock.FakePassiveClock) {
	clock, cluster := testclock.NewFakePassiveClock(noon), fake.NewClientset()
	gate := &Gate{
		Authorities: authorities, Clock: clock, Log: logr.Discard(),
		Reviews: newReviews(cluster.AuthenticationV1().TokenReviews(), cluster.AuthorizationV1().SubjectAccessReviews(), clock),
	}
	return gate.Before(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), cluster, clock
}

func visit(handler http.Handler, token string, certificates ...tls.Certificate) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, "https://here"+Path, http.NoBody)
	request.TLS = &tls.ConnectionState{}
	for _, certificate := range certificates {
		request.TLS.PeerCertificates = append(request.TLS.PeerCertificates, certificate.Leaf)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestGate_judges_certificates_without_asking_anybody(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	told := func(context.Context) (string, error) { return ours.bundle(), nil }
	serving := issue(t, ours, Scraper, x509.ExtKeyUsageServerAuth)
	for name, row := range map[string]struct {
		certificates []tls.Certificate
		later        time.Duration
		told         func(context.Context) (string, error)
		want         int
	}{
		"Prometheus":                           {certificates: []tls.Certificate{issue(t, ours, Scraper)}, want: http.StatusOK},
		"nobody":                               {want: http.StatusUnauthorized},
		"somebody else":                        {certificates: []tls.Certificate{issue(t, ours, "system:admin")}, want: http.StatusForbidden},
		"its name by another authority":        {certificates: []tls.Certificate{issue(t, others, Scraper)}, want: http.StatusUnauthorized},
		"its name by another with ours behind": {certificates: []tls.Certificate{issue(t, others, Scraper), {Leaf: ours.cert}}, want: http.StatusUnauthorized},
		"its name for a server":                {certificates: []tls.Certificate{serving}, want: http.StatusUnauthorized},
		"Prometheus, expired":                  {certificates: []tls.Certificate{issue(t, ours, Scraper)}, later: 25 * time.Hour, want: http.StatusUnauthorized},
		"Prometheus, its authority taken out": {
			certificates: []tls.Certificate{issue(t, ours, Scraper)}, want: http.StatusUnauthorized,
			told: func(context.Context) (string, error) { return others.bundle(), nil },
		},
		"Prometheus, and the authorities cannot be read": {
			certificates: []tls.Certificate{issue(t, ours, Scraper)}, want: http.StatusServiceUnavailable,
			told: func(context.Context) (string, error) { return "", errors.New("not seen yet") },
		},
		"Prometheus, and there are no authorities": {
			certificates: []tls.Certificate{issue(t, ours, Scraper)}, want: http.StatusServiceUnavailable,
			told: func(context.Context) (string, error) { return "", nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if row.told == nil {
				row.told = told
			}
			handler, cluster, clock := gated(row.told)
			clock.SetTime(noon.Add(row.later))
			answer := visit(handler, "", row.certificates...)
			if answer.Code != row.want || len(cluster.Actions()) != 0 {
				t.Errorf("the answer is %d, want %d; asked was %v", answer.Code, row.want, cluster.Actions())
			}
			if answer.Header().Get("Connection") != "close" {
				t.Error("the connection stays, and with it a profile that may have changed")
			}
		})
	}
}

func TestGate_a_token_counts_whatever_the_certificate_is(t *testing.T) {
	handler, cluster, _ := gated(func(context.Context) (string, error) { return "", errors.New("not seen yet") })
	knows(cluster, map[string]authenticationv1.UserInfo{"good": {Username: "reader"}}, "reader")
	if got := visit(handler, "good", issue(t, newAuthority(t), Scraper)).Code; got != http.StatusOK {
		t.Errorf("the answer is %d", got)
	}
}
