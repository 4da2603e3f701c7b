package privatecapi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// turn is which HostedCluster may be moved next.
func (p *Pass) turn(clusters []*unstructured.Unstructured) guards.Turn {
	var waiting []guards.Waiting
	for _, o := range clusters {
		of := guards.Facts{Seen: true, Cluster: clusterOf(o), Marks: guards.MarksOf(o.GetAnnotations()), Programme: p.facts.Programme}
		if guards.Wants(of) {
			waiting = append(waiting, guards.Waiting{Key: KeyOf(o), Refused: p.memory.of(KeyOf(o), nil).refused, Created: of.Cluster.Created})
		}
	}
	next := guards.Next(waiting)
	return guards.Turn{Known: true, Of: string(next), Ours: next == p.Key}
}

// noteRefusal puts a HostedCluster behind the others that was given up early.
func (p *Pass) noteRefusal() {
	if !guards.GaveUpEarly(p.facts.Then) {
		return
	}
	r := p.record
	p.memory.of(p.Key, func(known *remembered) {
		if known.refused.Before(r.Since) {
			known.refused = r.Since
		}
	})
}

// checked is what came of the checks of the present state, if they were made.
func (p *Pass) checked() guards.Checks {
	r := p.memory.of(p.Key, nil)
	if r.checks.Known && r.checkedFor.Equal(p.record.Since) && p.record.State == guards.Checking {
		return r.checks
	}
	return guards.Checks{}
}

// remember takes in what is stored of an instance.
func (p *Phases) remember(key machine.Key, record machine.Record) {
	p.memory.of(key, func(r *remembered) { r.record = record })
}
