package bootgate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// tellConfig writes what people are told on the MachineConfiguration, if that differs from what is there, and returns after
// how long to do so if it is too soon. Right after a start, what was told before stays.
func (p *Phases) tellConfig(ctx context.Context, pass *Pass, told []Condition) (later time.Duration, err error) {
	config := pass.world.config
	if config == nil {
		return 0, nil
	}
	now := p.Now()
	wanted := conditionsOf(told, config.Status.Conditions, now)
	if storedIn(wanted, config) {
		return 0, nil
	}
	if !pass.Targets.Sure {
		return p.untilSure(now), nil
	}
	if wait := p.memory.told.wait(now); wait > 0 {
		return wait, nil
	}
	p.memory.told.wrote(now)
	answered, err := p.applyConditions(ctx, config, wanted)
	switch {
	case isQuicker(err):
		return again, nil
	case err != nil:
		return 0, fmt.Errorf("writing the conditions of MachineConfiguration %s: %w", Configuration, err)
	}
	pass.wroteConfig(answered)
	return 0, nil
}

// applyConditions sends them in an apply of their own, so that what this operator has told and tells no more goes, and what
// others tell stays. They are bound to the version that was seen, and so to its UID, which by itself binds no write of a status.
func (p *Phases) applyConditions(ctx context.Context, config *operatorv1.MachineConfiguration, wanted []metav1.Condition) (*operatorv1.MachineConfiguration, error) {
	patch, err := json.Marshal(map[string]any{
		"apiVersion": operatorv1.GroupVersion.String(), "kind": "MachineConfiguration",
		"metadata": map[string]any{"name": config.Name, "resourceVersion": config.ResourceVersion},
		"status":   map[string]any{"conditions": wanted},
	})
	if err != nil {
		return nil, err
	}
	answered := &operatorv1.MachineConfiguration{ObjectMeta: metav1.ObjectMeta{Name: config.Name}}
	err = p.Client.Status().Patch(ctx, answered, client.RawPatch(types.ApplyPatchType, patch), client.ForceOwnership, client.FieldOwner(FieldManager))
	return answered, err
}

// conditionsOf are conditions as the API stores them. The transition time of one moves with its status only.
func conditionsOf(told []Condition, old []metav1.Condition, now time.Time) []metav1.Condition {
	var all []metav1.Condition
	for _, c := range told {
		condition := metav1.Condition{
			Type: c.Type, Status: metav1.ConditionFalse, Reason: c.Reason, Message: machine.Shorten(c.Message, machine.MaxMessage),
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		}
		if c.Is {
			condition.Status = metav1.ConditionTrue
		}
		if before := meta.FindStatusCondition(old, c.Type); before != nil && before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		all = append(all, condition)
	}
	return all
}

// storedIn says that all of that is told, and nothing else by this operator.
func storedIn(wanted []metav1.Condition, config *operatorv1.MachineConfiguration) bool {
	for _, c := range wanted {
		found := meta.FindStatusCondition(config.Status.Conditions, c.Type)
		if found == nil || found.Status != c.Status || found.Reason != c.Reason || found.Message != c.Message {
			return false
		}
	}
	for _, kind := range toldBefore(config) {
		if !slices.ContainsFunc(wanted, func(c metav1.Condition) bool { return c.Type == kind }) {
			return false
		}
	}
	return true
}

// toldBefore are the types of the conditions that this operator owns.
func toldBefore(config *operatorv1.MachineConfiguration) (types []string) {
	for _, entry := range config.ManagedFields {
		if entry.Manager != FieldManager || entry.Operation != metav1.ManagedFieldsOperationApply {
			continue
		}
		for key := range fieldsOf(entry, "f:status", "f:conditions") {
			var of struct {
				Type string `json:"type"`
			}
			if len(key) > 2 && json.Unmarshal([]byte(key[2:]), &of) == nil && of.Type != "" {
				types = append(types, of.Type)
			}
		}
	}
	return types
}
