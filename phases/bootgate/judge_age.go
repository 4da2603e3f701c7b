package bootgate

import (
	"context"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/conditions"
)

// automaticMode is that in which this operator itself records how old boot images are.
const automaticMode = operatorv1.BootImageSkewEnforcementModeStatusAutomatic

// judgeAge says how old the boot images are, and whether the cluster can be upgraded with them.
func (p *Pass) judgeAge(ctx context.Context) error {
	if !p.Ours {
		answer := Judge(false, p.Enforced, p.Limits, Targets{}, nil)
		p.Upgradeable, p.memory.judged = &answer, nil
		return nil
	}
	if p.world.platform() == "" || p.world.version == nil {
		return nil
	}
	open := guards.IsOpen(p.Facts).Truth == machine.Yes
	settled := open && p.Targets.Settled()
	skew := Skew{
		Spec: p.world.config.Spec.BootImageSkewEnforcement, Recorded: p.world.config.Status.BootImageSkewEnforcementStatus, Resolved: p.resolved,
		Platform: p.world.platform(), SingleNode: p.world.singleNode(), History: p.world.history(),
		Moved: settled && len(p.Targets.Stuck) == 0, Skipped: len(p.Targets.Skipped) > 0,
	}
	if p.golden != nil {
		skew.Golden = p.golden.Release()
	}
	p.Enforced = skew.Enforced()
	before, err := p.judgedBefore(ctx)
	if err != nil {
		return err
	}
	targets := Targets{Settled: settled}
	for _, told := range p.Targets.Stuck {
		targets.Stuck = append(targets.Stuck, told.Name)
	}
	answer := Judge(true, p.Enforced, p.Limits, targets, before)
	p.Upgradeable, p.memory.judged = &answer, &answer
	return nil
}

// judgedBefore is what was said last in this mode, by this process or by the one before; nil for nothing.
func (p *Pass) judgedBefore(ctx context.Context) (*Upgradeable, error) {
	if p.world.config.Status.BootImageSkewEnforcementStatus.Mode != automaticMode {
		return nil, nil
	}
	if p.memory.judged != nil {
		return p.memory.judged, nil
	}
	operator := &configv1.ClusterOperator{}
	if is, err := read(ctx, p.Client, client.ObjectKey{Name: ClusterOperator}, operator); !is || err != nil {
		return nil, err
	}
	said := conditions.Find(operator.Status.Conditions, Controller+"Upgradeable")
	if said == nil {
		return nil, nil
	}
	before := Upgradeable{Is: said.Status != configv1.ConditionFalse, Reason: said.Reason, Message: said.Message}
	if before.Is {
		before.Reason = ""
	}
	return &before, nil
}
