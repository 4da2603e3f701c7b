package golden

// rollout gives the tests of what allows a write to a target whose controller would replace machines that run; none where it
// would replace none.
func (c *Cluster) rollout(t *Target) ([]Operation, error) {
	var strategy string
	switch {
	case t.Kind == MachineDeployments:
		strategy = pointer("spec", "rollout", "strategy", "type")
	case t.Kind == ControlPlaneMachineSets && c.ControlPlaneRollsOut:
		strategy = pointer("spec", "strategy", "type")
	default:
		return nil, nil
	}
	if t.Strategy == onDelete {
		return []Operation{test(strategy, onDelete)}, nil
	}
	if t.Annotations[AllowRolloutAnnotation] == "true" {
		return []Operation{test(pointer("metadata", "annotations", AllowRolloutAnnotation), "true")}, nil
	}
	return nil, &skipError{
		reason: WouldRollOut, text: "another image would replace the machines that run",
		remedy: "set its strategy to OnDelete, or allow it: " + t.annotate(AllowRolloutAnnotation, "true"),
	}
}
