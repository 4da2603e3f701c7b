package clusterapi

import (
	"cmp"
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// strays are told when nothing is on its way: before, what an older revision
// left behind may look like one.
func (p *Pass) strays(f guards.Facts) strays {
	if f.Older > 0 || !f.OlderSeen || f.DesiredNumber != f.CurrentNumber || !f.Applied.Complete {
		return strays{}
	}
	found, more := p.Engine.Strays()
	told, wait := p.memory.strays.tell(p.Now(), straysOf(found, p.Engine.StraysElsewhere(), more))
	if wait > 0 {
		p.lookAgainIn(wait)
	}
	return told
}

// progress tells of every listed revision how far it is, the oldest first.
func (p *Pass) progress(reports []*engine.Report) []guards.Revision {
	var revisions []guards.Revision
	for _, entry := range p.world.entries() {
		revision := guards.Revision{
			Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID, Current: entry.Name == p.world.current,
		}
		for _, report := range reports {
			if report.Revision == revision.Name {
				revision.Waves = wavesOf(report)
			}
		}
		revisions = append(revisions, revision)
	}
	slices.SortFunc(revisions, func(a, b guards.Revision) int { return cmp.Compare(a.Number, b.Number) })
	return revisions
}

// abandoned names the revisions that were given up before they were fully applied.
func (p *Pass) abandoned(f guards.Facts) []string {
	var names []string
	for _, entry := range p.world.entries() {
		if entry.Revision > f.CurrentNumber && entry.Revision < f.DesiredNumber {
			names = append(names, string(entry.Name))
		}
	}
	return names
}
