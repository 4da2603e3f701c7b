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
	if key == "" {
		return nothing(r, "name the CompatibilityRequirement to look at with --key"), nil
	}
	found, err := get(ctx, requirementsv1alpha1.GroupVersion.WithResource("compatibilityrequirements"), "CompatibilityRequirement", "", string(key), r)
	if err != nil {
		return view.Seen{}, err
	}
	record, is := phases.RecordOf(r)
	_, known := tableView.State(record.State)
	switch {
	case !found:
		return nothing(r, "CompatibilityRequirement "+string(key)+" does not exist"), nil
	case !is || !known:
		return nothing(r, "CompatibilityRequirement "+string(key)+" holds no record that can be read: is the operator running?"), nil
	}
	waits := ""
	if c := meta.FindStatusCondition(r.Status.Conditions, phases.StateCondition); c != nil {
		waits = c.Message
	}
	return view.Seen{Record: record, Waits: waits, Status: statusOf(r, view.HeadOf(tableView, record, "", waits, table.Met))}, nil
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
