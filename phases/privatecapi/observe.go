package privatecapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// needs says what a state asks about; Private asks for a count now and then.
type needs struct {
	inside, dependents, fence, comparison, health bool
}

// shown are the states at rest that ask nothing but what watches show.
var shown = []machine.State{guards.Eligible, guards.Private, guards.Failed, guards.Held}

// needsOf is what is looked at in a state. Of one that resumes, the state that it came from counts, and of none everything that
// costs no more than lists.
func needsOf(state machine.State) needs {
	if slices.Contains(shown, state) {
		return needs{}
	}
	n := needs{inside: true}
	switch state {
	case guards.Rewiring, guards.RemovingSource, guards.CopyingBack, guards.DroppingCopies, guards.Restoring:
		n.dependents = true
	case guards.Locking, guards.Repausing:
		n.fence = true
	case guards.Comparing, guards.Unpausing:
		n.comparison = true
	case guards.Observing:
		n.health = true
	}
	return n
}

// Observe must not be called from two goroutines at once. It looks at a HostedCluster, and at the namespace
// of its control plane where the state asks about that.
func (p *Phases) Observe(ctx context.Context, key machine.Key) (guards.Facts, Works, error) {
	pass := &Pass{Phases: p, Key: key, record: p.memory.of(key, nil).record}
	if p.Installation == "" && p.Identify != nil {
		var err error
		if p.Installation, err = p.Identify(ctx); err != nil {
			return guards.Facts{}, pass, err
		}
	}
	f, err := pass.look(ctx)
	p.outage(key, pass.record.Since, err, pass.unseen)
	if err == nil && pass.unseen != nil {
		f.Unseen = machine.Shorten(pass.unseen.Error(), maxUnseen)
	}
	f.Outages, f.Unreachable = p.outages(key, pass.record.Since)
	pass.facts = f
	return f, pass, err
}

// maxUnseen bounds what is said of a look that was not whole, in bytes.
const maxUnseen = 512

// look fails where the HostedClusters cannot be read, and so nothing can be said. What cannot be seen of a namespace is no reason to
// leave limits unjudged: the facts lack it, and the pass knows why.
func (p *Pass) look(ctx context.Context) (guards.Facts, error) {
	guards.Recall(&p.facts, p.record, machine.Resumed{})
	then := p.facts.Then
	n := needsOf(then.State)
	programme, err := p.Programme(ctx)
	if err != nil {
		return guards.Facts{}, fmt.Errorf("reading ConfigMap %s: %w", guards.ProgrammeName, err)
	}
	clusters, err := p.clusters(ctx, n.inside)
	if err != nil {
		return guards.Facts{}, fmt.Errorf("listing HostedClusters: %w", err)
	}
	i := slices.IndexFunc(clusters, func(o *unstructured.Unstructured) bool { return KeyOf(o) == p.Key })
	if i < 0 {
		return guards.Facts{}, nil
	}
	p.Hosted = clusters[i]
	p.facts = guards.Facts{
		Seen: true, Cluster: clusterOf(p.Hosted), Marks: guards.MarksOf(p.Hosted.GetAnnotations()),
		Programme: p.programme(programme, clusters), Then: then,
	}
	p.noteRefusal()
	p.facts.Turn = p.turn(clusters)
	p.facts.Checks = p.checked()
	p.tellRefusal()
	if p.facts.Cluster.SharedWith = p.sharedWith(clusters); n.inside {
		p.unseen = p.lookInside(ctx, n, clusters)
		return p.facts, nil
	}
	label, err := p.Fences(ctx, p.facts.Cluster.ControlPlane)
	p.facts.Fence = guards.Fenced{Known: err == nil, Label: label}
	p.unseen = err
	if then.State == guards.Private {
		p.facts.Standard = p.countStandard(ctx)
	}
	return p.facts, nil
}

// clusters are all HostedClusters, as the API server has them or as watches show them.
func (p *Pass) clusters(ctx context.Context, live bool) ([]*unstructured.Unstructured, error) {
	if live {
		return p.API.List(ctx, HostedClusters, "", "")
	}
	return p.Clusters(ctx)
}

func clusterOf(o *unstructured.Unstructured) guards.Cluster {
	return guards.Cluster{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), Created: o.GetCreationTimestamp().UTC(),
		Deleting: o.GetDeletionTimestamp() != nil, Bound: slices.Contains(o.GetFinalizers(), guards.Finalizer), ControlPlane: ControlPlaneNamespace(o.GetNamespace(), o.GetName()),
		LockedBy: lockedBy(o),
	}
}

// sharedWith names another HostedCluster whose control plane has the namespace of that of this one, empty for none: a-b of namespace
// clusters and b of namespace clusters-a do. Once the namespace is fenced in the name of our move, one that was created later does not
// count: whoever may create it may not hold a move up.
func (p *Pass) sharedWith(all []*unstructured.Unstructured) string {
	of, began := p.facts.Cluster.ControlPlane, time.Time{}
	if p.namespace != nil && p.stage() != guards.NoStage && p.facts.Fence.Label != guards.NoFence && !p.facts.Fence.Other {
		began = Started(p.facts.Marks.Companion)
	}
	for _, other := range all {
		late := !began.IsZero() && !other.GetCreationTimestamp().Time.Before(began)
		if KeyOf(other) != p.Key && clusterOf(other).ControlPlane == of && !late {
			return string(KeyOf(other))
		}
	}
	return ""
}

func (p *Pass) programme(o *unstructured.Unstructured, clusters []*unstructured.Unstructured) guards.Programme {
	f := guards.Programme{Known: true, Installation: p.Installation, OldOperatorNeeded: p.Needed == nil || p.Needed(), NoImage: p.Equipment.Image == ""}
	if o != nil {
		f.Enabled = o.GetCreationTimestamp().UTC()
		said, _, _ := unstructured.NestedString(o.Object, "data", "paused")
		f.Paused = said == guards.MarkTrue
	}
	for _, other := range clusters {
		marks := guards.MarksOf(other.GetAnnotations())
		if marks.Private {
			f.InUse++
		}
		if KeyOf(other) != p.Key && marks.Locked() {
			f.LockedElsewhere = string(KeyOf(other))
		}
	}
	return f
}

// lookInside looks at the namespace of the control plane.
func (p *Pass) lookInside(ctx context.Context, n needs, clusters []*unstructured.Unstructured) error {
	namespace, err := p.API.Get(ctx, Namespaces, "", p.facts.Cluster.ControlPlane)
	switch {
	case apierrors.IsNotFound(err):
		p.nothingInside()
		return nil
	case err != nil:
		return fmt.Errorf("reading Namespace %s: %w", p.facts.Cluster.ControlPlane, err)
	}
	p.namespace = namespace
	p.facts.Fence = p.fenced(namespace)
	p.facts.Cluster.SharedWith = p.sharedWith(clusters)
	if p.kinds, err = p.API.Kinds(ctx); err != nil {
		return fmt.Errorf("asking which kinds of Cluster API there are: %w", err)
	}
	if err := p.readJournal(ctx); err != nil {
		return err
	}
	if err := p.lookAtSides(ctx, namespace.GetName()); err != nil {
		return err
	}
	if p.workloads, err = p.workloadsIn(ctx, namespace.GetName()); err != nil {
		return err
	}
	for i := range p.workloads {
		name := p.workloads[i].of.Name
		p.workloads[i].noted = p.journal.Templates[name]
		if n, says := p.journal.Replicas[name]; says {
			p.workloads[i].had = &n
		}
	}
	if n.dependents {
		if p.dependents, err = p.API.Dependents(ctx, namespace.GetName(), p.neededDependents()); err != nil {
			return fmt.Errorf("listing what objects of Cluster API own in %s: %w", namespace.GetName(), err)
		}
	}
	p.tally(n)
	return p.lookCloser(ctx, n)
}

// nothingInside is what is seen of a HostedCluster that has no namespace, as before its control plane was made.
func (p *Pass) nothingInside() {
	none, done := guards.Side{Known: true, Paused: true, Restored: true}, guards.Tally{Known: true}
	f := &p.facts
	p.sides = newSides(sourceSide(p.direction()), nil, nil)
	f.Fence = guards.Fenced{Known: true, Probed: true, NoNamespace: true}
	f.Standard, f.Private = none, none
	f.Workloads, f.Pods = workloadFacts(nil, p.sides.source.Other())
	f.Snapshot, f.Copies, f.Statuses, f.Dependents, f.Comparison, f.Health = done, done, done, done, done, done
	f.Removed, f.Delta, f.Dropped, f.Undo = done, done, done, done
}

// lookCloser asks what only one state asks about.
func (p *Pass) lookCloser(ctx context.Context, n needs) (err error) {
	if n.fence && p.facts.Fence.Label == guards.BothSidesAreShut {
		p.facts.Fence.Open, err = p.probeFence(ctx)
		p.facts.Fence.Probed = err == nil
		if err != nil {
			return fmt.Errorf("trying the fence: %w", err)
		}
	}
	if n.comparison {
		comparison, err := p.compare(ctx)
		if err != nil {
			return err
		}
		p.facts.Comparison = comparison
	}
	if n.health {
		p.facts.Health = p.health()
	}
	return nil
}

// outage notes whether the API server answers: at all, and what was asked last. An outage that ends counts, and so does a part of one:
// an API server that has just begun again answers some requests before others.
func (p *Phases) outage(key machine.Key, since time.Time, whole, part error) {
	now := p.Now()
	p.memory.of(key, func(r *remembered) {
		if whole != nil {
			r.away = r.away || isAway(whole)
			return
		}
		over := r.away || r.partly && part == nil
		r.away, r.partly = false, r.partly && part != nil || isAway(part)
		if !over {
			return
		}
		r.back = now
		if !r.countedFor.Equal(since) {
			r.outages, r.countedFor = 0, since
		}
		r.outages++
	})
}

// lately is how long ago an outage of the API server may have ended that has a move given up.
const lately = 2 * time.Minute

// outages counts those of a state, and says whether one has ended lately, in whatever state.
func (p *Phases) outages(key machine.Key, since time.Time) (n int, unreachable bool) {
	r := p.memory.of(key, nil)
	if r.countedFor.Equal(since) {
		n = r.outages
	}
	return n, !r.back.IsZero() && p.Now().Sub(r.back) < lately
}

// isAway says of an error that nothing can be said about what was asked: the API server did not answer, or cannot. What is ours to say of
// what was read, and comes to no end by itself, is none.
func isAway(err error) bool {
	var many *TooManyError
	if err == nil || machine.IsTerminal(err) || errors.As(err, &many) {
		return false
	}
	reason := apierrors.ReasonForError(err)
	return reason == "" || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err)
}
