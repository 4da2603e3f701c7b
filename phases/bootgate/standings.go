package bootgate

import (
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// The APIs, as people read them.
const (
	MachineAPI = "MachineAPI"
	ClusterAPI = "ClusterAPI"
)

// listing is how long targets have after a start to be judged, before sums are told that may not be of all.
const listing = 15 * time.Second

// KindOf is a kind of targets by its API and the name that people call it by.
func KindOf(kind golden.Kind) (api, name string) {
	switch kind {
	case golden.MachineSets:
		return MachineAPI, "MachineSet"
	case golden.ControlPlaneMachineSets:
		return MachineAPI, "ControlPlaneMachineSet"
	case golden.CAPIMachineSets:
		return ClusterAPI, "MachineSet"
	case golden.MachineDeployments:
		return ClusterAPI, "MachineDeployment"
	}
	return "", string(kind)
}

// sum sums up how all targets stand.
func (p *Pass) sum() {
	p.standings, p.judged = p.Board.Standings(), p.Verdict()
	all, judged := p.Board.Complete(p.judged.News)
	p.memory.sure = p.memory.sure || judged || p.Now().Sub(p.memory.began) >= listing
	p.Targets = sumsOf(p.standings)
	p.Targets.Sure, p.Targets.Stand, p.Targets.Judged = p.memory.sure, all, judged
}

// untilSure is how long it is at most until sums are told.
func (p *Phases) untilSure(now time.Time) time.Duration {
	return max(p.memory.began.Add(listing).Sub(now), again)
}

func sumsOf(standings []bootboard.Standing) Sums {
	var sums Sums
	for _, s := range standings {
		if !s.Counts {
			continue
		}
		api, kind := KindOf(s.Kind)
		i := slices.IndexFunc(sums.Kinds, func(k KindSum) bool { return k.API == api && k.Kind == kind })
		if i < 0 {
			i, sums.Kinds = len(sums.Kinds), append(sums.Kinds, KindSum{API: api, Kind: kind})
		}
		of := &sums.Kinds[i]
		of.Total++
		told := Told{Name: string(s.Kind) + "/" + s.Name, Reason: s.Why}
		switch {
		case s.Done:
			of.Done++
		case s.Working:
			of.Working++
		case s.Skipped:
			of.Skipped++
			sums.Skipped = append(sums.Skipped, told)
		case s.Stuck:
			sums.Stuck = append(sums.Stuck, told)
		default:
			sums.Waiting++
		}
	}
	slices.SortFunc(sums.Kinds, func(a, b KindSum) int { return strings.Compare(a.API+" "+a.Kind, b.API+" "+b.Kind) })
	return sums
}

// Place is where targets are.
type Place struct {
	API, Kind string
	State     machine.State
}

// Places count all targets, also those that do not count in sums.
func (p *Pass) Places() map[Place]int {
	places := map[Place]int{}
	for _, s := range p.standings {
		api, kind := KindOf(s.Kind)
		places[Place{API: api, Kind: kind, State: s.State}]++
	}
	return places
}

// Settled says that every target there is was judged by the present verdict, and none moves or is left to be decided on.
func (s Sums) Settled() bool { return s.Judged && s.All().Working == 0 && s.Waiting == 0 }
