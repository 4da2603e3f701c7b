package bootgate

import (
	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Verdict is what targets are told.
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
	if is.Truth == machine.Yes {
		v.Open, v.Why, v.Golden = true, "", p.golden
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
