package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// overrideStatus is the part of a pod's status that holding and crashing share;
// the message names the Stage, which is how this package recognises its work.
const overrideStatus = `
conditions:
- type: Ready
  status: "False"
  reason: ContainersNotReady
  message: kept so by Stage %[1]s
- type: ContainersReady
  status: "False"
  reason: ContainersNotReady
  message: kept so by Stage %[1]s
phase: %[2]s
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  started: false
%[3]s
{{ end }}
`

const heldContainer = `
  restartCount: 0
  state:
    waiting:
      reason: ContainerCreating
`

const crashingContainer = `
  restartCount: 5
  state:
    waiting:
      reason: CrashLoopBackOff
      message: back-off 2m40s restarting failed container
  lastState:
    terminated:
      exitCode: 1
      reason: Error
`

const unpullableContainer = `
  restartCount: 0
  state:
    waiting:
      reason: ImagePullBackOff
      message: Back-off pulling image
`

// HoldPods keeps every pod with these labels, in any namespace, from becoming
// Ready, and takes Ready away from those that are; new ones stay Pending with
// their containers being created. It returns when that holds for all there are
// and for any that come. ReleasePods with the same labels ends it. Two sets of
// labels that match one pod contend for it, and either may win.
func (c *Cluster) HoldPods(ctx context.Context, podLabels map[string]string) error {
	return c.override(ctx, podLabels, corev1.PodPending, "ContainerCreating", heldContainer)
}

// CrashPods is HoldPods with containers in CrashLoopBackOff after five restarts.
func (c *Cluster) CrashPods(ctx context.Context, podLabels map[string]string) error {
	return c.override(ctx, podLabels, corev1.PodRunning, "CrashLoopBackOff", crashingContainer)
}

// UnpullPods is HoldPods with containers whose images cannot be pulled.
func (c *Cluster) UnpullPods(ctx context.Context, podLabels map[string]string) error {
	return c.override(ctx, podLabels, corev1.PodPending, "ImagePullBackOff", unpullableContainer)
}

// ReleasePods lets the pods that HoldPods, CrashPods or UnpullPods stopped go on, and returns
// when none of them is stopped any more. Nothing happens when none was. Like the
// others it waits for at most a minute.
func (c *Cluster) ReleasePods(ctx context.Context, podLabels map[string]string) error {
	name := stageName(podLabels)
	err := c.dynamic.Resource(stages).Delete(ctx, name, metav1.DeleteOptions{})
	if ignoreNotFound(err) != nil {
		return fmt.Errorf("deleting Stage %s: %w", name, err)
	}
	// Only a Pending pod becomes Ready by kwok's own Stage, which gives it a new
	// address beside an old one, and the server refuses two.
	pending := map[string]any{"phase": corev1.PodPending, "podIP": nil, "podIPs": nil}
	return c.settle(ctx, podLabels, pending, nil, func(pod *corev1.Pod) bool {
		ready := readyCondition(pod)
		return ready != nil && !isBy(ready, name) && pod.Status.Phase == corev1.PodRunning
	})
}

func (c *Cluster) override(ctx context.Context, podLabels map[string]string, phase corev1.PodPhase, reason, container string) error {
	name := stageName(podLabels)
	matchLabels := map[string]any{}
	for key, value := range podLabels {
		matchLabels[key] = value
	}
	stage := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kwok.x-k8s.io/v1alpha1",
		"kind":       "Stage",
		"metadata":   map[string]any{"name": name},
		"spec": map[string]any{
			"resourceRef": map[string]any{"apiGroup": "v1", "kind": "Pod"},
			"selector": map[string]any{
				"matchLabels": matchLabels,
				"matchExpressions": []any{
					map[string]any{"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
					map[string]any{"key": ".status.phase", "operator": "In", "values": []any{"Pending", "Running"}},
				},
			},
			// kwok's own Stages weigh nothing, and any weight wins over none.
			"weight": int64(1),
			"next":   map[string]any{"statusTemplate": fmt.Sprintf(overrideStatus, name, phase, container)},
		},
	}}
	// kwok misses a Stage now and then that comes right after another.
	again := func(ctx context.Context, times int) error {
		stage.SetAnnotations(map[string]string{"capstan.test/times": strconv.Itoa(times)})
		return c.applyStage(ctx, stage)
	}
	if err := again(ctx, 0); err != nil {
		return err
	}
	return c.settle(ctx, podLabels, nil, again, func(pod *corev1.Pod) bool {
		ready := readyCondition(pod)
		return ready != nil && isBy(ready, name) && pod.Status.Phase == phase && waitsFor(pod, reason)
	})
}

// manyNudges take some seconds; a few are enough for what kwok knows.
const manyNudges = 100

// settle waits until kwok has brought every matching pod where it is wanted.
// kwok looks at a pod when the pod changes, not when a Stage does, and never
// says which Stages it knows: so each pod is nudged until it is right, and one
// pod made for the purpose shows it even when there is no other. What is to be
// done once more is done after many nudges.
func (c *Cluster) settle(ctx context.Context, podLabels map[string]string, status map[string]any, again func(context.Context, int) error, settled func(*corev1.Pod) bool) (err error) {
	pods := c.client.CoreV1().Pods(metav1.NamespaceDefault)
	canary := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "canary-", Labels: podLabels},
		Spec:       corev1.PodSpec{NodeName: NodeName, Containers: []corev1.Container{{Name: "none", Image: "none"}}},
	}
	canary, err = pods.Create(ctx, canary, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a canary pod: %w", err)
	}
	defer func() {
		err = errors.Join(err, ignoreNotFound(pods.Delete(context.WithoutCancel(ctx), canary.Name, *metav1.NewDeleteOptions(0))))
	}()
	nudges := 0
	return c.eventually(ctx, fmt.Sprintf("waiting for pods %v to settle", podLabels), func(ctx context.Context) error {
		nudges++
		if again != nil && nudges%manyNudges == 0 {
			if err := again(ctx, nudges); err != nil {
				return err
			}
		}
		return c.nudge(ctx, podLabels, nudges, status, settled)
	})
}

// nudge patches each pod that is not settled, unless kwok was faster, and
// returns an error that describes one of them, or nil when all are.
func (c *Cluster) nudge(ctx context.Context, podLabels map[string]string, nudges int, status map[string]any, settled func(*corev1.Pod) bool) error {
	selector := metav1.ListOptions{LabelSelector: labels.Set(podLabels).String()}
	pods, err := c.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, selector)
	if err != nil {
		return err
	}
	var waiting error
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !isKwoks(pod) || settled(pod) {
			continue
		}
		waiting = fmt.Errorf("pod %s/%s is %s with condition %+v", pod.Namespace, pod.Name, pod.Status.Phase, readyCondition(pod))
		patch := map[string]any{"metadata": map[string]any{
			"resourceVersion": pod.ResourceVersion,
			"annotations":     map[string]any{"capstan.test/nudges": strconv.Itoa(nudges)},
		}}
		if status != nil {
			patch["status"] = status
		}
		data, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		_, err = c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
		if ignoreNotFound(err) != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return waiting
}

// isKwoks says whether the pod is on the node and its life not over; kwok looks
// at no other.
func isKwoks(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil &&
		pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func isBy(ready *corev1.PodCondition, stage string) bool {
	return ready.Status == corev1.ConditionFalse && ready.Message == "kept so by Stage "+stage
}

// waitsFor says whether every container waits for this reason.
func waitsFor(pod *corev1.Pod, reason string) bool {
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Waiting == nil || s.State.Waiting.Reason != reason
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// stageName is the same for the same labels, so that a hold, a crash and a
// release of them speak of one Stage.
func stageName(podLabels map[string]string) string {
	sum := sha256.Sum256([]byte(labels.Set(podLabels).String()))
	return fmt.Sprintf("override-%x", sum[:5])
}
