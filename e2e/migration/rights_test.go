package migration_test

import (
	"context"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// expectSpeaksAsComponentsOnly checks whom the API server lets the operator impersonate.
func expectSpeaksAsComponentsOnly(ctx context.Context) {
	for account, may := range map[[2]string]bool{
		{namespace, "cluster-api"}: true, {namespace, "capi-provider"}: true, {namespace, "machine-approver"}: true,
		{namespace, "control-plane-operator"}: false, {namespace, "default"}: false, {namespace, ""}: false,
		{"kube-system", "generic-garbage-collector"}: false, {"kube-system", "namespace-controller"}: false,
		{harness.OperatorNamespace, harness.WebhooksAccount}: false,
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   "system:serviceaccount:" + harness.OperatorNamespace + ":" + harness.ServiceAccount,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + harness.OperatorNamespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: "impersonate", Version: "v1", Resource: "serviceaccounts", Namespace: account[0], Name: account[1],
			},
		}}
		Expect(env.Client.Create(ctx, review)).To(Succeed())
		Expect(review.Status.Allowed).To(Equal(may), "as %s/%s", account[0], account[1])
	}
}
