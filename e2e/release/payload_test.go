package release_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy/payload"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

var _ = Describe("The payload", func() {
	It("installs Cluster API with one replica that has no access but its account's, and reports the version", func(ctx SpecContext) {
		k := begin(ctx, nil)
		since, err := env.Cluster.Mark(ctx)
		Expect(err).NotTo(HaveOccurred())
		release{"4.22.0", images(ctx)}.install(ctx, files(), false)
		pods := k.ready(ctx, 1)
		Expect(brought(ctx, "cluster-capi-controllers")).To(Equal("image"))
		requests, err := env.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		operator := "system:serviceaccount:" + harness.OperatorNamespace + ":" + harness.ServiceAccount
		Expect(requests.Where(func(r cluster.Request) bool { return r.User == operator && r.IsWrite() })).NotTo(BeEmpty())

		By("scraping the metrics of its pod and of the checker's, by certificate and by token")
		reader, err := env.Token(ctx, "reader")
		Expect(err).NotTo(HaveOccurred())
		Expect(env.LetScrape(ctx, "reader")).To(Succeed())
		tenant, err := env.Token(ctx, "tenant")
		Expect(err).NotTo(HaveOccurred())
		for _, p := range append(pods, k.checkers()...) {
			service, metric := "capstan-metrics", `capstan_machine_state{machine="clusterapi",state="Installed"} 1`
			if p.answers() {
				service, metric = harness.WebhooksAccount, "go_goroutines "
			}
			metrics := env.MetricsOfPod(p.metricsAddress(), service)
			eventually(ctx, "Prometheus to be let in by "+p.object.Name, func(ctx context.Context) error {
				text, err := metrics.Text(ctx)
				if err == nil && !strings.Contains(text, metric) {
					err = fmt.Errorf("%s is not told", metric)
				}
				return err
			})
			eventually(ctx, "the reader to be let in by "+p.object.Name, func(ctx context.Context) error {
				return metrics.Answers(ctx, harness.Visitor{Token: reader}, http.StatusOK)
			})
			Expect(metrics.Answers(ctx, harness.Visitor{Token: tenant}, http.StatusForbidden)).To(Succeed())
			Expect(metrics.Answers(ctx, harness.Visitor{}, http.StatusUnauthorized)).To(Succeed())
		}
	}, SpecTimeout(patience))

	It("takes the place of the installer before it, and leaves to people what is theirs", func(ctx SpecContext) {
		k := begin(ctx, nil)
		apply(ctx, former)
		all, made := images(ctx), files()
		release{"4.22.0", all}.install(ctx, made, true)
		k.ready(ctx, 1)

		By("taking away what the former one had")
		for _, name := range []string{"capi-operator", "capi-installer"} {
			Expect(gone(ctx, "apps/v1", "Deployment", harness.OperatorNamespace, name)).To(Succeed())
		}
		Expect(gone(ctx, "v1", "ServiceAccount", harness.OperatorNamespace, "capi-installer")).To(Succeed())
		for _, name := range []string{"openshift-capi-installer", "openshift-capi-installer:provider-permissions"} {
			Expect(gone(ctx, rbacv1.SchemeGroupVersion.String(), "ClusterRole", "", name)).To(Succeed())
		}

		By("merging labels")
		namespace := &corev1.Namespace{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.OperatorNamespace}, namespace)).To(Succeed())
		Expect(namespace.Labels).To(And(
			HaveKeyWithValue("openshift.io/run-level", ""), HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"),
			HaveKeyWithValue("team", "storage"),
		))

		By("upgrading")
		api := &operatorv1alpha1.ClusterAPI{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, api)).To(Succeed())
		api.Spec.UnmanagedCustomResourceDefinitions = []string{"things.example.com"}
		Expect(env.Client.Update(ctx, api, harness.Administrator)).To(Succeed())
		release{"4.22.1", all}.install(ctx, made, true)
		k.ready(ctx, 1)
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, api)).To(Succeed())
		Expect(api.Spec.UnmanagedCustomResourceDefinitions).To(Equal([]string{"things.example.com"}))
	}, SpecTimeout(patience))

	It("follows no image that only the release before had, though its key stays in the list", func(ctx SpecContext) {
		const dropped, before, after = "gcp-cluster-api-controllers", "aws-cluster-api-controllers", "aws-controllers"
		k := begin(ctx, nil)
		all, made := images(ctx), files()
		release{"4.22.0", all}.install(ctx, made, false)
		k.ready(ctx, 1)

		next := content(before)
		next[providers.ManifestsDir+"/default/README"] = []byte("another digest")
		again, err := env.PushFiles(ctx, "again", next)
		Expect(err).NotTo(HaveOccurred())
		all["registry.ci.openshift.org/openshift:"+before] = again
		for name, text := range made {
			if strings.HasSuffix(name, "_images.yaml") {
				changed := regexp.MustCompile("(?m)^  "+dropped+": .*\n").ReplaceAllString(string(text), "")
				made[name] = []byte(strings.NewReplacer(dropped+",", "", "  "+before+": ", "  "+after+": ", before+",", after+",").Replace(changed))
			}
		}
		release{"4.22.1", all}.install(ctx, made, true)
		list, err := read(ctx, "v1", "ConfigMap", harness.OperatorNamespace, harness.ImagesConfigMap)
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Object["data"]).To(And(HaveKey(dropped), HaveKey(before), HaveKey(after)))
		eventually(ctx, "what the dropped image brought to go", func(ctx context.Context) error {
			return gone(ctx, "v1", "ConfigMap", harness.CAPINamespace, dropped)
		})
		Expect(brought(ctx, before)).To(Equal("image"))
	}, SpecTimeout(patience))
})

func files() map[string][]byte {
	GinkgoHelper()
	made, err := payload.Files()
	Expect(err).NotTo(HaveOccurred())
	return made
}

// brought says where the ConfigMap of a provider image comes from.
func brought(ctx context.Context, name string) (string, error) {
	object := &corev1.ConfigMap{}
	err := env.Client.Get(ctx, client.ObjectKey{Namespace: harness.CAPINamespace, Name: name}, object)
	return object.Data["from"], err
}
