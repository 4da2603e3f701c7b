package openshiftcontrolplane_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// year is for how long a kubeconfig is valid.
const year = 365 * 24 * time.Hour

// clientOf is, of a kubeconfig, the certificate that it has of a user.
func clientOf(kubeconfig []byte) *x509.Certificate {
	GinkgoHelper()
	config, err := clientcmd.Load(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	Expect(config.AuthInfos).To(HaveLen(1))
	for _, user := range config.AuthInfos {
		block, _ := pem.Decode(user.ClientCertificateData)
		Expect(block).NotTo(BeNil())
		certificate, err := x509.ParseCertificate(block.Bytes)
		Expect(err).NotTo(HaveOccurred())
		return certificate
	}
	return nil
}

var _ = Describe("The kubeconfig of an installed cluster", Label(long), func() {
	It("is left alone before half of its life, and made anew by the same authority after that", func(ctx SpecContext) {
		key := newKey(ctx)
		install(ctx, key)
		provider := world.Manager(capiworld.Provider)
		DeferCleanup(func(ctx SpecContext) {
			Expect(provider.Stop()).To(Succeed())
			Expect(provider.Start()).To(Succeed())
			Expect(provider.Ready(ctx)).To(Succeed())
		})
		later := func(by time.Duration) {
			GinkgoHelper()
			Expect(provider.Stop()).To(Succeed())
			// All other clusters of the suite would be late, too.
			Expect(provider.StartLater(by, "--namespace="+key.Namespace)).To(Succeed())
			Expect(provider.Ready(ctx)).To(Succeed())
		}
		before := stored(ctx, key, "one-kubeconfig")
		first := clientOf(before.Data["value"])
		Expect(first.NotAfter.Sub(first.NotBefore)).To(BeNumerically("~", year, time.Hour))

		later(year/2 - 24*time.Hour)
		says(ctx, key, "KubeconfigAvailable", metav1.ConditionTrue, "")
		Consistently(func() string { return stored(ctx, key, "one-kubeconfig").ResourceVersion }).
			WithTimeout(quiet).WithPolling(quiet / 3).Should(Equal(before.ResourceVersion))

		later(year/2 + 24*time.Hour)
		var second *x509.Certificate
		eventually(ctx, "another kubeconfig", func(ctx context.Context) error {
			if second = clientOf(stored(ctx, key, "one-kubeconfig").Data["value"]); second.Equal(first) {
				return errors.New("it is the same")
			}
			return nil
		})
		// Who signs goes by the real time, so that the new one is as old as the first one to a clock that is ahead.
		Expect(provider.Stop()).To(Succeed())
		Expect(second.Subject.String()).To(Equal(first.Subject.String()))
		Expect(second.Issuer.String()).To(Equal(first.Issuer.String()))
		guest, err := world.Guest(ctx, key)
		Expect(err).NotTo(HaveOccurred())
		nodes := &corev1.NodeList{}
		Expect(guest.List(ctx, nodes)).To(Succeed())
		Expect(nodes.Items).NotTo(BeEmpty())
	}, SpecTimeout(3*patience))
})
