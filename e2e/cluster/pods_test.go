package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPodsAreHeldCrashedAndReleasedByTheirLabels(t *testing.T) {
	c := shared(t)
	client := clientOf(t, c)
	labels := map[string]string{"control-plane": "capa-controller-manager"}
	const selector = "control-plane=capa-controller-manager"
	deploy(t, client, "bystander", map[string]string{"control-plane": "capi-controller-manager"})

	if err := c.HoldPods(t.Context(), labels); err != nil {
		t.Fatal(err)
	}
	deploy(t, client, "held", labels)
	held := firstPod(t, client, selector, "creating its containers", func(pod *corev1.Pod) bool {
		return waitingReason(pod) == "ContainerCreating"
	})
	if held.Status.Phase != corev1.PodPending {
		t.Errorf("a pod held from its start is %s, want Pending", held.Status.Phase)
	}
	available(t, client, "bystander", 1)
	available(t, client, "held", 0)

	if err := c.ReleasePods(t.Context(), labels); err != nil {
		t.Fatal(err)
	}
	available(t, client, "held", 1)

	if err := c.HoldPods(t.Context(), labels); err != nil {
		t.Fatal(err)
	}
	available(t, client, "held", 0)
	if err := c.ReleasePods(t.Context(), labels); err != nil {
		t.Fatal(err)
	}
	available(t, client, "held", 1)

	if err := c.CrashPods(t.Context(), labels); err != nil {
		t.Fatal(err)
	}
	available(t, client, "held", 0)
	crashed := firstPod(t, client, selector, "crash looping", func(pod *corev1.Pod) bool {
		return waitingReason(pod) == "CrashLoopBackOff"
	})
	if crashed.UID != held.UID {
		t.Error("the pod was replaced, want the same one all along")
	}
	available(t, client, "bystander", 1)

	if err := c.ReleasePods(t.Context(), labels); err != nil {
		t.Fatal(err)
	}
	available(t, client, "held", 1)
}

func waitingReason(pod *corev1.Pod) string {
	for _, container := range pod.Status.ContainerStatuses {
		if container.State.Waiting != nil {
			return container.State.Waiting.Reason
		}
	}
	return ""
}
