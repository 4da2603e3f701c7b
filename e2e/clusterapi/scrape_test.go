package clusterapi_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The metrics' server", func() {
	It("lets Prometheus in by its certificate, which costs no request, and others by a token", func(ctx SpecContext) {
		metrics := serving(ctx)
		eventually(ctx, "Prometheus to be let in", func(ctx context.Context) error {
			text, err := metrics.Text(ctx)
			if err == nil && !strings.Contains(text, `capstan_machine_state{machine="clusterapi",state="Installed"} 1`) {
				err = errors.New("the state is not told")
			}
			return err
		})
		since := mark(ctx)
		for range 5 {
			Expect(metrics.Text(ctx)).NotTo(BeEmpty())
		}
		Expect(unrecorded(requests(ctx, since))).To(BeEmpty())

		reader, err := env.Token(ctx, "reader")
		Expect(err).NotTo(HaveOccurred())
		Expect(env.LetScrape(ctx, "reader")).To(Succeed())
		tenant, err := env.Token(ctx, "tenant")
		Expect(err).NotTo(HaveOccurred())
		eventually(ctx, "the reader to be let in", func(ctx context.Context) error {
			return metrics.Answers(ctx, harness.Visitor{Token: reader}, http.StatusOK)
		})
		since = mark(ctx)
		Expect(metrics.Answers(ctx, harness.Visitor{Token: reader}, http.StatusOK)).To(Succeed())
		Expect(unrecorded(requests(ctx, since))).To(BeEmpty(), "what the API server has said of a token is asked again at once")

		admin, err := env.Cluster.ConfigFor("system:admin", "system:masters")
		Expect(err).NotTo(HaveOccurred())
		Expect(metrics.Answers(ctx, harness.Visitor{}, http.StatusUnauthorized)).To(Succeed())
		Expect(metrics.Answers(ctx, harness.Visitor{Access: admin}, http.StatusForbidden)).To(Succeed())
		Expect(metrics.Answers(ctx, harness.Visitor{Token: tenant}, http.StatusForbidden)).To(Succeed())
		Expect(metrics.Answers(ctx, harness.Visitor{Token: tenant + "x"}, http.StatusUnauthorized)).To(Succeed())
	})

	It("speaks as the cluster's TLS profile says, from the next connection on", func(ctx SpecContext) {
		metrics := serving(ctx)
		speaks := func(version uint16) func(context.Context) error {
			return func(ctx context.Context) error {
				return metrics.Answers(ctx, harness.Visitor{Speaks: version}, http.StatusUnauthorized)
			}
		}
		refuses := func(version uint16) func(context.Context) error {
			return func(ctx context.Context) error {
				if speaks(version)(ctx) == nil {
					return fmt.Errorf("it speaks %s", tls.VersionName(version))
				}
				return nil
			}
		}
		eventually(ctx, "a connection of the default profile", speaks(tls.VersionTLS12))
		Expect(refuses(tls.VersionTLS11)(ctx)).To(Succeed())
		profile := &configv1.APIServer{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
		profile.Spec.TLSSecurityProfile = &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}}
		Expect(env.Client.Create(ctx, profile, administrator)).To(Succeed())
		eventually(ctx, "an old version to be refused", refuses(tls.VersionTLS12))
		Expect(speaks(tls.VersionTLS13)(ctx)).To(Succeed())
		profile.Spec.TLSSecurityProfile = &configv1.TLSSecurityProfile{Type: configv1.TLSProfileOldType, Old: &configv1.OldTLSProfile{}}
		Expect(env.Client.Update(ctx, profile, administrator)).To(Succeed())
		eventually(ctx, "the oldest version to be spoken", speaks(tls.VersionTLS10))
	})

	It("serves with a certificate that is renewed, and the operator works without one", func(ctx SpecContext) {
		metrics := serving(ctx)
		var before harness.Answer
		eventually(ctx, "a connection", func(ctx context.Context) (err error) {
			before, err = metrics.Ask(ctx, harness.Visitor{})
			return err
		})
		Expect(metrics.Withdraw()).To(Succeed())
		_, err := metrics.Ask(ctx, harness.Visitor{})
		Expect(err).To(HaveOccurred())
		release(ctx, newProvider("alpha").with(configMap("more", "one")))
		installed(ctx, 2)
		Expect(metrics.Certify()).To(Succeed())
		after, err := metrics.Ask(ctx, harness.Visitor{})
		Expect(err).NotTo(HaveOccurred())
		Expect(after.TLS.PeerCertificates[0].SerialNumber).NotTo(Equal(before.TLS.PeerCertificates[0].SerialNumber))
	})
})

// serving begins with an installed provider and an operator that serves metrics.
func serving(ctx context.Context) *harness.Metrics {
	GinkgoHelper()
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
	metrics, err := env.NewMetrics()
	Expect(err).NotTo(HaveOccurred())
	operate(harness.OperatorOptions{Arguments: metrics.Arguments()})
	installed(ctx, 1)
	until(ctx, "the conditions of a finished installation", finished)
	return metrics
}
