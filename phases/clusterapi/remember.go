package clusterapi

import (
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// deleted is the action that the engine's reports have no word for: there a pruned object is just not left.
const deleted = "Deleted"

// applying is what a revision is rolled out by, and its changes to objects count for the history; keeping is not.
const applying = "applying"

// WorkedOn is the name of the desired revision, empty for none.
func (p *Phases) WorkedOn() string {
	if p.memory.desired == nil {
		return ""
	}
	return p.memory.desired.Name
}

// acted tells log, recorder and metrics what was changed; a report without changes is silence.
func (p *Pass) acted(doing string, report *engine.Report) {
	if report == nil {
		return
	}
	for object := range report.Objects {
		switch object.Action {
		case engine.Created, engine.Updated, engine.Recovered:
			p.actedOn(doing, report.Revision, object.Key, string(object.Action), object.Why)
			if doing == applying {
				p.History.Count(report.Revision, string(object.Action))
			}
		}
	}
}

// removed tells the same of what pruning has deleted; what was gone before is not told again.
func (p *Pass) removed(report, before *engine.TeardownReport) {
	known := map[engine.Key]bool{}
	if before != nil {
		for _, o := range before.Gone {
			known[o.Key] = true
		}
	}
	for _, o := range report.Gone {
		if !known[o.Key] {
			p.actedOn("pruning", p.desired.Name, o.Key, deleted, o.Why)
			p.History.Count(p.desired.Name, deleted)
		}
	}
}

func (p *Pass) actedOn(doing, revision string, key engine.Key, action, why string) {
	p.Log.Info(doing, "revision", revision, "object", key.String(), "action", action, "why", why)
	p.recorder.Add(recorder.Acted(p.Now(), revision, key.String(), action, why))
	if p.Acted != nil {
		p.Acted(action)
	}
}
