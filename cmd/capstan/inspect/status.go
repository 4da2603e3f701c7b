package inspect

import (
	"cmp"
	"slices"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// Status is what `capstan status -o json` prints; its shape is a promise.
type Status struct {
	// State is empty while there is no record that can be read, and Problem says why.
	State   machine.State `json:"state"`
	Problem string        `json:"problem,omitempty"`
	Since   time.Time     `json:"since,omitzero"`
	// Waits is the one line that conditions, log and Events show: why it is not done, or that it is.
	Waits    string            `json:"waits,omitempty"`
	Deadline *machine.Deadline `json:"deadline,omitempty"`
	Failure  *machine.Failure  `json:"failure,omitempty"`
	// Release is the version that is completely installed, as the operator reports it.
	Release   string     `json:"release,omitempty"`
	Revisions []Revision `json:"revisions"`

	Retained   []guards.RetainedObject `json:"retained"`
	Collisions []guards.Collision      `json:"collisions"`
	Refused    []guards.Refused        `json:"refused"`
	Contested  []guards.Contested      `json:"contested"`
	Strays     []string                `json:"strays"`
	Images     []phases.ImageDetail    `json:"images"`
	Conditions []Condition             `json:"conditions"`
}

// Revision is one listed revision, the newest last.
type Revision struct {
	Number    int64  `json:"number"`
	Name      string `json:"name"`
	ContentID string `json:"contentID"`
	// Desired is the newest one; Current the last that was fully applied.
	Desired bool          `json:"desired"`
	Current bool          `json:"current"`
	Waves   []guards.Wave `json:"waves"`
}

// Condition is one of the ClusterOperator's.
type Condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"`
}

// Status puts a view in order. No list of it is nil, so that a reader of the
// JSON needs no second case.
func (v View) Status() Status {
	s := Status{
		State: v.Record.State, Problem: v.Problem, Since: v.Record.Since, Waits: cmp.Or(v.Detail.Waits, v.Record.Reason),
		Deadline: v.Record.Deadline, Failure: v.Record.Failure, Revisions: v.revisions(),
		Retained: list(v.Detail.Retained), Collisions: list(v.Detail.Collisions), Refused: list(v.Detail.Refused),
		Contested: list(v.Detail.Contested), Strays: list(v.Detail.Strays), Images: list(v.Detail.Images), Conditions: []Condition{},
	}
	if v.Operator == nil {
		return s
	}
	for _, version := range v.Operator.Status.Versions {
		if version.Name == "operator" {
			s.Release = version.Version
		}
	}
	for _, c := range v.Operator.Status.Conditions {
		s.Conditions = append(s.Conditions, Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.UTC(),
		})
	}
	slices.SortStableFunc(s.Conditions, func(a, b Condition) int {
		return cmp.Or(cmp.Compare(slices.Index(details, a.Type), slices.Index(details, b.Type)), cmp.Compare(a.Type, b.Type))
	})
	return s
}

// details come after the conditions that sum them up.
var details = []string{
	"RevisionControllerProgressing", "RevisionControllerDegraded", "InstallerControllerProgressing",
	"InstallerControllerDegraded", "InstallerControllerAvailable", "InstallerControllerUpgradeable",
}

func (v View) revisions() []Revision {
	revisions := []Revision{}
	if v.API == nil {
		return revisions
	}
	for _, entry := range v.API.Status.Revisions {
		r := Revision{
			Number: entry.Revision, Name: string(entry.Name), ContentID: entry.ContentID, Waves: []guards.Wave{},
			Desired: entry.Name == v.API.Status.DesiredRevision, Current: entry.Name == v.API.Status.CurrentRevision,
		}
		if i := slices.IndexFunc(v.Detail.Revisions, func(d guards.Revision) bool { return d.Name == r.Name }); i >= 0 {
			r.Waves = list(v.Detail.Revisions[i].Waves)
		}
		revisions = append(revisions, r)
	}
	slices.SortFunc(revisions, func(a, b Revision) int { return cmp.Compare(a.Number, b.Number) })
	return revisions
}

func list[T any](some []T) []T {
	if some == nil {
		return []T{}
	}
	return some
}

// The exit codes of `capstan status --exit-code`.
const (
	CodeInstalled = 0
	CodeOnItsWay  = 2
	CodeLook      = 3
)

// Code is the state as an exit code.
func (s Status) Code() int {
	switch s.State {
	case table.Installed:
		return CodeInstalled
	case table.Degraded, table.MaxRevisions:
		return CodeLook
	}
	return CodeOnItsWay
}
