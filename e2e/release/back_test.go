package release_test

import (
	"context"
	"fmt"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The way back to the former installer", func() {
	It("is barred by Capstan's policies until capstan takeover --back has taken them away", func(ctx SpecContext) {
		k := begin(ctx, nil)
		release{"4.22.0", images(ctx)}.install(ctx, files(), false)
		k.ready(ctx, 1)
		apply(ctx, former)
		list := formerLists()
		Expect(list(ctx)).To(MatchError(apierrors.IsForbidden, "IsForbidden"))

		Expect(takeOver(ctx, "--back", "--dry-run")).To(And(
			MatchRegexp(`delete +Deployment openshift-cluster-api-operator/capstan `), MatchRegexp(`wait +Lease openshift-cluster-api-operator/capstan-leader `),
			MatchRegexp(`delete +Deployment openshift-cluster-api-operator/capstan-webhooks `),
			MatchRegexp(`delete +ValidatingAdmissionPolicyBinding capstan-status `), MatchRegexp(`delete +PrometheusRule openshift-cluster-api-operator/capstan `),
			MatchRegexp(`delete +NetworkPolicy openshift-cluster-api/default-deny `), MatchRegexp(`clear +ConfigMap openshift-cluster-api-operator/capi-installer-images `),
			Not(ContainSubstring("override")), ContainSubstring("capstan takeover --yes --back")))
		k.ready(ctx, 1)

		Expect(takeOver(ctx, "--back", "--yes")).To(ContainSubstring("Done."))
		eventually(ctx, "the former installer to list its revisions", list)
		Expect(gone(ctx, "apps/v1", "Deployment", harness.OperatorNamespace, "capstan")).To(Succeed())
		Expect(k.running()).To(BeEmpty())
		for _, name := range []string{"capi-operator", "capi-installer"} {
			_, err := read(ctx, "apps/v1", "Deployment", harness.OperatorNamespace, name)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(brought(ctx, "cluster-capi-controllers")).To(Equal("image"))
		Expect(takeOver(ctx, "--back", "--dry-run")).To(ContainSubstring("Nothing of Capstan's is on this cluster"))
	}, SpecTimeout(2*patience)) // it waits for the end of an operator, and for the start of another
})

// formerLists writes the status of ClusterAPI as the account of the former installer.
func formerLists() func(context.Context) error {
	GinkgoHelper()
	config, err := env.Cluster.ConfigFor("system:serviceaccount:"+harness.OperatorNamespace+":capi-installer", "system:serviceaccounts", "system:authenticated")
	Expect(err).NotTo(HaveOccurred())
	account, err := client.New(config, client.Options{Scheme: env.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return func(ctx context.Context) error {
		api := &operatorv1alpha1.ClusterAPI{}
		if err := account.Get(ctx, client.ObjectKey{Name: harness.Singleton}, api); err != nil {
			return fmt.Errorf("reading: %w", err)
		}
		return account.Status().Update(ctx, api)
	}
}

// takeOver runs capstan takeover as an administrator, which must not fail.
func takeOver(ctx context.Context, args ...string) string {
	GinkgoHelper()
	kubeconfig, err := env.Cluster.KubeconfigFor("an-administrator", "system:masters")
	Expect(err).NotTo(HaveOccurred())
	out, err := exec.CommandContext(ctx, bin+"/capstan", append([]string{"takeover", "--kubeconfig", kubeconfig}, args...)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}
