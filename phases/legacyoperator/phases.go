package legacyoperator

import (
	"context"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/legacyoperator"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/capiboard"
)

// ClusterOperator is the one in whose status the record is.
const ClusterOperator = "cluster-api"

// What is written on the old operator's Deployment, and read of the programme's ConfigMap.
const (
	// SinceAnnotation of the old operator's Deployment has since when nobody needs it.
	SinceAnnotation = "capstan.openshift.io/unneeded-since"
	// ReplicasAnnotation has how many replicas it had.
	ReplicasAnnotation = "capstan.openshift.io/replicas-before"
	// RetentionKey of the programme's ConfigMap says for how long it is kept after that, such as 72h.
	RetentionKey = "retention"
	// retention is for how long the old operator is kept where the ConfigMap does not say.
	retention = 7 * 24 * time.Hour
)

// Phases is what the machine's work is done with.
type Phases struct {
	// Client reads from the operator's caches and writes to the API server.
	Client client.Client
	Board  *capiboard.Board
	// Namespace is the operator's, where the ConfigMap of the programme lies; Deployment is that of the old operator.
	Namespace  string
	Deployment client.ObjectKey
	Now        func() time.Time
}

// Pass is what one pass has seen, for the work of the same pass.
type Pass struct {
	*Phases
	// deployment is that of the old operator, nil if there is none.
	deployment *appsv1.Deployment
	facts      guards.Facts
}

// Observe looks at what is published of HostedClusters, the ConfigMap of the programme, and the old operator.
func (p *Phases) Observe(ctx context.Context, _ machine.Key) (guards.Facts, Works, error) {
	pass := &Pass{Phases: p}
	f := &pass.facts
	if others, err := p.Board.Others(ctx); err == nil { // whoever cannot tell says so itself
		f.Seen, f.Others = true, others
	}
	deployment := &appsv1.Deployment{}
	switch err := p.Client.Get(ctx, p.Deployment, deployment); {
	case err == nil:
		pass.deployment = deployment
	case client.IgnoreNotFound(err) != nil:
		return guards.Facts{}, nil, fmt.Errorf("reading Deployment %s: %w", p.Deployment, err)
	}
	f.Operator = operator(pass.deployment)
	programme := &corev1.ConfigMap{}
	err := p.Client.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: capiboard.Programme}, programme)
	if client.IgnoreNotFound(err) != nil {
		return guards.Facts{}, nil, fmt.Errorf("reading ConfigMap %s: %w", capiboard.Programme, err)
	}
	f.Enabled = err == nil
	f.Retention = pass.retained(programme.Data[RetentionKey])
	return *f, pass, nil
}

// operator is what is there of the old operator. One without replicas counts as gone once its pods are.
func operator(d *appsv1.Deployment) guards.Operator {
	seen := guards.Operator{Known: true}
	if d == nil {
		return seen
	}
	terminating := d.Status.TerminatingReplicas != nil && *d.Status.TerminatingReplicas > 0
	if replicas(d) > 0 || d.Status.Replicas > 0 || terminating || d.Status.ObservedGeneration < d.Generation {
		seen.Left = []string{fmt.Sprintf("Deployment %s/%s with %d replicas, and %d pods", d.Namespace, d.Name, replicas(d), d.Status.Replicas)}
	}
	return seen
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// retained says until when the old operator is kept. Without one there is nothing to keep.
func (p *Pass) retained(text string) guards.Retention {
	long, err := retention, error(nil)
	if text != "" {
		long, err = time.ParseDuration(text)
	}
	switch since, known := p.since(); {
	case err != nil:
		return guards.Retention{Problem: fmt.Sprintf("key %s of ConfigMap %s/%s is %q, and no time such as 72h", RetentionKey, p.Namespace, capiboard.Programme, machine.Shorten(text, maxQuoted))}
	case p.deployment == nil:
		return guards.Retention{Known: true, Over: true}
	case !known:
		return guards.Retention{Known: true}
	default:
		until := since.Add(long)
		return guards.Retention{Known: true, Until: until, Over: !p.Now().Before(until)}
	}
}

// maxQuoted bounds what a message takes from an object, in bytes.
const maxQuoted = 64

// since is since when nobody needs the old operator, if that is noted. A time to come is none: the clock was set back.
func (p *Pass) since() (time.Time, bool) {
	if p.deployment == nil {
		return time.Time{}, false
	}
	since, err := time.Parse(time.RFC3339, p.deployment.Annotations[SinceAnnotation])
	return since, err == nil && !since.After(p.Now())
}

// patch changes the Deployment as it was seen.
func (p *Pass) patch(ctx context.Context, what string, change func(*appsv1.Deployment)) (machine.Result, error) {
	changed := p.deployment.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	change(changed)
	err := p.Client.Patch(ctx, changed, client.MergeFromWithOptions(p.deployment, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return machine.Result{}, fmt.Errorf("%s Deployment %s: %w", what, p.Deployment, err)
	}
	return machine.Result{Did: what + " Deployment " + p.Deployment.String()}, nil
}

// KeepOperator has the old operator run, and notes since when nobody needs it.
func (p *Pass) KeepOperator(ctx context.Context) (machine.Result, error) {
	d := p.deployment
	if d == nil || !p.facts.Seen {
		return machine.Result{}, nil
	}
	before, taken := d.Annotations[ReplicasAnnotation]
	_, since := p.since()
	unneeded := p.facts.Enabled && len(p.facts.Others) == 0
	if taken || since != unneeded {
		return p.patch(ctx, "keeping", func(d *appsv1.Deployment) {
			if number, err := strconv.ParseInt(before, 10, 32); taken && err == nil && replicas(d) == 0 {
				restored := int32(number)
				d.Spec.Replicas = &restored
			}
			delete(d.Annotations, ReplicasAnnotation)
			delete(d.Annotations, SinceAnnotation)
			if unneeded {
				d.Annotations[SinceAnnotation] = p.Now().UTC().Format(time.RFC3339)
			}
		})
	}
	if until := p.facts.Retention.Until; unneeded && until.After(p.Now()) {
		return machine.Result{LookAgain: until.Sub(p.Now())}, nil
	}
	return machine.Result{}, nil
}

// RemoveOperator has it run no more.
func (p *Pass) RemoveOperator(ctx context.Context) (machine.Result, error) {
	if p.deployment == nil || replicas(p.deployment) == 0 {
		return machine.Result{}, nil
	}
	return p.patch(ctx, "removing", func(d *appsv1.Deployment) {
		d.Annotations[ReplicasAnnotation] = strconv.Itoa(int(replicas(d)))
		none := int32(0)
		d.Spec.Replicas = &none
	})
}

// Store keeps records as another store does, and tells the board whether the old operator is kept.
func (p *Phases) Store(next machine.Store[guards.Facts, Works], kept machine.State) machine.Store[guards.Facts, Works] {
	return &telling{Store: next, board: p.Board, kept: kept}
}

type telling struct {
	machine.Store[guards.Facts, Works]
	board *capiboard.Board
	kept  machine.State
}

func (s *telling) Save(ctx context.Context, key machine.Key, shot Snapshot) (time.Duration, error) {
	later, err := s.Store.Save(ctx, key, shot)
	if err == nil {
		s.board.Keep(shot.Record.State == s.kept)
	}
	return later, err
}
