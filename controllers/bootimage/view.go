package bootimage

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/bootimage"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/golden"
)

var tableView = view.TableOf(table.Table)

// kinds are those of targets.
var kinds = []golden.Kind{golden.CAPIMachineSets, golden.MachineDeployments, golden.MachineSets, golden.ControlPlaneMachineSets}

var instances = &view.Instances{
	Kind: phases.MachineSetKind.GroupVersion().WithResource("machinesets"), Word: "MachineSet of Cluster API",
	KeyOf: func(_, name string) string { return string(phases.KeyOf(golden.CAPIMachineSets, name)) },
	Form:  "KIND/NAME, such as machinesets.cluster.x-k8s.io/worker",
	Valid: func(key string) bool {
		kind, name, _ := strings.Cut(key, "/")
		return slices.Contains(kinds, golden.Kind(kind)) && name != ""
	},
}

// untold says why an instance does not tell what guards answer.
const untold = "The operator publishes the state of a target and what it waits for, and not what each guard answers."

// Status is what `capstan status --machine bootimage` prints; its shape is a promise.
type Status struct {
	view.Head
	Target string `json:"target"`
}

// Write prints it.
func (s Status) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	s.WriteHead(&b, "", now)
	_, err := io.WriteString(out, b.String())
	return err
}

// look reads what the gate has published of a target: those that have not the wanted image.
func look(ctx context.Context, get view.Getter, key machine.Key) (view.Seen, error) {
	operator, err := view.Operator(ctx, get, phases.ClusterOperator)
	if err != nil {
		return view.Seen{}, err
	}
	var detail struct {
		Targets []struct {
			Name  string        `json:"name"`
			State machine.State `json:"state"`
			Why   string        `json:"why"`
		} `json:"targets"`
		More int `json:"more"`
	}
	var extension map[string]json.RawMessage
	if operator != nil && json.Unmarshal(operator.Status.Extension.Raw, &extension) == nil {
		_ = json.Unmarshal(extension[phases.GateDetail], &detail) // what cannot be read tells of no target
	}
	for _, target := range detail.Targets {
		if _, known := tableView.State(target.State); target.Name == string(key) && known {
			return SeenOf(key, machine.Record{State: target.State, Reason: target.Why}), nil
		}
	}
	problem := "the operator tells nothing of " + string(key) + ": it has the wanted image, it is not enrolled, or there is no such target"
	switch {
	case len(extension[phases.GateDetail]) == 0:
		problem = "the operator tells of no targets: does it run with --boot-images?"
	case detail.More > 0:
		problem += "; it names 64 of those that have not the wanted image, and there are more"
	}
	return view.Seen{Problem: problem, Status: Status{Head: view.HeadOf(tableView, machine.Record{}, problem, ""), Target: string(key)}}, nil
}

// SeenOf is a target as commands see it, by what is told of it, or stored.
func SeenOf(key machine.Key, record machine.Record) view.Seen {
	return view.Seen{
		Record: record, Waits: record.Reason, Untold: untold,
		Status: Status{Head: view.HeadOf(tableView, record, "", record.Reason, table.Current), Target: string(key)},
	}
}
