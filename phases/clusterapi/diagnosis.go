package clusterapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
)

const (
	// diagnoseAfter is how long a workload may stand without progress before its pods are looked at, and how long the
	// answer is good for.
	diagnoseAfter = 30 * time.Second
	// manyPods and manySets bound what one look brings.
	manyPods, manySets = 50, 50
	// lookTimeout bounds one look at the pods of a workload.
	lookTimeout = 15 * time.Second
)

// diagnosis looks for what holds up a workload that makes no progress, beside the passes:
// a pass only asks, and is called again when there is another answer. It sends
// nothing as long as every workload makes progress, and at most three reads every 30 s.
type diagnosis struct {
	apps  appsv1client.AppsV1Interface
	core  corev1client.CoreV1Interface
	asked chan suspect

	mu sync.Mutex
	// of is the workload and the progress that time is counted for, since when; looked is when it was last asked for.
	of     suspect
	since  time.Time
	looked time.Time
	cause  string
}

// suspect is a workload that something waits for.
type suspect struct {
	key      engine.Key
	selector string
	// progress tells whether anything has come forward since.
	progress string
}

func newDiagnosis(config *rest.Config, connection *http.Client) (*diagnosis, error) {
	apps, err := appsv1client.NewForConfigAndClient(config, connection)
	if err != nil {
		return nil, fmt.Errorf("making the client of workloads: %w", err)
	}
	core, err := corev1client.NewForConfigAndClient(config, connection)
	if err != nil {
		return nil, fmt.Errorf("making the client of pods: %w", err)
	}
	return &diagnosis{apps: apps, core: core, asked: make(chan suspect, 1)}, nil
}

// blocked is why a revision is not complete. Of a workload that makes no progress the
// cause is told as well, as far as it is known.
func (p *Pass) blocked(revision *engine.Revision, report *engine.Report) string {
	culprit := report.Culprit()
	if culprit == nil || !culprit.Applied() || culprit.Probe.Answer == engine.AnswerTrue {
		p.diagnosis.clear()
		return report.Blocked()
	}
	selector := selectorOf(revision, culprit.Key)
	if selector == "" {
		p.diagnosis.clear()
		return report.Blocked()
	}
	cause, again := p.diagnosis.ask(suspect{key: culprit.Key, selector: selector, progress: report.Progress()}, p.Now())
	p.lookAgainIn(again)
	return report.BlockedBecause(cause)
}

// selectorOf is the selector of a workload's pods, empty for what has none.
func selectorOf(revision *engine.Revision, key engine.Key) string {
	if key.Group != appsv1.GroupName {
		return ""
	}
	object := revision.Object(key)
	if object == nil {
		return ""
	}
	labels, _, err := unstructured.NestedStringMap(object.Object, "spec", "selector", "matchLabels")
	if err != nil {
		return ""
	}
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})
}

// ask returns what is known of a suspect, and after how long to ask again.
func (l *diagnosis) ask(s suspect, now time.Time) (cause string, again time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of != s {
		if l.of.key != s.key {
			l.cause = ""
		}
		l.of, l.since, l.looked = s, now, time.Time{}
	}
	l.since, l.looked = earlier(l.since, now), earlier(l.looked, now) // the clock may have been set back
	from := l.since
	if l.looked.After(from) {
		from = l.looked
	}
	if wait := from.Add(diagnoseAfter).Sub(now); wait > 0 {
		return l.cause, wait
	}
	select {
	case l.asked <- s:
		l.looked = now
	default: // still busy with the last one
	}
	return l.cause, diagnoseAfter
}

// clear forgets the suspect: every workload makes progress.
func (l *diagnosis) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of, l.cause = suspect{}, ""
}

// diagnose answers what was asked until the context ends.
func (p *Phases) diagnose(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-p.diagnosis.asked:
			cause, err := p.diagnosis.look(ctx, s)
			if err != nil {
				p.Log.V(1).Info("looking for the cause of a delay", "object", s.key.String(), "error", err.Error())
				continue
			}
			if p.diagnosis.answer(s, cause) {
				p.Again()
			}
		}
	}
}

// answer notes a cause, and says whether it is a new one.
func (l *diagnosis) answer(s suspect, cause string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of.key != s.key || l.cause == cause {
		return false
	}
	l.cause = cause
	return true
}

// look reads a workload and its pods, and of a Deployment also its ReplicaSets. What shall have no pods suffers from nothing,
// and its probe says so.
func (l *diagnosis) look(ctx context.Context, s suspect) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var conditions []appsv1.DeploymentCondition
	var sets []appsv1.ReplicaSet
	switch s.key.Kind {
	case "Deployment":
		deployment, err := l.apps.Deployments(s.key.Namespace).Get(ctx, s.key.Name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", s.key, err)
		}
		if isZero(deployment.Spec.Replicas) {
			return "", nil
		}
		list, err := l.apps.ReplicaSets(s.key.Namespace).List(ctx, metav1.ListOptions{LabelSelector: s.selector, Limit: manySets})
		if err != nil {
			return "", fmt.Errorf("listing the ReplicaSets of %s: %w", s.key, err)
		}
		conditions, sets = deployment.Status.Conditions, list.Items
	case "StatefulSet":
		set, err := l.apps.StatefulSets(s.key.Namespace).Get(ctx, s.key.Name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", s.key, err)
		}
		if isZero(set.Spec.Replicas) {
			return "", nil
		}
	}
	pods, err := l.core.Pods(s.key.Namespace).List(ctx, metav1.ListOptions{LabelSelector: s.selector, Limit: manyPods})
	if err != nil {
		return "", fmt.Errorf("listing the pods of %s: %w", s.key, err)
	}
	return machine.Shorten(podCause(conditions, sets, pods.Items), maxCause), nil
}

func isZero(replicas *int32) bool { return replicas != nil && *replicas == 0 }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
