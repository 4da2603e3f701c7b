package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// crashes kills a component and starts it again.
func crashes(component cluster.Component) func(context.Context, *cell) {
	return func(ctx context.Context, _ *cell) {
		GinkgoHelper()
		env.Cluster.Kill(component)
		Expect(env.Cluster.Restart(ctx, component)).To(Succeed())
		next()
		edit(ctx)
	}
}

// forbidden waits until the operator's own account can no longer write an
// object: what forbids it takes a moment to work.
func forbidden(ctx context.Context, name string) {
	GinkgoHelper()
	config, err := env.OperatorConfig()
	Expect(err).NotTo(HaveOccurred())
	asOperator, err := harness.NewClient(config)
	Expect(err).NotTo(HaveOccurred())
	eventually(ctx, "the operator's writes to be refused", func(ctx context.Context) error {
		err := asOperator.Patch(ctx, configMap(name), client.RawPatch(types.MergePatchType, []byte(`{"data":{"setting":"right"}}`)), client.DryRunAll)
		if err == nil {
			return errors.New("it may still write")
		}
		if apierrors.IsForbidden(err) || apierrors.IsInternalError(err) {
			return nil
		}
		return err
	})
}

var clusterFaults = []fault{
	{
		name: "kube-apiserver crashes", doc: "kube-apiserver is killed and started again.",
		begin: crashes(cluster.APIServer), expect: soon,
	},
	{
		name: "etcd crashes", doc: "etcd is killed and started again; kube-apiserver answers nothing meanwhile.",
		begin: crashes(cluster.Etcd), expect: soon,
	},
	{
		name: "kube-controller-manager stopped", doc: "kube-controller-manager does not run: no pod is made, no Namespace is cleaned up.",
		begin: func(ctx context.Context, c *cell) {
			env.Cluster.Kill(cluster.ControllerManager)
			c.later(func() { Expect(env.Cluster.Restart(ctx, cluster.ControllerManager)).To(Succeed()) })
			next()
			edit(ctx)
		},
		expect: soon,
	},
	{
		name: "webhook backend down", doc: "An admission webhook that is asked about an object cannot be reached, and refuses by that.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			object := deafWebhook(next())
			Expect(env.Client.Create(ctx, object)).To(Succeed())
			c.later(func() { Expect(env.Client.Delete(ctx, object)).To(Succeed()) })
			forbidden(ctx, target)
			edit(ctx)
		},
		expect: tells("ConfigMap openshift-cluster-api/edited-", "failed calling webhook"),
	},
	{
		name: "RBAC verb taken away", doc: "The operator may no longer patch ConfigMaps.", quick: true,
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			c.later(forbidConfigMaps(ctx))
			forbidden(ctx, next())
			edit(ctx)
		},
		expect: tells("ConfigMap openshift-cluster-api/edited-", "cannot patch resource"),
	},
}

// deafWebhook is asked about the operator's writes to one ConfigMap, where nobody listens.
func deafWebhook(name string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	fail, none, nowhere := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, "https://127.0.0.1:1/"
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "deaf"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "deaf.faults.cluster.x-k8s.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, FailurePolicy: &fail,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &nowhere},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{
				Name:       "the-operators",
				Expression: fmt.Sprintf("object.metadata.name == %q && request.userInfo.username.endsWith(':%s')", name, harness.ServiceAccount),
			}},
		}},
	}
}

// namespaceRole is the ClusterRole of deploy that is bound in the providers' namespace.
const namespaceRole = "capstan-namespace"

// forbidConfigMaps takes the right to write ConfigMaps away, and returns what gives it back.
func forbidConfigMaps(ctx context.Context) (again func()) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: namespaceRole}, role)).To(Succeed())
	rules := slices.Clone(role.Rules)
	for i, rule := range rules {
		if !slices.Contains(rule.Resources, "configmaps") || !slices.Contains(rule.Verbs, "patch") {
			continue
		}
		left := *rule.DeepCopy()
		left.Resources = []string{"configmaps"}
		left.Verbs = slices.DeleteFunc(left.Verbs, func(verb string) bool { return verb == "patch" })
		role.Rules[i].Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return r == "configmaps" })
		role.Rules = append(role.Rules, left)
	}
	Expect(env.Client.Update(ctx, role)).To(Succeed())
	return func() {
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: namespaceRole}, role)).To(Succeed())
		role.Rules = rules
		Expect(env.Client.Update(ctx, role)).To(Succeed())
	}
}
