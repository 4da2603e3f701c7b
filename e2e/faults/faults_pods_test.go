package faults_test

import (
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

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
	eventually(ctx, "the Deployment not to be available", unavailable)
	switch c.state {
	case harness.Installed:
	case harness.Applying:
		advance(31 * second) // pods are looked at when their workload is late
		return
	default:
		return
	}
	until(ctx, "the deadline to be told", harness.InState(harness.Installed), mentions("Degraded at"))
	advance(4*minute + 30*second)
	next()
	edit(ctx)
	eventually(ctx, "the operator to look again", isRight)
	until(ctx, "the state to be kept until the deadline", harness.InState(harness.Installed))
	advance(31 * second)
	until(ctx, "the deadline to be honoured", harness.InState(harness.Degraded))
	advance(31 * second) // pods are looked at when their workload is late
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

// podsFail is what is expected of pods that fail for a cause: only an installed
// revision and one that is being applied ask for them.
func podsFail(cause string) func(*stage) expectation {
	return func(s *stage) expectation { return podsFailIn(s, cause) }
}

func podsFailIn(s *stage, cause string) expectation {
	switch s.state {
	case harness.Installed:
		return expectation{word: escalates, to: harness.Degraded, told: []func(harness.View) error{
			says("Degraded", "True", "EphemeralError", "Deployment openshift-cluster-api/worker", cause), says("Available", "False", "NonRetryableError"),
		}}
	case harness.Applying:
		return expectation{word: told, told: []func(harness.View) error{mentions("Deployment openshift-cluster-api/worker"), mentions(cause)}}
	}
	return expectation{word: unnoticed}
}

var podFaults = []fault{
	{
		name: "pods crash-loop", doc: "The pods of the good revision's Deployment are in CrashLoopBackOff, for five minutes.", quick: true,
		begin: stopsPods(func(ctx context.Context, pods map[string]string) error { return env.Cluster.CrashPods(ctx, pods) }), expect: podsFail("CrashLoopBackOff"),
	},
	{
		name: "images unpullable", doc: "The images of the good revision's pods cannot be pulled, for five minutes.",
		begin: stopsPods(func(ctx context.Context, pods map[string]string) error { return env.Cluster.UnpullPods(ctx, pods) }), expect: podsFail("ImagePullBackOff"),
	},
	{
		name: "quota exhausted", doc: "The pods of the good revision's Deployment are gone and a ResourceQuota allows no new ones, for five minutes.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			c.later(exhaustQuota(ctx))
			gateLost(ctx, c)
		},
		expect: podsFail("exceeded quota"),
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
		sets := &appsv1.ReplicaSetList{}
		Expect(env.Client.List(ctx, sets, client.InNamespace(harness.CAPINamespace), client.MatchingLabels{"app": "worker"})).To(Succeed())
		for i := range sets.Items {
			patch(ctx, shape("apps/v1", "ReplicaSet", harness.CAPINamespace, sets.Items[i].Name), `{"metadata":{"annotations":{"capstan.test/nudge":"`+string(quota.UID)+`"}}}`)
		}
	}
}
