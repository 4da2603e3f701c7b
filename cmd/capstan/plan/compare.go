package plan

import (
	"time"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
)

// Side is one of two sets of images that are compared without a cluster.
type Side struct {
	Release    string
	Number     int64
	Rendered   *render.Revision
	Components []engine.Component
}

// withoutCluster is what is not known without one.
var withoutCluster = []string{
	"it compares manifests, and knows no cluster: what is there may differ, be somebody else's or be refused",
	"updates of definitions that take something away are marked refuse, whether any instance uses it or not",
}

// Compare is the plan of an upgrade from one side to the other, on a cluster that has the first as it is.
func Compare(from, to Side, now time.Time) (*Plan, error) {
	revision := func(s Side) (*engine.Revision, *Revision) {
		entry := phases.NewEntry(s.Release, s.Number, s.Rendered)
		return &engine.Revision{
			Name: string(entry.Name), Number: s.Number, ContentID: s.Rendered.ContentID, Unmanaged: s.Rendered.Unmanaged, Components: s.Components,
		}, revisionOf(&entry)
	}
	p := empty(now)
	var before, after *engine.Revision
	before, p.From = revision(from)
	after, p.To = revision(to)
	var err error
	if p.forecast, err = engine.Compare(before, after); err != nil {
		return nil, err
	}
	if from.Rendered.ContentID == to.Rendered.ContentID {
		p.To.Name, p.To.Number = p.From.Name, p.From.Number
		leave(p.forecast)
	}
	p.add(p.forecast)
	p.Limits = append(p.Limits, withoutCluster...)
	return p, nil
}

// leave tells that nothing becomes of the objects of a revision that is there already.
func leave(f *engine.Forecast) {
	for _, w := range f.Waves {
		for _, o := range w.Objects {
			o.Outlook = engine.WouldLeave
		}
	}
}
