package clusterapi

import (
	"cmp"
	"context"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// clusterAPIs are the objects whose list of revisions is shown.
var clusterAPIs = operatorv1alpha1.GroupVersion.WithResource("clusterapis")

// tableView is the table as commands read it.
var tableView = view.TableOf(table.Table)

// look reads ClusterAPI cluster and its ClusterOperator.
func look(ctx context.Context, get view.Getter, _ machine.Key) (view.Seen, error) {
	api := &operatorv1alpha1.ClusterAPI{}
	found, err := get(ctx, clusterAPIs, "ClusterAPI", "", phases.Singleton, api)
	if err != nil {
		return view.Seen{}, err
	}
	if !found {
		api = nil
	}
	operator, err := view.Operator(ctx, get, phases.ClusterOperatorName)
	if err != nil {
		return view.Seen{}, err
	}
	var detail phases.Detail
	record, problem := view.Published(tableView, phases.ClusterOperatorName, operator, &detail)
	if problem != "" {
		detail = phases.Detail{}
	}
	head := view.HeadOf(tableView, record, problem, detail.Waits, table.Installed)
	if detail.UninstallConsent != "" {
		head = head.Asking()
	}
	return view.Seen{
		Record: record, Problem: problem, Waits: detail.Waits, Moves: detail.Moves, Status: statusOf(head, api, operator, detail),
	}, nil
}

// Status is what `capstan status -o json` prints; its shape is a promise.
type Status struct {
	view.Head
	// Release is the version that is completely installed, as the operator reports it.
	Release   string     `json:"release,omitempty"`
	Revisions []Revision `json:"revisions"`

	// Acts are what people ask for by annotations of the ClusterAPI; Differs names objects that are not as revisions have them,
	// while a pause stands, and DiffersCount counts these and those that there is no room for. LeftAlone are those that people ask to
	// leave as they are.
	Acts         []guards.Act       `json:"acts"`
	Differs      []string           `json:"differs"`
	DiffersCount int                `json:"differsCount"`
	LeftAlone    []guards.LeftAlone `json:"leftAlone"`

	Retained   []guards.RetainedObject `json:"retained"`
	Collisions []guards.Collision      `json:"collisions"`
	Refused    []guards.Refused        `json:"refused"`
	Contested  []guards.Contested      `json:"contested"`
	Findings   []string                `json:"findings"`
	Strays     []string                `json:"strays"`
	// StraysElsewhere are in namespaces of others and counted only; StrayCount counts all strays.
	StraysElsewhere []guards.StrayCount  `json:"straysElsewhere"`
	StrayCount      int                  `json:"strayCount"`
	Images          []phases.ImageDetail `json:"images"`
	Conditions      []view.Condition     `json:"conditions"`
}

// Revision is one listed revision, the newest last.
type Revision struct {
	Number    int64  `json:"number"`
	Name      string `json:"name"`
	ContentID string `json:"contentID"`
	// Desired is the newest of the list; Current the last that was fully applied.
	Desired bool          `json:"desired"`
	Current bool          `json:"current"`
	Waves   []guards.Wave `json:"waves"`
}

// statusOf puts what was seen in order. No list of it is nil, so that a reader of
// the JSON needs no second case.
func statusOf(head view.Head, api *operatorv1alpha1.ClusterAPI, operator *configv1.ClusterOperator, detail phases.Detail) Status {
	s := Status{
		Head: head, Revisions: revisions(api, detail), Acts: view.List(detail.Acts), Differs: view.List(detail.Differs), DiffersCount: detail.DiffersCount, LeftAlone: view.List(detail.LeftAlone),
		Retained: view.List(detail.Retained), Collisions: view.List(detail.Collisions), Refused: view.List(detail.Refused),
		Contested: view.List(detail.Contested), Findings: view.List(detail.Findings), Strays: view.List(detail.Strays),
		StraysElsewhere: view.List(detail.StraysElsewhere), StrayCount: detail.StrayCount, Images: view.List(detail.Images),
		Conditions: view.Conditions(operator, details...),
	}
	if operator == nil {
		return s
	}
	for _, version := range operator.Status.Versions {
		if version.Name == "operator" {
			s.Release = version.Version
		}
	}
	return s
}

// details come after the conditions that sum them up.
var details = []string{
	"RevisionControllerProgressing", "RevisionControllerDegraded", "InstallerControllerProgressing",
	"InstallerControllerDegraded", "InstallerControllerAvailable", "InstallerControllerUpgradeable",
}

func revisions(api *operatorv1alpha1.ClusterAPI, detail phases.Detail) []Revision {
	revisions := []Revision{}
	if api == nil {
		return revisions
	}
	for _, entry := range api.Status.Revisions {
		r := Revision{
			Number: entry.Revision, Name: string(entry.Name), ContentID: entry.ContentID, Waves: []guards.Wave{},
			Desired: entry.Name == api.Status.DesiredRevision, Current: entry.Name == api.Status.CurrentRevision,
		}
		if i := slices.IndexFunc(detail.Revisions, func(d guards.Revision) bool { return d.Name == r.Name }); i >= 0 {
			r.Waves = view.List(detail.Revisions[i].Waves)
		}
		revisions = append(revisions, r)
	}
	slices.SortFunc(revisions, func(a, b Revision) int { return cmp.Compare(a.Number, b.Number) })
	return revisions
}
