package support

import (
	"path/filepath"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
	"github.com/capstan-capi/capstan/controllers/view"
)

// sourceOf is an archive of parts, of which an empty one is missing.
func sourceOf(t *testing.T, parts map[string]string) *Source {
	t.Helper()
	b := archive.NewBuilder(noon, "v1")
	for name, text := range parts {
		if text == "" {
			b.Miss(name, "not allowed to see it", "see it")
			continue
		}
		b.Add(name, []byte(text))
	}
	file := filepath.Join(t.TempDir(), "made.tar.gz")
	if err := b.Create(file); err != nil {
		t.Fatal(err)
	}
	source, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestSource_is_read_as_the_cluster_is(t *testing.T) {
	s := sourceOf(t, map[string]string{
		clusterAPIPart: `{"metadata":{"name":"cluster"},"status":{"currentRevision":"r"}}`, operatorPart: "null\n",
		requirementsPart: `[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"status":{"crdName":"c"}},{"metadata":{"name":"c"}}]`,
		historyPart:      `{"format":1,"revisions":[{"number":3,"name":"r","result":"Installed"}]}`,
		recorderPart:     `{"at":"2026-01-01T12:00:00Z","kind":"object","object":"ConfigMap a/b"}` + "\n",
	})
	api, operator, r := &operatorv1alpha1.ClusterAPI{}, &configv1.ClusterOperator{}, &requirementsv1alpha1.CompatibilityRequirement{}
	if found, err := s.Get(t.Context(), clusterAPIs, "ClusterAPI", "", "cluster", api); !found || err != nil || api.Status.CurrentRevision != "r" {
		t.Errorf("ClusterAPI is read as %+v (%v)", api, err)
	}
	if found, err := s.Get(t.Context(), clusterOperators, "ClusterOperator", "", "cluster-api", operator); found || err != nil {
		t.Errorf("there is a ClusterOperator (%v)", err)
	}
	if found, err := s.Get(t.Context(), requirementKind, "CompatibilityRequirement", "", "b", r); !found || err != nil || r.Status.CRDName != "c" {
		t.Errorf("a requirement is read as %+v (%v)", r, err)
	}
	if found, err := s.Get(t.Context(), requirementKind, "CompatibilityRequirement", "", "d", r); found || err != nil {
		t.Errorf("there is a requirement d (%v)", err)
	}
	names, others, err := s.Names(t.Context(), view.Instances{Kind: requirementKind, Word: "CompatibilityRequirement"}, 2)
	if strings.Join(names, " ") != "a b" || others != 1 || err != nil {
		t.Errorf("the names are %q and %d others (%v)", names, others, err)
	}
	if known, err := s.History(); err != nil || len(known.Revisions) != 1 || known.Revisions[0].Number != 3 {
		t.Errorf("the history is read as %+v (%v)", known, err)
	}
	if log, err := s.Recorded(); err != nil || len(log) != 1 || !s.At().Equal(noon) {
		t.Errorf("%d entries at %s (%v)", len(log), s.At(), err)
	}
}

func TestSource_says_what_is_not_in_it_and_why(t *testing.T) {
	s := sourceOf(t, map[string]string{
		clusterAPIPart: "", operatorPart: `{"metadata":1}`, requirementsPart: "[" + strings.Repeat("{},", maxCommas+1) + "{}]", recorderPart: "nonsense", historyPart: "nonsense",
	})
	get := func(name string) error {
		_, err := s.Get(t.Context(), clusterOperators, "ClusterOperator", "", name, &configv1.ClusterOperator{})
		return err
	}
	_, noAPI := s.Get(t.Context(), clusterAPIs, "ClusterAPI", "", "cluster", &operatorv1alpha1.ClusterAPI{})
	_, _, noNames := s.Names(t.Context(), view.Instances{Kind: requirementKind, Word: "CompatibilityRequirement"}, 2)
	_, _, noKind := s.Names(t.Context(), view.Instances{Kind: pods, Word: "Pod"}, 2)
	_, noRecorder := s.Recorded()
	_, noHistory := s.History()
	_, noFile := Open(filepath.Join(t.TempDir(), "none"))
	for want, got := range map[string]error{
		"has the right to see it": noAPI, "ClusterOperator cluster-api in the archive": get("cluster-api"), "ClusterOperator other is in no archive": get("other"),
		"longer lists than any": noNames, "Pods are in no archive": noKind, "the flight recorder in the archive": noRecorder, "the history of revisions in the archive": noHistory, "name a file that `capstan support`": noFile,
	} {
		if got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("want %q, got %v", want, got)
		}
	}
}
