package clusterapi

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodCause_tells_the_most_useful_cause_first(t *testing.T) {
	crashing := pod("capa-new-x2k", "new", corev1.ContainerStatus{
		RestartCount: 4, State: waiting("CrashLoopBackOff", "back-off"),
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
	})
	creating := pod("capa-new-aaa", "new", corev1.ContainerStatus{State: waiting("ContainerCreating", "")})
	unready := pod("capa-new-bbb", "new", corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	unready.Status.Phase = corev1.PodRunning
	unready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "containers with unready status: [manager]"}}
	unscheduled := pod("capa-new-ccc", "new")
	unscheduled.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient cpu."}}
	evicted := pod("capa-new-ddd", "new")
	evicted.Status.Phase, evicted.Status.Reason, evicted.Status.Message = corev1.PodFailed, "Evicted", "the node was low on memory"
	old := pod("capa-old-zzz", "old", corev1.ContainerStatus{Image: "registry/old:1", State: waiting("ImagePullBackOff", "old news")})
	leaving := *crashing.DeepCopy()
	leaving.DeletionTimestamp = &metav1.Time{Time: noon}
	sets := []appsv1.ReplicaSet{set("9", "old"), set("10", "new")}

	for name, row := range map[string]struct {
		conditions []appsv1.DeploymentCondition
		sets       []appsv1.ReplicaSet
		pods       []corev1.Pod
		want       string
	}{
		"a crash loop": {nil, sets, []corev1.Pod{creating, crashing, unready}, "pod capa-new-x2k is CrashLoopBackOff (exit 1, 4 restarts)"},
		"killed for its memory": {nil, nil, []corev1.Pod{pod("p", "", corev1.ContainerStatus{
			RestartCount: 2, State: waiting("CrashLoopBackOff", ""),
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
		})}, "pod p is CrashLoopBackOff (OOMKilled, exit 137, 2 restarts)"},
		"an image that cannot be had": {nil, nil, []corev1.Pod{crashing, pod("p", "", corev1.ContainerStatus{
			Image: "registry/capa@sha256:ab", State: waiting("ImagePullBackOff", "Back-off pulling image"),
		})}, "pod p cannot get image registry/capa@sha256:ab: ImagePullBackOff: Back-off pulling image"},
		"a Secret that is missing": {nil, nil, []corev1.Pod{pod("p", "", corev1.ContainerStatus{
			State: waiting("CreateContainerConfigError", `secret "x" not found`),
		})}, `pod p is CreateContainerConfigError: secret "x" not found`},
		"an init container": {nil, nil, []corev1.Pod{initializing("p", waiting("CrashLoopBackOff", ""))}, "pod p is CrashLoopBackOff (0 restarts)"},
		"no room":           {nil, sets, []corev1.Pod{unready, unscheduled}, "pod capa-new-ccc is not scheduled: 0/1 nodes are available: 1 Insufficient cpu."},
		"evicted":           {nil, sets, []corev1.Pod{evicted, unscheduled}, "pod capa-new-ddd has failed (Evicted): the node was low on memory"},
		"still coming":      {nil, sets, []corev1.Pod{creating, unready}, "pod capa-new-aaa waits: ContainerCreating"},
		"not ready":         {nil, sets, []corev1.Pod{unready}, "pod capa-new-bbb is Running and not ready: containers with unready status: [manager]"},
		"quota": {[]appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse},
			{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: `pods "x" is forbidden: exceeded quota: tiny`},
		}, sets, []corev1.Pod{crashing}, `its pods cannot be made: pods "x" is forbidden: exceeded quota: tiny`},
		"what the old ReplicaSet suffers from is no cause": {nil, sets, []corev1.Pod{old, unready}, "pod capa-new-bbb is Running and not ready: containers with unready status: [manager]"},
		"nobody makes pods":     {nil, sets, []corev1.Pod{old, leaving}, "it has no pods, and its controller says nothing: see whether kube-controller-manager runs"},
		"nothing that tells":    {nil, nil, []corev1.Pod{pod("p", "")}, ""},
		"a very long complaint": {[]appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: strings.Repeat("x", 2000)}}, nil, nil, "its pods cannot be made: " + strings.Repeat("x", maxCause-len("its pods cannot be made: ")-len("…")) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := podCause(row.conditions, row.sets, row.pods); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func pod(name, hash string, containers ...corev1.ContainerStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: containers},
	}
}

func initializing(name string, state corev1.ContainerState) corev1.Pod {
	p := pod(name, "", corev1.ContainerStatus{State: waiting("PodInitializing", "")})
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: state}}
	return p
}

func set(revision, hash string) appsv1.ReplicaSet {
	return appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{revisionOfSet: revision}, Labels: map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash},
	}}
}
