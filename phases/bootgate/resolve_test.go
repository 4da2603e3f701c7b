package bootgate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestResolve(t *testing.T) {
	const none = `{"resource":"machinesets","apiGroup":"machine.openshift.io","selection":{"mode":"None"}}`
	const partial = `{"resource":"machinesets","apiGroup":"machine.openshift.io","selection":{"mode":"Partial","partial":{"machineResourceSelector":{"matchLabels":{"boot":"new"}}}}}`
	for name, row := range map[string]struct {
		spec     string
		platform configv1.PlatformType
		want     string
	}{
		"no opinion on AWS":                      {`{}`, configv1.AWSPlatformType, "machinesets=All controlplanemachinesets=None"},
		"no opinion on GCP":                      {`{}`, configv1.GCPPlatformType, "machinesets=All controlplanemachinesets=None"},
		"no opinion on Azure":                    {`{}`, configv1.AzurePlatformType, "machinesets=All controlplanemachinesets=None"},
		"no opinion on vSphere":                  {`{}`, configv1.VSpherePlatformType, "machinesets=None controlplanemachinesets=None"},
		"no opinion without a platform":          {`{}`, "", "machinesets=None controlplanemachinesets=None"},
		"an empty list is None for all":          {`{"machineManagers":[]}`, configv1.AWSPlatformType, "machinesets=None controlplanemachinesets=None"},
		"null is no opinion":                     {`{"machineManagers":null}`, configv1.AWSPlatformType, "machinesets=All controlplanemachinesets=None"},
		"None for machinesets":                   {`{"machineManagers":[` + none + `]}`, configv1.AWSPlatformType, "machinesets=None controlplanemachinesets=None"},
		"an entry leaves the default of another": {`{"machineManagers":[{"resource":"controlplanemachinesets","apiGroup":"machine.openshift.io","selection":{"mode":"All"}}]}`, configv1.AWSPlatformType, "controlplanemachinesets=All machinesets=All"},
		"of another API group it is another's":   {`{"machineManagers":[{"resource":"machinesets","apiGroup":"example.com","selection":{"mode":"None"}}]}`, configv1.AWSPlatformType, "machinesets=None machinesets=All controlplanemachinesets=None"},
		"Partial keeps its selector":             {`{"machineManagers":[` + partial + `]}`, configv1.AWSPlatformType, "machinesets=Partial[boot=new] controlplanemachinesets=None"},
	} {
		t.Run(name, func(t *testing.T) {
			var spec operatorv1.ManagedBootImages
			if err := json.Unmarshal([]byte(row.spec), &spec); err != nil {
				t.Fatal(err)
			}
			before := spec.DeepCopy()
			resolved := Resolve(spec, row.platform)
			var got []string
			for _, m := range resolved.MachineManagers {
				text := string(m.Resource) + "=" + string(m.Selection.Mode)
				if m.Selection.Partial != nil {
					text += "[" + metav1.FormatLabelSelector(m.Selection.Partial.MachineResourceSelector) + "]"
				}
				got = append(got, text)
			}
			if text := strings.Join(got, " "); text != row.want {
				t.Errorf("it resolves to %s, want %s", text, row.want)
			}
			if diff := cmp.Diff(*before, spec); diff != "" {
				t.Errorf("the spec has changed: %s", diff)
			}
			if diff := cmp.Diff(resolved, Resolve(resolved, row.platform)); diff != "" {
				t.Errorf("what is resolved resolves to something else: %s", diff)
			}
		})
	}
}

func TestSelectionIn(t *testing.T) {
	entry := func(mode operatorv1.MachineManagerSelectorMode, partial *operatorv1.PartialSelector) operatorv1.ManagedBootImages {
		return operatorv1.ManagedBootImages{MachineManagers: []operatorv1.MachineManager{{
			Resource: operatorv1.MachineSets, APIGroup: operatorv1.MachineAPI, Selection: operatorv1.MachineManagerSelector{Mode: mode, Partial: partial},
		}}}
	}
	by := func(s metav1.LabelSelector) *operatorv1.PartialSelector {
		return &operatorv1.PartialSelector{MachineResourceSelector: &s}
	}
	for name, row := range map[string]struct {
		resolved         operatorv1.ManagedBootImages
		new, old, refuse bool
		err              string
	}{
		"nothing is said":         {resolved: operatorv1.ManagedBootImages{}},
		"All":                     {resolved: entry(operatorv1.All, nil), new: true, old: true},
		"None":                    {resolved: entry(operatorv1.None, nil), refuse: true},
		"Partial":                 {resolved: entry(operatorv1.Partial, by(metav1.LabelSelector{MatchLabels: map[string]string{"boot": "new"}})), new: true},
		"Partial of nothing":      {resolved: entry(operatorv1.Partial, nil)},
		"Partial that is invalid": {resolved: entry(operatorv1.Partial, by(metav1.LabelSelector{MatchLabels: map[string]string{"-": "new"}})), err: "selector of machinesets"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SelectionIn(row.resolved, operatorv1.MachineSets)
			check(t, got, err, row.new, row.old, row.refuse, row.err)
		})
	}
}

func TestSelectionBy(t *testing.T) {
	for name, row := range map[string]struct {
		said             map[string]string
		new, old, refuse bool
		err              string
	}{
		"absent is None, but refuses no twin": {said: nil},
		"All":                                 {said: map[string]string{MachineSetsAnnotation: " All "}, new: true, old: true},
		"None":                                {said: map[string]string{MachineSetsAnnotation: "None"}, refuse: true},
		"a selector":                          {said: map[string]string{MachineSetsAnnotation: "boot in (new, newer)"}, new: true},
		"one that is invalid":                 {said: map[string]string{MachineSetsAnnotation: "boot in new"}, err: "boot-images-machinesets: set it to All, None or a label selector"},
		"a word that is almost right":         {said: map[string]string{MachineSetsAnnotation: "all"}, err: `not to "all"`},
		"empty":                               {said: map[string]string{MachineSetsAnnotation: ""}, err: `not to ""`},
		"another resource":                    {said: map[string]string{MachineDeploymentsAnnotation: "All"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SelectionBy(row.said, MachineSetsAnnotation)
			check(t, got, err, row.new, row.old, row.refuse, row.err)
		})
	}
}

func check(t *testing.T, got Selection, err error, selectsNew, selectsOld, refuses bool, says string) {
	t.Helper()
	if says != "" {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	} else if err != nil {
		t.Error(err)
	}
	if got.Selects(map[string]string{"boot": "new"}) != selectsNew || got.Selects(map[string]string{"boot": "old"}) != selectsOld || got.RefusesTwins() != refuses {
		t.Errorf("it selects the new %v, the old %v, and refuses twins %v",
			got.Selects(map[string]string{"boot": "new"}), got.Selects(map[string]string{"boot": "old"}), got.RefusesTwins())
	}
}
