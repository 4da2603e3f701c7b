package support

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
)

var (
	pods   = corev1.SchemeGroupVersion.WithResource("pods")
	events = eventsv1.SchemeGroupVersion.WithResource("events")
)

// heldPod is how a pod stands: nothing of what it is given, and no text that a container or a registry wrote.
type heldPod struct {
	Namespace  string                `json:"namespace"`
	Name       string                `json:"name"`
	Created    metav1.Time           `json:"created"`
	Deleted    *metav1.Time          `json:"deleted,omitempty"`
	Node       string                `json:"node,omitempty"`
	Phase      corev1.PodPhase       `json:"phase"`
	Reason     string                `json:"reason,omitempty"`
	Conditions []corev1.PodCondition `json:"conditions,omitempty"`
	Containers []heldContainer       `json:"containers"`
}

type heldContainer struct {
	Name     string               `json:"name"`
	Init     bool                 `json:"init,omitempty"`
	Image    string               `json:"image"`
	ImageID  string               `json:"imageID,omitempty"`
	Ready    bool                 `json:"ready"`
	Restarts int32                `json:"restarts"`
	State    heldContainerState   `json:"state"`
	Last     []heldContainerState `json:"last,omitempty"`
}

type heldContainerState struct {
	Is       string       `json:"is"`
	Reason   string       `json:"reason,omitempty"`
	ExitCode int32        `json:"exitCode,omitempty"`
	Started  *metav1.Time `json:"started,omitempty"`
	Finished *metav1.Time `json:"finished,omitempty"`
}

func stateOf(s corev1.ContainerState) heldContainerState {
	switch {
	case s.Running != nil:
		return heldContainerState{Is: "running", Started: &s.Running.StartedAt}
	case s.Terminated != nil:
		t := s.Terminated
		return heldContainerState{Is: "terminated", Reason: t.Reason, ExitCode: t.ExitCode, Started: &t.StartedAt, Finished: &t.FinishedAt}
	case s.Waiting != nil:
		return heldContainerState{Is: "waiting", Reason: s.Waiting.Reason}
	}
	return heldContainerState{Is: "unknown"}
}

func podOf(p *corev1.Pod) heldPod {
	held := heldPod{
		Namespace: p.Namespace, Name: p.Name, Created: p.CreationTimestamp, Deleted: p.DeletionTimestamp, Node: p.Spec.NodeName,
		Phase: p.Status.Phase, Reason: p.Status.Reason, Containers: []heldContainer{},
	}
	for _, condition := range p.Status.Conditions {
		held.Conditions = append(held.Conditions, corev1.PodCondition{
			Type: condition.Type, Status: condition.Status, Reason: condition.Reason, LastTransitionTime: condition.LastTransitionTime,
		})
	}
	for init, statuses := range map[bool][]corev1.ContainerStatus{true: p.Status.InitContainerStatuses, false: p.Status.ContainerStatuses} {
		for _, s := range statuses {
			container := heldContainer{
				Name: s.Name, Init: init, Image: s.Image, ImageID: s.ImageID, Ready: s.Ready, Restarts: s.RestartCount, State: stateOf(s.State),
			}
			if s.LastTerminationState != (corev1.ContainerState{}) {
				container.Last = []heldContainerState{stateOf(s.LastTerminationState)}
			}
			held.Containers = append(held.Containers, container)
		}
	}
	slices.SortStableFunc(held.Containers, func(a, b heldContainer) int { return strings.Compare(a.Name, b.Name) })
	return held
}

func (c *collector) pods(ctx context.Context, name string) error {
	kept, cut := []heldPod{}, ""
	err := c.eachNamespace([]string{c.OperatorNamespace, c.CAPINamespace}, &cut, func(namespace string) (bool, error) {
		return c.cluster.list(ctx, pods, namespace, "", func(object *unstructured.Unstructured) error {
			pod, err := typed[corev1.Pod](object)
			if err == nil {
				kept = append(kept, podOf(pod))
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return c.add(name, kept, cut)
}

// eachNamespace looks into namespaces; what may not be seen in one of several is told, and cuts the part.
func (c *collector) eachNamespace(namespaces []string, cut *string, look func(string) (all bool, err error)) error {
	var lacks []string
	var first error
	for _, namespace := range slices.Compact(namespaces) {
		all, err := look(namespace)
		var lack *LackError
		switch {
		case errors.As(err, &lack):
			lacks = append(lacks, lack.Why)
			if first == nil {
				first = err
			}
		case err != nil:
			return err
		case !all:
			lacks = append(lacks, notAll(all))
		}
	}
	if len(lacks) == len(slices.Compact(namespaces)) && first != nil {
		return first
	}
	*cut = strings.Join(lacks, "; ")
	return nil
}

// heldEvent is one Event that this operator has written.
type heldEvent struct {
	Namespace string           `json:"namespace"`
	By        string           `json:"by"`
	Type      string           `json:"type"`
	Reason    string           `json:"reason"`
	Action    string           `json:"action"`
	About     string           `json:"about"`
	Note      string           `json:"note"`
	At        metav1.MicroTime `json:"at"`
	Times     int32            `json:"times,omitempty"`
	Last      metav1.MicroTime `json:"last,omitzero"`
}

// reporters begin the names of this operator's controllers.
const reporters = "capstan"

func (c *collector) events(ctx context.Context, name string) error {
	kept, cut := []heldEvent{}, ""
	err := c.eachNamespace([]string{metav1.NamespaceDefault, c.OperatorNamespace, c.CAPINamespace}, &cut, func(namespace string) (bool, error) {
		return c.cluster.list(ctx, events, namespace, "", func(object *unstructured.Unstructured) error {
			e, err := typed[eventsv1.Event](object)
			if err != nil || e.ReportingController != reporters && !strings.HasPrefix(e.ReportingController, reporters+"-") {
				return err
			}
			held := heldEvent{
				Namespace: e.Namespace, By: e.ReportingController, Type: e.Type, Reason: e.Reason, Action: e.Action,
				About: strings.TrimSpace(e.Regarding.Kind + " " + e.Regarding.Namespace + "/" + e.Regarding.Name), Note: e.Note, At: e.EventTime,
			}
			if e.Series != nil {
				held.Times, held.Last = e.Series.Count, e.Series.LastObservedTime
			}
			kept = append(kept, held)
			return nil
		})
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(kept, func(a, b heldEvent) int { return a.At.Compare(b.At.Time) })
	return c.add(name, kept, cut)
}

const (
	// operatorLabel selects the operator's pods.
	operatorLabel = "app.kubernetes.io/name=capstan"
	// maxLog bounds what is kept of one log, its end; logLines is about what it takes, and maxLogs how many pods have theirs kept.
	maxLog   = 4 << 20
	logLines = 40_000
	maxLogs  = 3
)

// logs keeps the end of the operator's, now and before its last restart.
func (c *collector) logs(ctx context.Context, _ string) error {
	var found []*corev1.Pod
	_, err := c.cluster.list(ctx, pods, c.OperatorNamespace, operatorLabel, func(object *unstructured.Unstructured) error {
		pod, err := typed[corev1.Pod](object)
		found = append(found, pod)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return &LackError{Why: "there is no pod of the operator in namespace " + c.OperatorNamespace}
	}
	for i, pod := range found {
		name := fmt.Sprintf("%s%d", logsFolder, i)
		if i == maxLogs {
			c.into.Miss(name, fmt.Sprintf("the logs of %d pods are kept, and there are %d", maxLogs, len(found)), "")
			c.told()
			return nil
		}
		c.log(ctx, name+".log", pod, false)
		if slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 }) {
			c.log(ctx, name+"-before.log", pod, true)
		}
	}
	return nil
}

func (c *collector) log(ctx context.Context, name string, pod *corev1.Pod, previous bool) {
	lines := int64(logLines)
	options := &corev1.PodLogOptions{Container: "capstan", Previous: previous, TailLines: &lines, Timestamps: false}
	stream, err := c.cluster.core.Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	var text []byte
	cut := false
	if err == nil {
		defer func() { _ = stream.Close() }()
		text, cut, err = lastOf(stream, maxLog)
	}
	if apierrors.IsNotFound(err) {
		err = &LackError{Why: "there is no such log"}
	}
	var lack *LackError
	if err != nil && !errors.As(err, &lack) {
		_ = errors.As(lackOf(err, "get", schema.GroupResource{Resource: "pods/log"}, pod.Namespace, ""), &lack)
	}
	if lack != nil {
		c.miss(name, lack)
		return
	}
	why := ""
	if cut || bytes.Count(text, []byte("\n")) >= logLines {
		why = fmt.Sprintf("these are its last lines, of %d MiB and %d lines at most", maxLog>>20, logLines)
	}
	c.into.AddText(name, []byte(scrubbed(string(text))), why)
	c.told()
}

// lastOf reads to the end, and keeps the last lines.
func lastOf(from io.Reader, most int) (text []byte, cut bool, err error) {
	var kept []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if kept = append(kept, buffer[:n]...); len(kept) > 2*most {
			kept, cut = append([]byte(nil), kept[len(kept)-most-1:]...), true
		}
		if errors.Is(err, io.EOF) {
			return archive.Last(kept, most), cut || len(kept) > most, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}
