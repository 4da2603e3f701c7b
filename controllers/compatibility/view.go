package compatibility

import (
	"context"
	"io"
	"strings"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/compatibility"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

var tableView = view.TableOf(table.Table)

// untold says why an instance does not tell what guards answer.
const untold = "The status of a CompatibilityRequirement holds its state and what it waits for, and has no room for what each guard answers."

var instances = &view.Instances{Kind: requirementsv1alpha1.GroupVersion.WithResource("compatibilityrequirements"), Word: "CompatibilityRequirement"}

// Status is what `capstan status --machine compatibility` prints; its shape is a promise.
type Status struct {
	view.Head
	Requirement string           `json:"requirement"`
	CRD         string           `json:"crd,omitempty"`
	Conditions  []view.Condition `json:"conditions"`
}

// Write prints it.
func (s Status) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	s.WriteHead(&b, "", now)
	view.Section(&b, "Conditions", view.ConditionLines(s.Conditions, s.Waits, now))
	_, err := io.WriteString(out, b.String())
	return err
}

// look reads a requirement, which holds its record.
func look(ctx context.Context, get view.Getter, key machine.Key) (view.Seen, error) {
	r := &requirementsv1alpha1.CompatibilityRequirement{}
	found, err := get(ctx, instances.Kind, instances.Word, "", string(key), r)
	if err != nil {
		return view.Seen{}, err
	}
	record, is := phases.RecordOf(r)
	_, known := tableView.State(record.State)
	switch {
	case !found:
		seen := nothing(r, "CompatibilityRequirement "+string(key)+" does not exist")
		seen.Absent = true
		return seen, nil
	case !is || !known:
		return nothing(r, "CompatibilityRequirement "+string(key)+" holds no record that can be read: is the operator running?"), nil
	}
	waits := ""
	if c := meta.FindStatusCondition(r.Status.Conditions, phases.StateCondition); c != nil {
		waits = c.Message
	}
	return view.Seen{Record: record, Waits: waits, Untold: untold, Status: statusOf(r, view.HeadOf(tableView, record, "", waits, table.Met))}, nil
}

func nothing(r *requirementsv1alpha1.CompatibilityRequirement, problem string) view.Seen {
	return view.Seen{Problem: problem, Status: statusOf(r, view.HeadOf(tableView, machine.Record{}, problem, ""))}
}

func statusOf(r *requirementsv1alpha1.CompatibilityRequirement, head view.Head) Status {
	s := Status{Head: head, Requirement: r.Name, CRD: r.Status.CRDName, Conditions: []view.Condition{}}
	for _, c := range r.Status.Conditions {
		if c.Type != phases.RecordCondition {
			s.Conditions = append(s.Conditions, view.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.UTC()})
		}
	}
	return s
}
