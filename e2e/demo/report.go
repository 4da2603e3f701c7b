package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// report is bin/demo/report.json.
type report struct {
	State           string       `json:"state"`
	CurrentRevision string       `json:"currentRevision"`
	Platform        string       `json:"platform"`
	Install         effort       `json:"install"`
	Upgrade         effort       `json:"upgrade"`
	Transitions     []transition `json:"transitions"`
}

// transition is one move of the machine, without its cause.
type transition struct {
	From  string    `json:"from"`
	Event string    `json:"event"`
	To    string    `json:"to"`
	At    time.Time `json:"at"`
}

// effort is what an installation or an upgrade took. Requests and writes are
// those of the operator in kube-apiserver's audit log.
type effort struct {
	Seconds  float64 `json:"seconds"`
	Objects  int     `json:"objects"`
	Writes   int     `json:"writes"`
	Requests int     `json:"requests"`
}

func (r *report) take(v harness.View, path []harness.Transition) {
	r.State, r.CurrentRevision, r.Platform = v.Record.State, v.Current(), string(platform)
	r.Transitions = nil
	for _, t := range path {
		r.Transitions = append(r.Transitions, transition{From: t.From, Event: t.Event, To: t.To, At: t.At})
	}
}

// save writes a report.
func save(path string, report any) error {
	data, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// shown is a revision that was installed, with its components' versions.
type shown struct {
	revision operatorv1alpha1.ClusterAPIInstallerRevision
	versions map[string]string
}

// conclude prints what was seen as a whole.
func (d *demonstration) conclude() {
	d.display.say("")
	table := tabwriter.NewWriter(d.display.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REVISION\tCOMPONENT\tVERSION\tIMAGE\tSTATUS")
	for _, s := range d.shown {
		status := "replaced"
		if string(s.revision.Name) == d.report.CurrentRevision {
			status = "current"
		}
		for _, component := range s.revision.Components {
			_, digest, _ := strings.Cut(string(component.Image.Ref), "@")
			fmt.Fprintf(table, "%s\t%s\t%s\t%.19s\t%s\n", s.revision.Name, component.Name, s.versions[component.Name], digest, status)
		}
	}
	table.Flush()
	d.display.say("")
	fmt.Fprintln(table, "STEP\tSECONDS\tOBJECTS\tWRITES\tREQUESTS")
	for _, row := range []struct {
		name string
		effort
	}{{"install", d.report.Install}, {"upgrade", d.report.Upgrade}} {
		fmt.Fprintf(table, "%s\t%.1f\t%d\t%d\t%d\n", row.name, row.Seconds, row.Objects, row.Writes, row.Requests)
	}
	table.Flush()
	d.display.say("\nThe way through the state diagram: %s", pathOf(d.report.Transitions))
	d.display.say("The report is in %s", filepath.Join(d.dir, reportFile))
}

// pathOf is the states in the order in which they were entered.
func pathOf(transitions []transition) string {
	if len(transitions) == 0 {
		return "none"
	}
	states := []string{transitions[0].From}
	for _, t := range transitions {
		states = append(states, t.To)
	}
	return strings.Join(states, " -> ")
}

func listed(versions map[string]string) string {
	var parts []string
	for _, component := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, component+" "+versions[component])
	}
	return strings.Join(parts, ", ")
}
