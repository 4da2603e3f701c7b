package bootgate

import (
	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Why the gate is shut although every question says Yes.
const unremembered = "the golden boot images are not among the known ones yet: ConfigMap " + KnownConfigMap + " has to be written first"

// Verdict is what targets are told. Boot images may be moved only once the golden ones are known to be so for ever: when the
// next release comes, nothing else tells that a target's image was a release's own.
func (p *Pass) Verdict() bootboard.Verdict {
	v := bootboard.Verdict{Cluster: p.cluster(), Ours: p.Ours, ClaimedBy: p.claimedBy}
	is := guards.IsOpen(p.Facts)
	v.Known, v.Why = is.Truth != machine.Unknown, is.Reason
	switch {
	case p.Facts.Config.Absent:
		v.Enrols = map[golden.Kind]bootboard.Selection{}
	case guards.ConfigIsResolved.Answer(p.Facts).Truth == machine.Yes:
		v.Enrols, _ = p.enrols()
	}
	switch {
	case is.Truth == machine.Yes && p.remembered:
		v.Open, v.Why, v.Golden = true, "", p.golden
	case is.Truth == machine.Yes:
		v.Why = unremembered
	}
	v.News = p.news(v)
	return v
}

// news is the same for the same verdict only.
func (p *Pass) news(v bootboard.Verdict) string {
	judged := ""
	if v.Golden != nil {
		judged = v.Golden.Fingerprint()
	}
	var selections map[golden.Kind]string
	if v.Enrols != nil {
		selections = map[golden.Kind]string{}
		for kind, by := range v.Enrols {
			if s, is := by.(Selection); is {
				selections[kind] = s.String()
			}
		}
	}
	cluster := v.Cluster
	cluster.Provenance = nil
	return fingerprint([]any{
		v.Known, v.Open, v.Why, judged, cluster, v.Ours, v.ClaimedBy, selections,
		p.readImages(KnownConfigMap, p.world.known).fingerprint, p.readImages(TrustedConfigMap, p.world.trusted).fingerprint,
	})
}
