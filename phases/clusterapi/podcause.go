package clusterapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/machine"
)

// maxCause bounds what is told of a pod, in bytes: the line has to say more than that.
const maxCause = 400

// revisionOfSet is where a Deployment numbers its ReplicaSets.
const revisionOfSet = "deployment.kubernetes.io/revision"

// podCause says in one phrase why a workload is late, the most useful cause
// first: that its pods cannot be made, then what the worst of its newest pods
// suffers from. It is empty when nothing tells. conditions and sets are those of
// a Deployment, empty for other workloads.
func podCause(conditions []appsv1.DeploymentCondition, sets []appsv1.ReplicaSet, pods []corev1.Pod) string {
	for _, c := range conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return machine.Shorten("its pods cannot be made: "+c.Message, maxCause)
		}
	}
	pods = slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	if hash := newestHash(sets); hash != "" {
		pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] != hash })
	}
	if len(pods) == 0 {
		return "it has no pods, and its controller says nothing: see whether kube-controller-manager runs"
	}
	worst := suffering{rank: len(ranks)}
	for _, pod := range pods {
		if s := sufferingOf(&pod); s.rank < worst.rank {
			worst = s
			worst.text = fmt.Sprintf("pod %s %s", pod.Name, s.text)
		}
	}
	return machine.Shorten(worst.text, maxCause)
}

// newestHash is the label value by which the pods of the newest ReplicaSet are told from those before.
func newestHash(sets []appsv1.ReplicaSet) string {
	if len(sets) == 0 {
		return ""
	}
	newest := slices.MaxFunc(sets, func(a, b appsv1.ReplicaSet) int {
		x, y := a.Annotations[revisionOfSet], b.Annotations[revisionOfSet]
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), a.CreationTimestamp.Compare(b.CreationTimestamp.Time))
	})
	return newest.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// suffering is what a pod suffers from; lower ranks tell more.
type suffering struct {
	rank int
	text string
}

// ranks are the kinds of suffering, the most telling first.
var ranks = [...]string{"image", "config", "crash", "failed", "unscheduled", "waiting", "unready"}

func sufferingOf(pod *corev1.Pod) suffering {
	worst := suffering{rank: len(ranks)}
	note := func(kind, text string) {
		if rank := slices.Index(ranks[:], kind); rank < worst.rank {
			worst = suffering{rank: rank, text: text}
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.State.Waiting != nil {
			note(waitingOf(&c))
		} else if c.State.Terminated != nil && c.State.Terminated.ExitCode != 0 {
			note("crash", "has ended ("+endOf(c.State.Terminated, c.RestartCount)+")")
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		note("failed", strings.TrimRight(fmt.Sprintf("has failed (%s): %s", cmp.Or(pod.Status.Reason, "no reason given"), pod.Status.Message), ": "))
	}
	for _, c := range pod.Status.Conditions {
		switch {
		case c.Status == corev1.ConditionTrue:
		case c.Type == corev1.PodScheduled:
			note("unscheduled", strings.TrimRight("is not scheduled: "+c.Message, ": "))
		case c.Type == corev1.PodReady:
			note("unready", strings.TrimRight("is "+string(pod.Status.Phase)+" and not ready: "+c.Message, ": "))
		}
	}
	return worst
}

// waitingOf is what a container waits for and how telling that is.
func waitingOf(c *corev1.ContainerStatus) (kind, text string) {
	waiting := c.State.Waiting
	switch reason := waiting.Reason; {
	case strings.Contains(reason, "Image"):
		return "image", strings.TrimRight(fmt.Sprintf("cannot get image %s: %s: %s", c.Image, reason, waiting.Message), ": ")
	case reason == "CrashLoopBackOff":
		return "crash", "is CrashLoopBackOff (" + endOf(c.LastTerminationState.Terminated, c.RestartCount) + ")"
	case reason == "" || reason == "ContainerCreating" || reason == "PodInitializing":
		return "waiting", strings.TrimRight(fmt.Sprintf("waits: %s: %s", cmp.Or(reason, "no reason given"), waiting.Message), ": ")
	}
	return "config", strings.TrimRight(fmt.Sprintf("is %s: %s", waiting.Reason, waiting.Message), ": ")
}

// endOf is how a container ended the last time, and how often it was started again.
func endOf(last *corev1.ContainerStateTerminated, restarts int32) string {
	var parts []string
	if last != nil {
		if last.Reason != "" && last.Reason != "Error" && last.Reason != "Completed" {
			parts = append(parts, last.Reason)
		}
		parts = append(parts, fmt.Sprintf("exit %d", last.ExitCode))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d restarts", restarts)), ", ")
}
