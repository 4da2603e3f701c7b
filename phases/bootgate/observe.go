package bootgate

import (
	"context"

	"k8s.io/apimachinery/pkg/util/version"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// Observe looks at the cluster without changing anything in it, and sends nothing at rest. A look that fails lets no target
// move: nobody knows what it would have shown.
func (p *Phases) Observe(ctx context.Context, _ machine.Key) (guards.Facts, *Pass, error) {
	now := p.Now()
	if p.memory.began.IsZero() || now.Before(p.memory.began) {
		p.memory.began = now
	}
	pass := &Pass{Phases: p}
	if why := p.blind(); why != "" {
		pass.Facts.Blind = "what boot images depend on cannot be looked at: " + why
		pass.sum()
		return pass.Facts, pass, nil
	}
	var err error
	if pass.world, err = p.look(ctx); err != nil {
		p.Board.Post(bootboard.Verdict{Why: "the cluster cannot be looked at: " + machine.Shorten(err.Error(), maxNamed)})
		return guards.Facts{}, pass, err
	}
	if w := pass.world; w.known != nil {
		p.memory.kept = w.known.Data
	}
	pass.golden = p.readGolden(pass.world.golden).golden
	f := guards.Facts{Platform: pass.platform(), Release: pass.release(), Golden: pass.content()}
	f.Config = pass.config()
	pass.Facts = f
	pass.sum()
	if err := pass.judgeAge(ctx); err != nil {
		return guards.Facts{}, pass, err
	}
	return f, pass, nil
}

// blind is why nothing can be looked at yet, also for the targets' sake: empty if all can.
func (p *Phases) blind() string {
	if p.Blind != nil {
		if why := p.Blind(); why != "" {
			return why
		}
	}
	return p.Board.Blind()
}

func (p *Pass) platform() guards.Platform {
	name := string(p.world.platform())
	return guards.Platform{Known: name != "", Name: name, StackHub: p.world.onStackHub()}
}

func (p *Pass) release() guards.Version {
	v := guards.Version{Seen: p.world.version != nil}
	if history := p.world.history(); len(history) > 0 {
		v.Name, v.State = history[0].Version, string(history[0].State)
	}
	return v
}

// cluster is what targets are judged by, beside the golden images.
func (p *Pass) cluster() golden.Cluster {
	w := p.world
	c := golden.Cluster{
		Platform: w.platform(), Region: w.region(), GCPProject: p.GCPProject, ControlPlaneArchitectures: w.architectures,
		ControlPlaneRollsOut: p.rollsOut(),
		Provenance:           golden.AnyOf{p.readImages(KnownConfigMap, w.known).images, p.readImages(TrustedConfigMap, w.trusted).images},
	}
	if w.infra != nil {
		c.InfrastructureName = w.infra.Status.InfrastructureName
	}
	if w.version != nil {
		c.MultiPayload = w.version.Status.Desired.Architecture == multi
	}
	return c
}

// rollsOut says that a ControlPlaneMachineSet replaces machines that differ in nothing but the boot image. Of a release that
// cannot be read that is to be feared.
func (p *Pass) rollsOut() bool {
	history := p.world.history()
	if len(history) == 0 {
		return true
	}
	release, err := version.ParseGeneric(history[0].Version)
	return err != nil || release.LessThan(p.RollsOutBefore)
}
