package cluster_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

func TestCertificatesHoldForOperatorsWhoseClockIsSetBackAndForward(t *testing.T) {
	c := shared(t)
	for name, pem := range map[string][]byte{"the client's": c.Config().CertData, "the authority's": c.Config().CAData} {
		certificate := parsed(t, pem)
		for _, by := range []time.Duration{-14 * 24 * time.Hour, 14 * 24 * time.Hour} {
			if clock := time.Now().Add(by); clock.Before(certificate.NotBefore) || clock.After(certificate.NotAfter) {
				t.Errorf("%s certificate holds from %s to %s, and an operator's clock may show %s", name, certificate.NotBefore, certificate.NotAfter, clock)
			}
		}
	}
}

func parsed(t *testing.T, certificate []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(certificate)
	if block == nil {
		t.Fatalf("there is no certificate in %q", certificate)
	}
	read, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

var inject = map[string]string{"service.beta.openshift.io/inject-cabundle": "true"}

func TestTheServiceCACertifiesAServiceSoThatAnInjectedBundleTrustsIt(t *testing.T) {
	c := shared(t)
	client := clientOf(t, c)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "webhook",
			Annotations: map[string]string{"service.beta.openshift.io/serving-cert-secret-name": "webhook-cert"},
		},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
	}
	if _, err := client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	configurations := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := configurations.Create(t.Context(), webhooks("validating"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	var secret *corev1.Secret
	eventually(t, "Secret webhook-cert exists", func(ctx context.Context) bool {
		var err error
		secret, err = client.CoreV1().Secrets("default").Get(ctx, "webhook-cert", metav1.GetOptions{})
		return err == nil
	})
	bundle := validatingBundle(t, c, "validating")
	certificate := parsed(t, secret.Data[corev1.TLSCertKey])
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(bundle)
	if _, err := certificate.Verify(x509.VerifyOptions{DNSName: "webhook.default.svc", Roots: trusted}); err != nil {
		t.Errorf("the injected bundle does not trust the Service's certificate: %v", err)
	}

	configuration, err := configurations.Get(t.Context(), "validating", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	configuration.Webhooks[0].ClientConfig.CABundle = nil
	if _, err := configurations.Update(t.Context(), configuration, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	validatingBundle(t, c, "validating")
}

func TestTheServiceCAMakesANewSecretForAServiceThatIsMadeAgain(t *testing.T) {
	client := clientOf(t, shared(t))
	services := client.CoreV1().Services("default")
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "again",
			Annotations: map[string]string{"service.beta.openshift.io/serving-cert-secret-name": "again-cert"},
		},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
	}
	for range 2 {
		created, err := services.Create(t.Context(), service, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the Secret belongs to the Service", func(ctx context.Context) bool {
			secret, err := client.CoreV1().Secrets("default").Get(ctx, "again-cert", metav1.GetOptions{})
			return err == nil && secret.OwnerReferences[0].UID == created.UID
		})
		if err := services.Delete(t.Context(), "again", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheServiceCAInjectsIntoConversionWebhooksAndNothingThatDoesNotAsk(t *testing.T) {
	c := shared(t)
	definitions, err := clientset.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	silent := conversion("silents")
	silent.Annotations = nil
	for _, crd := range []*apiextensionsv1.CustomResourceDefinition{silent, conversion("askers")} {
		if _, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bundle := func(ctx context.Context, plural string) []byte {
		crd, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, plural+".test.capstan.io", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return crd.Spec.Conversion.Webhook.ClientConfig.CABundle
	}
	eventually(t, "the definition that asks has a bundle", func(ctx context.Context) bool { return len(bundle(ctx, "askers")) > 0 })
	if got := bundle(t.Context(), "silents"); len(got) > 0 {
		t.Error("the definition that does not ask has a bundle too")
	}
	requests, err := c.RequestsSince(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(requests.By(cluster.ServiceCAUserAgent).Writes()) == 0 {
		t.Error("the audit log knows no write by the service CA's user agent")
	}
}

func validatingBundle(t *testing.T, c *cluster.Cluster, name string) []byte {
	t.Helper()
	var bundle []byte
	eventually(t, "every webhook has a bundle", func(ctx context.Context) bool {
		configuration, err := clientOf(t, c).AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		for _, webhook := range configuration.Webhooks {
			if bundle = webhook.ClientConfig.CABundle; len(bundle) == 0 {
				return false
			}
		}
		return true
	})
	return bundle
}

// webhooks is a configuration of two webhooks that no request meets.
func webhooks(name string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	none := admissionregistrationv1.SideEffectClassNone
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: inject},
	}
	for _, webhook := range []string{"one.test.capstan.io", "two.test.capstan.io"} {
		configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name:                    webhook,
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "webhook"},
			},
		})
	}
	return configuration
}

func conversion(plural string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".test.capstan.io", Annotations: inject},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "test.capstan.io",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"},
					ClientConfig: &apiextensionsv1.WebhookClientConfig{
						Service: &apiextensionsv1.ServiceReference{Namespace: "default", Name: "webhook"},
					},
				},
			},
		},
	}
}
