package harness

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
)

func TestRecordOf(t *testing.T) {
	for name, row := range map[string]struct{ extension, state, problem string }{
		"no extension is no record":             {"", "", ""},
		"another operator's record is not ours": {`{"other":{"state":"Installed"}}`, "", ""},
		"the record is read":                    {`{"clusterapi":{"state":"Installed","progress":{"done":7}}}`, "Installed", ""},
		"text where the record should be":       {`{"clusterapi":"Installed"}`, "", `record "clusterapi"`},
		"no JSON object at all":                 {`[]`, "", "status.extension"},
	} {
		t.Run(name, func(t *testing.T) {
			operator := &configv1.ClusterOperator{}
			operator.Status.Extension.Raw = []byte(row.extension)
			record, err := recordOf(operator)
			if record.State != row.state || (err == nil) != (row.problem == "") {
				t.Fatalf("got %+v, %v", record, err)
			}
			if err != nil && !strings.Contains(err.Error(), row.problem) {
				t.Errorf("got %v, want it to name %q", err, row.problem)
			}
		})
	}
}

func view(state, current string, revisions ...int64) View {
	v := View{ClusterAPI: &operatorv1alpha1.ClusterAPI{}, Record: Record{State: state, Reason: "the reason"}}
	v.ClusterAPI.Status.CurrentRevision = operatorv1alpha1.RevisionName(current)
	for _, number := range revisions {
		v.ClusterAPI.Status.Revisions = append(v.ClusterAPI.Status.Revisions, operatorv1alpha1.ClusterAPIInstallerRevision{
			Name: operatorv1alpha1.RevisionName(string(rune('a' - 1 + number))), Revision: number,
		})
	}
	return v
}

func TestSettled(t *testing.T) {
	for name, row := range map[string]struct {
		view View
		want bool
	}{
		"installed":                             {view(Installed, "b", 2), true},
		"a newer one than asked for":            {view(Installed, "c", 3), true},
		"nothing there yet":                     {View{}, false},
		"the one before":                        {view(Installed, "a", 1), false},
		"an older one is still listed":          {view(Installed, "b", 1, 2), false},
		"listed, not current":                   {view(Installed, "a", 2), false},
		"current, but older objects are pruned": {view(Pruning, "b", 2), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Settled(2)(row.view)
			if (err == nil) != row.want {
				t.Errorf("got %v", err)
			}
			if err != nil && row.view.Record.State != "" && !strings.Contains(err.Error(), "the reason") {
				t.Errorf("%v does not say what the machine waits for", err)
			}
		})
	}
}
