package explaining

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// table is the machine's, as people read it.
var table = view.TableOf(openshiftcontrolplane.Table)

// Explanation is what `capstan-provider explain -o json` prints; its shape is a promise.
type Explanation struct {
	// Explanation is what the state means, how it was come to, and which moves can leave it.
	inspect.Explanation

	Deadline *v1alpha1.Deadline `json:"deadline,omitempty"`
	// StoppedAt is the step at which the installation does not go on, empty where it does.
	StoppedAt string `json:"stoppedAt,omitempty"`
	Marks     Marks  `json:"marks"`
	Machines  []Host `json:"machines"`
	// Amiss are the conditions that are not as they are of a cluster at rest.
	Amiss []metav1.Condition `json:"amiss"`
	// Unread says what could not be read.
	Unread []string `json:"unread,omitempty"`
	// Next is what people do about it.
	Next string `json:"next"`

	// moves has the moves written for people, too.
	moves bool
}

// Marks are what outlives the status.
type Marks struct {
	Inputs            string `json:"inputs,omitempty"`
	Bootstrap         string `json:"bootstrap,omitempty"`
	Initialized       bool   `json:"initialized"`
	BootstrapFinished bool   `json:"bootstrapFinished"`
	// Retry is what people have asked for.
	Retry string `json:"retry,omitempty"`
}

// Host is a Machine.
type Host struct {
	Name string `json:"name"`
	// Role is bootstrap, control plane or worker.
	Role  string             `json:"role"`
	Phase string             `json:"phase,omitempty"`
	Node  string             `json:"node,omitempty"`
	Amiss []metav1.Condition `json:"amiss"`
}

// The roles, in the order in which they are told.
const (
	bootstrapRole    = "bootstrap"
	controlPlaneRole = "control plane"
	workerRole       = "worker"
)

// Explain says why a cluster is where it is. With moves it tells people what each move asks for, too.
func (l Look) Explain(moves bool) Explanation {
	status := &l.Plane.Status
	marks := phases.MarksOf(l.Plane)
	e := Explanation{
		Explanation: l.told(), Deadline: status.Deadline, Amiss: amiss(status.Conditions), Unread: l.Unread, Machines: l.hosts(), moves: moves,
		Marks: Marks{
			Inputs: marks.Inputs, Bootstrap: marks.Bootstrap, Initialized: marks.Initialized, BootstrapFinished: marks.Finished,
			Retry: l.Plane.Annotations[v1alpha1.RetryAnnotation],
		},
	}
	if step, is := standing.Stopped(l.Plane); is {
		e.StoppedAt = step.String()
	}
	e.Next = l.next()
	return e
}

// told is what the machine remembers, or what the status says of it where that cannot be read.
func (l Look) told() inspect.Explanation {
	status := &l.Plane.Status
	record := standing.RecordOf(l.Plane)
	if record.State == "" {
		record = machine.Record{State: machine.State(status.State), Reason: status.Waits}
		if status.Since != nil {
			record.Since = status.Since.Time
		}
	}
	if f := status.LastFailure; f != nil && record.Failure == nil {
		record.Failure = &machine.Failure{Message: f.Message, Since: f.Since.Time, Terminal: f.Terminal != nil && *f.Terminal}
	}
	instance := v1alpha1.ControlPlaneKind + " " + l.Plane.Namespace + "/" + l.Plane.Name
	seen := inspect.View{
		Table: table, Instance: instance,
		Seen: view.Seen{Record: record, Waits: status.Waits, Untold: "What the guards answer is not told: it is in the log of the provider."},
	}
	told, err := seen.Explain()
	if err != nil { // there is no state yet
		return inspect.Explanation{Instance: instance, Transitions: []machine.Transition{}, Moves: []view.Way{}}
	}
	return told
}

func amiss(conditions []metav1.Condition) []metav1.Condition {
	return view.List(slices.DeleteFunc(standing.Sorted(conditions), func(c metav1.Condition) bool { return !standing.IsAmiss(c) }))
}

// hosts are the Machines: the bootstrap's, those of the control plane, workers.
func (l Look) hosts() []Host {
	hosts := []Host{}
	for _, m := range l.Machines {
		host := Host{Name: m.Name, Role: workerRole, Phase: m.Status.Phase, Amiss: amiss(m.Status.Conditions)}
		if m.Status.NodeRef.IsDefined() {
			host.Node = m.Status.NodeRef.Name
		}
		_, controls := m.Labels[clusterv1.MachineControlPlaneLabel]
		switch {
		case m.Name == phases.BootstrapName(l.Plane.Name):
			host.Role = bootstrapRole
		case controls:
			host.Role = controlPlaneRole
		}
		hosts = append(hosts, host)
	}
	order := []string{bootstrapRole, controlPlaneRole, workerRole}
	slices.SortFunc(hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Role), slices.Index(order, b.Role)), cmp.Compare(a.Name, b.Name))
	})
	return hosts
}
