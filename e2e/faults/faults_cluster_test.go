package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
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
func deafWebhook(name string) *admissionv1.ValidatingWebhookConfiguration {
	fail, none, nowhere := admissionv1.Fail, admissionv1.SideEffectClassNone, "https://127.0.0.1:1/"
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "deaf"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "deaf.faults.capstan.io", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, FailurePolicy: &fail,
			ClientConfig: admissionv1.WebhookClientConfig{URL: &nowhere},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			MatchConditions: []admissionv1.MatchCondition{{
				Name:       "the-operators",
				Expression: fmt.Sprintf("object.metadata.name == %q && request.userInfo.username.endsWith(':%s')", name, harness.ServiceAccount),
			}},
		}},
	}
}

// forbidConfigMaps takes the right to write ConfigMaps away, and returns what gives it back.
func forbidConfigMaps(ctx context.Context) (again func()) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.ServiceAccount}, role)).To(Succeed())
	rules := slices.Clone(role.Rules)
	for i, rule := range role.Rules {
		if slices.Contains(rule.Resources, "configmaps") && slices.Contains(rule.Verbs, "patch") {
			role.Rules[i].Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return r == "configmaps" })
		}
	}
	Expect(env.Client.Update(ctx, role)).To(Succeed())
	return func() {
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.ServiceAccount}, role)).To(Succeed())
		role.Rules = rules
		Expect(env.Client.Update(ctx, role)).To(Succeed())
	}
}

// The good revision's objects that are deleted, by their keys in a State.
const (
	crdKey       = "customresourcedefinitions.apiextensions.k8s.io /things.faults.capstan.io"
	thingKey     = "things.faults.capstan.io openshift-cluster-api/thing"
	namespaceKey = "namespaces /faults-extra"
	insideKey    = "configmaps faults-extra/inside"
)

var objectFaults = []fault{
	{
		name: "CRD deleted", doc: "A CustomResourceDefinition of the good revision is deleted, and with it what it defines.",
		begin: func(ctx context.Context, _ *cell) {
			GinkgoHelper()
			crd := shape("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things.faults.capstan.io")
			thing := shape("faults.capstan.io/v1", "Thing", harness.CAPINamespace, "thing")
			was, alsoWas := uidOf(ctx, crd), uidOf(ctx, thing)
			remove(ctx, crd)
			eventually(ctx, "both to be there again", func(ctx context.Context) error {
				return errors.Join(exists(ctx, crd, was), exists(ctx, thing, alsoWas))
			})
		},
		expect: everywhere(expectation{word: unnoticed, renewed: []string{crdKey, thingKey}}),
	},
	{
		name: "Namespace terminating", doc: "A Namespace of the good revision is deleted, and a finalizer in it keeps it from its end.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			namespace, inside := shape("v1", "Namespace", "", "faults-extra"), shape("v1", "ConfigMap", "faults-extra", "inside")
			was, alsoWas := uidOf(ctx, namespace), uidOf(ctx, inside)
			patch(ctx, inside, hold)
			remove(ctx, namespace)
			c.later(func() {
				patch(ctx, inside, free)
				eventually(ctx, "both to be there again", func(ctx context.Context) error {
					return errors.Join(exists(ctx, namespace, was), exists(ctx, inside, alsoWas))
				})
			})
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			e := expectation{word: unnoticed, mended: true, renewed: []string{namespaceKey, insideKey}}
			return e
		},
	},
	{
		name: "ClusterAPI deleted", doc: "ClusterAPI cluster is deleted, and with it the list of revisions; it is created again.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			remove(ctx, theClusterAPI())
			c.later(func() { Expect(env.CreateClusterAPI(ctx)).To(Succeed()) })
		},
		expect: everywhere(expectation{word: told, departs: true, told: []func(harness.View) error{mentions("ClusterAPI cluster does not exist")}}),
	},
	{
		name: "ClusterOperator deleted", doc: "ClusterOperator cluster-api is deleted, and with it the machine's record.", quick: true,
		begin: func(ctx context.Context, _ *cell) {
			GinkgoHelper()
			was := uidOf(ctx, theClusterOperator())
			remove(ctx, theClusterOperator())
			eventually(ctx, "it to be there again", func(ctx context.Context) error { return exists(ctx, theClusterOperator(), was) })
			next()
			edit(ctx)
		},
		expect: everywhere(expectation{word: returns, mended: true}),
	},
	{
		name: "record spoilt by hand", doc: "Somebody writes nonsense over the machine's record.",
		begin: func(ctx context.Context, _ *cell) {
			patchStatus(ctx, theClusterOperator(), `{"status":{"extension":{"clusterapi":{"state":"Nonsense"}}}}`)
			next()
			edit(ctx)
		},
		expect: everywhere(expectation{word: returns, mended: true}),
	},
	{
		name: "conditions removed by hand", doc: "Somebody empties the conditions of the ClusterOperator.",
		begin: func(ctx context.Context, _ *cell) {
			patchStatus(ctx, theClusterOperator(), `{"status":{"conditions":null}}`)
			next()
			edit(ctx)
		},
		expect: soon,
	},
	{
		name: "list of images deleted", doc: "ConfigMap capi-installer-images is deleted.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			list := &corev1.ConfigMap{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: harness.ImagesConfigMap}, list)).To(Succeed())
			Expect(env.Client.Delete(ctx, list)).To(Succeed())
			c.later(func() { Expect(env.SetImages(ctx, list.Data)).To(Succeed()) })
			next()
			edit(ctx)
		},
		expect: everywhere(expectation{word: told, mended: true, told: []func(harness.View) error{mentions("ConfigMap openshift-cluster-api-operator/capi-installer-images does not exist")}}),
	},
}

// podsOf are the labels of the worker's pods in a state: where they are held by
// a label already, by that.
func podsOf(s *stage) map[string]string {
	if s.state == harness.Applying {
		return held
	}
	return map[string]string{"app": "worker"}
}

// stopsPods lets the worker's pods fail, for longer than people are patient.
func stopsPods(stop func(context.Context, map[string]string) error) func(context.Context, *cell) {
	return func(ctx context.Context, c *cell) {
		GinkgoHelper()
		pods := podsOf(c.stage)
		Expect(stop(ctx, pods)).To(Succeed())
		c.later(func() {
			if c.state == harness.Applying {
				Expect(env.Cluster.HoldPods(ctx, pods)).To(Succeed())
				return
			}
			Expect(env.Cluster.ReleasePods(ctx, pods)).To(Succeed())
		})
		gateLost(ctx, c)
	}
}

// gateLost waits until a Deployment that is not available is noticed, and lets
// five minutes go by, of which the first four and a half change nothing.
func gateLost(ctx context.Context, c *cell) {
	GinkgoHelper()
	eventually(ctx, "the Deployment not to be available", func(ctx context.Context) error {
		return unavailable(ctx)
	})
	if c.state != harness.Installed {
		return
	}
	until(ctx, "the deadline to be told", harness.InState(harness.Installed), mentions("Degraded at"))
	advance(4*minute + 30*second)
	next()
	edit(ctx)
	eventually(ctx, "the operator to look again", isRight)
	until(ctx, "the state to be kept until the deadline", harness.InState(harness.Installed))
	advance(31 * second)
}

func unavailable(ctx context.Context) error {
	deployment := shape("apps/v1", "Deployment", harness.CAPINamespace, "worker")
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
		return err
	}
	if status, _ := deployment.Object["status"].(map[string]any); status["unavailableReplicas"] == nil {
		return errors.New("it is available")
	}
	return nil
}

// podsFail is what is expected of pods that fail: only an installed revision
// and one that is being applied ask for them.
func podsFail(s *stage) expectation {
	switch s.state {
	case harness.Installed:
		return expectation{word: escalates, to: harness.Degraded, told: []func(harness.View) error{
			says("Degraded", "True", "EphemeralError", "Deployment openshift-cluster-api/worker"), says("Available", "False", "NonRetryableError"),
		}}
	case harness.Applying:
		return expectation{word: told, told: []func(harness.View) error{mentions("Deployment openshift-cluster-api/worker")}}
	}
	return expectation{word: unnoticed}
}

var podFaults = []fault{
	{
		name: "pods crash-loop", doc: "The pods of the good revision's Deployment are in CrashLoopBackOff, for five minutes.", quick: true,
		begin: stopsPods(func(ctx context.Context, pods map[string]string) error { return env.Cluster.CrashPods(ctx, pods) }), expect: podsFail,
	},
	{
		name: "images unpullable", doc: "The images of the good revision's pods cannot be pulled, for five minutes.",
		begin: stopsPods(func(ctx context.Context, pods map[string]string) error { return env.Cluster.UnpullPods(ctx, pods) }), expect: podsFail,
	},
	{
		name: "quota exhausted", doc: "The pods of the good revision's Deployment are gone and a ResourceQuota allows no new ones, for five minutes.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			c.later(exhaustQuota(ctx))
			gateLost(ctx, c)
		},
		expect: podsFail,
	},
}

// exhaustQuota allows no pods, deletes those of the worker, and returns what allows them again.
func exhaustQuota(ctx context.Context) (again func()) {
	GinkgoHelper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: harness.CAPINamespace, Name: "none"}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: *zero}
	Expect(env.Client.Create(ctx, quota)).To(Succeed())
	eventually(ctx, "the quota to hold", func(ctx context.Context) error {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if len(quota.Status.Hard) == 0 {
			return errors.New("nobody has counted yet")
		}
		return nil
	})
	pods := &corev1.PodList{}
	Expect(env.Client.List(ctx, pods, client.InNamespace(harness.CAPINamespace))).To(Succeed())
	for i := range pods.Items {
		if strings.HasPrefix(pods.Items[i].Name, "worker-") {
			Expect(client.IgnoreNotFound(env.Client.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)))).To(Succeed())
		}
	}
	return func() {
		Expect(env.Client.Delete(ctx, quota)).To(Succeed())
		// The controller of ReplicaSets comes back to one that met a quota after longer and longer waits.
		patch(ctx, shape("apps/v1", "Deployment", harness.CAPINamespace, "worker"), `{"metadata":{"annotations":{"capstan.test/nudge":"`+string(quota.UID)+`"}}}`)
	}
}
