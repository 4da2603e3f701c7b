package clusterapi

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// met is a requirement that is in force and met.
func met() Requirement {
	return Requirement{
		Name: "capstan-shape.a", Definition: "a.b.c", Generation: 3,
		Conditions: []Condition{
			{Type: "Progressing", Status: "False", Reason: "UpToDate", Generation: 3},
			{Type: "Admitted", Status: "True", Reason: "Admitted", Generation: 3},
			{Type: "Compatible", Status: "True", Reason: "CompatibleWithWarnings", Generation: 3},
		},
		ObservedUID: "uid", ObservedGeneration: 7,
		Live: Definition{Exists: true, UID: "uid", Generation: 7, Established: true},
	}
}

func TestRequirement_answers_to_what_was_seen_of_it(t *testing.T) {
	for name, row := range map[string]struct {
		change               func(*Requirement)
		shape, inForce, fits machine.Truth
		says                 string
	}{
		"met":                   {func(*Requirement) {}, machine.Yes, machine.Yes, machine.Yes, ""},
		"not seen":              {func(r *Requirement) { r.Unseen = "not seen yet" }, machine.Unknown, machine.Unknown, machine.Unknown, "not seen yet"},
		"absent":                {func(r *Requirement) { r.Absent = "does not exist yet" }, machine.No, machine.No, machine.No, "does not exist"},
		"not judged":            {func(r *Requirement) { r.Conditions = nil }, machine.Unknown, machine.Unknown, machine.Unknown, "generation 3"},
		"of another generation": {func(r *Requirement) { r.Generation = 4 }, machine.Unknown, machine.Unknown, machine.Unknown, "generation 4"},
		"still at it":           {func(r *Requirement) { r.Conditions[0] = Condition{"Progressing", "True", "Arming", "", 3} }, machine.No, machine.No, machine.Yes, "Progressing is True, Arming"},
		"not usable":            {func(r *Requirement) { r.Conditions[0].Reason = "ConfigurationError" }, machine.No, machine.No, machine.Yes, "ConfigurationError"},
		"not in force":          {func(r *Requirement) { r.Conditions[1] = Condition{"Admitted", "False", "NotAdmitted", "no CA", 3} }, machine.No, machine.No, machine.Yes, "no CA"},
		"not met": {func(r *Requirement) {
			r.Conditions[2] = Condition{"Compatible", "False", "RequirementsNotMet", "v1: spec.a is missing", 3}
		}, machine.No, machine.Yes, machine.No, "v1: spec.a is missing"},
		"condition stale":            {func(r *Requirement) { r.Conditions[2].Generation = 2 }, machine.Unknown, machine.Yes, machine.Unknown, "Compatible does not speak"},
		"definition absent":          {func(r *Requirement) { r.Live = Definition{} }, machine.No, machine.Yes, machine.Yes, "a.b.c does not exist"},
		"definition going":           {func(r *Requirement) { r.Live.Terminating = true }, machine.No, machine.Yes, machine.Yes, "is being deleted"},
		"definition not established": {func(r *Requirement) { r.Live.Established = false }, machine.No, machine.Yes, machine.Yes, "not Established"},
		"another definition":         {func(r *Requirement) { r.Live.UID = "other" }, machine.Unknown, machine.Yes, machine.Yes, "generation 7"},
		"definition changed":         {func(r *Requirement) { r.Live.Generation = 8 }, machine.Unknown, machine.Yes, machine.Yes, "generation 8"},
	} {
		t.Run(name, func(t *testing.T) {
			r := met()
			row.change(&r)
			shape := r.ShapeMet()
			if shape.Truth != row.shape || r.InForce().Truth != row.inForce || r.CompatibleOnly().Truth != row.fits {
				t.Errorf("got %s, %s and %s, want %s, %s and %s", shape.Truth, r.InForce().Truth, r.CompatibleOnly().Truth, row.shape, row.inForce, row.fits)
			}
			if !strings.Contains(shape.Reason, row.says) || shape.Truth != machine.Yes && !strings.HasPrefix(shape.Reason, "CompatibilityRequirement capstan-shape.a: ") {
				t.Errorf("it says %q, want %q", shape.Reason, row.says)
			}
		})
	}
}

func TestGuards_about_definitions_of_others(t *testing.T) {
	unmet, unseen := met(), met()
	unmet.Live = Definition{}
	unseen.Unseen = "not seen yet"
	facts := func(all ...Requirement) Facts {
		return Facts{Seen: true, Unmanaged: []string{"a.b.c"}, RequirementsKnown: true, Requirements: all}
	}
	unknown := facts()
	unknown.RequirementsKnown, unknown.Applied.Why = false, "2 of 3 images are being fetched"
	for name, row := range map[string]struct {
		guard machine.Guard[Facts]
		facts Facts
		want  machine.Truth
		says  string
	}{
		"LeavesCRDs/none":           {LeavesCRDs, Facts{Seen: true}, machine.No, ""},
		"LeavesCRDs/one":            {LeavesCRDs, facts(), machine.Yes, "others install: 1"},
		"LeavesCRDs/not looked at":  {LeavesCRDs, Facts{}, machine.Unknown, "not been looked at"},
		"CRDsMeet/none":             {CRDsMeet, Facts{Seen: true}, machine.Yes, ""},
		"CRDsMeet/not looked at":    {CRDsMeet, Facts{}, machine.Unknown, "not been looked at"},
		"CRDsMeet/not rendered yet": {CRDsMeet, unknown, machine.Unknown, "being fetched"},
		"CRDsMeet/all":              {CRDsMeet, facts(met(), met()), machine.Yes, "needed: 2"},
		"CRDsMeet/one unseen":       {CRDsMeet, facts(met(), unseen), machine.Unknown, "not seen yet"},
		"CRDsMeet/No outweighs it":  {CRDsMeet, facts(unseen, unmet), machine.No, "does not exist"},
		"CRDsMeet/many":             {CRDsMeet, facts(unmet, unmet, unmet, unmet, unmet), machine.No, "; and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			got := row.guard.Answer(row.facts)
			if got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s with %q", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}
