package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"gotest.tools/v3/golden"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/controllers/clusterapi"
	"github.com/capstan-capi/capstan/controllers/view"
)

// now is when the cluster is looked at: 3 minutes and 12 seconds after it began to apply.
var now = time.Date(2026, 1, 1, 12, 3, 12, 0, time.UTC)

const record = `{"state":"Applying","since":"2026-01-01T12:00:00Z","lastEvent":"RevisionPublished","cameFrom":"Planning",
"reason":"wave 3/4 (workloads of aws) waits for Deployment a/b: 0/1 updated replicas available",
"deadline":{"at":"2026-01-01T12:05:00Z","on":"ProgressStalled","to":"Degraded"},"progress":{"done":3,"since":"2026-01-01T12:00:00Z"},
"failure":{"message":"the API server is slow","since":"2026-01-01T12:02:00Z"},"entry":{"done":0},
"transitions":[
{"from":"Planning","event":"NothingToDo","to":"Installed","at":"2025-12-01T00:00:00Z","seconds":1},
{"from":"Installed","event":"ContentChanged","to":"Planning","at":"2026-01-01T11:59:58.5Z","seconds":2721598.5,"cause":"the inputs ask for content bbbbbbbb, revision 1 has aaaaaaaa"},
{"from":"Planning","event":"RevisionPublished","to":"Applying","at":"2026-01-01T12:00:00Z","seconds":1.5,"cause":"revision 2 has the planned content bbbbbbbb"}]}`

const detail = `{"waits":"Applying 4.22.6-bbbbbbbb-2 (3 of 5 objects): wave 3/4 (workloads of aws) waits for Deployment a/b: 0/1 updated replicas available, pod b-x2k is CrashLoopBackOff (exit 1, 4 restarts)",
"revisions":[{"name":"4.22.5-aaaaaaaa-1","number":1,"contentID":"aaaaaaaaaaaa","current":true},
{"name":"4.22.6-bbbbbbbb-2","number":2,"contentID":"bbbbbbbbbbbb","waves":[
{"number":1,"name":"crds","component":"core","done":2,"total":2},{"number":2,"name":"config","component":"infrastructure-aws","done":1,"total":1},
{"number":3,"name":"workloads","component":"infrastructure-aws","done":0,"total":1},{"number":4,"name":"webhooks","component":"infrastructure-aws","done":0,"total":1}]}],
"retained":[{"object":"CustomResourceDefinition old.example.com","why":"holds 3 instances","count":3}],
"collisions":[{"object":"ConfigMap a/taken","holder":"helm"}],
"refused":[{"object":"CustomResourceDefinition new.example.com","why":"version v1alpha1 is stored and would be dropped"}],
"contested":[{"object":"Deployment a/b","field":".spec.replicas","managers":["scaler"],"by":"field manager scaler","times":5}],
"findings":["ValidatingAdmissionPolicy a: its expressions do not fit the types"],
"strays":["ConfigMap a/stray (revision 9)"],"straysElsewhere":[{"kind":"ConfigMap","count":98},{"kind":"Deployment.apps","count":2}],"strayCount":231,
"images":[{"component":"core","reference":"registry/core@sha256:1","state":"Ready"},{"reference":"registry/aws@sha256:2","state":"Failed","message":"Network, next try at 12:04:00Z"}],
"moves":[{"event":"ContentChanged","to":"Planning","answer":"No","why":"revision 2 has the planned content bbbbbbbb"},
{"event":"FailureEstablished","to":"Degraded","answer":"No","why":"the API server is slow","at":"2026-01-01T12:07:00Z"},
{"event":"ProgressStalled","to":"Degraded","answer":"No","why":"the last progress was less than 5m ago","at":"2026-01-01T12:05:00Z"},
{"event":"RevisionApplied","to":"Pruning","answer":"Unknown","why":"not all kinds are watched yet"}]}`

// seen is what is seen of a cluster with this extension in the ClusterOperator's status.
func seen(extension string) View {
	api := operatorv1alpha1.ClusterAPI{Status: operatorv1alpha1.ClusterAPIStatus{
		CurrentRevision: "4.22.5-aaaaaaaa-1", DesiredRevision: "4.22.6-bbbbbbbb-2",
		Revisions: []operatorv1alpha1.ClusterAPIInstallerRevision{
			{Name: "4.22.5-aaaaaaaa-1", Revision: 1, ContentID: "aaaaaaaaaaaa"}, {Name: "4.22.6-bbbbbbbb-2", Revision: 2, ContentID: "bbbbbbbbbbbb"},
		},
	}}
	return lookAt(&api, &configv1.ClusterOperator{Status: configv1.ClusterOperatorStatus{
		Extension: runtime.RawExtension{Raw: []byte(extension)},
		Versions:  []configv1.OperandVersion{{Name: "operator", Version: "4.22.5"}},
		Conditions: []configv1.ClusterOperatorStatusCondition{
			{
				Type: "InstallerControllerProgressing", Status: "True", Reason: "EphemeralError", Message: "one\ntwo",
				LastTransitionTime: metav1.NewTime(now.Add(-90 * time.Minute)),
			},
			{
				Type: "Available", Status: "True", Reason: "AsExpected", Message: "revision 1 is installed",
				LastTransitionTime: metav1.NewTime(now.Add(-75 * time.Hour)),
			},
		},
	}})
}

// lookAt looks at a cluster of two objects, each of which may be nil.
func lookAt(api *operatorv1alpha1.ClusterAPI, operator *configv1.ClusterOperator) View {
	of := clusterapi.Part.View
	seen, err := of.Look(context.Background(), func(_ context.Context, _ schema.GroupVersionResource, _, _, _ string, into any) (bool, error) {
		switch into := into.(type) {
		case *operatorv1alpha1.ClusterAPI:
			if api != nil {
				*into = *api
			}
			return api != nil, nil
		case *configv1.ClusterOperator:
			if operator != nil {
				*into = *operator
			}
			return operator != nil, nil
		}
		return false, fmt.Errorf("asked for a %T", into)
	}, "")
	if err != nil {
		panic(err)
	}
	return View{Seen: seen, Table: of.Table}
}

func full() View { return seen(fmt.Sprintf(`{"clusterapi":%s,"clusterapiDetail":%s}`, record, detail)) }

func TestStatus_tells_everything_there_is_to_tell(t *testing.T) {
	var text bytes.Buffer
	if err := full().Status.Write(&text, now); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, text.String(), "status.txt")
	asJSON, err := json.MarshalIndent(full().Status, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, string(asJSON)+"\n", "status.json")
}

func TestStatus_says_what_is_missing(t *testing.T) {
	for name, row := range map[string]struct {
		seen View
		says []string
		code int
	}{
		"nothing at all": {lookAt(nil, nil), []string{"not known", "no operator has reported", "get pods", "Revisions: none"}, view.CodeOnItsWay},
		"no record":      {seen(``), []string{"not known", "holds no record", "4.22.6-bbbbbbbb-2"}, view.CodeOnItsWay},
		"damaged":        {seen(`{"clusterapi":"nonsense"}`), []string{"not known", "cannot be read", "another release's"}, view.CodeOnItsWay},
		"another state":  {seen(`{"clusterapi":{"state":"Dancing"}}`), []string{"not known", "there is no state Dancing"}, view.CodeOnItsWay},
		"no detail": {
			seen(`{"clusterapi":{"state":"Degraded","since":"2026-01-01T12:00:00Z","reason":"it is late","progress":{"since":"2026-01-01T12:00:00Z"}}}`),
			[]string{"Degraded since 2026-01-01 12:00:00Z (3m12s)", "it is late"},
			view.CodeLook,
		},
		"consent is awaited": {
			seen(`{"clusterapi":{"state":"Installed","since":"2026-01-01T12:00:00Z"},"clusterapiDetail":{"waits":"Installed 1: revision 2 would uninstall","uninstallConsent":"2"}}`),
			[]string{"Installed since", "revision 2 would uninstall"},
			view.CodeLook,
		},
		"damaged detail": {
			seen(`{"clusterapi":{"state":"Installed","since":"2026-01-01T12:00:00Z"},"clusterapiDetail":7}`),
			[]string{"Installed since", "beside its record cannot be read"},
			view.CodeDone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			status := row.seen.Status
			if err := status.Write(&text, now); err != nil {
				t.Fatal(err)
			}
			for _, want := range row.says {
				if !strings.Contains(text.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, text.String())
				}
			}
			if got := status.Code(); got != row.code {
				t.Errorf("the exit code is %d, want %d", got, row.code)
			}
		})
	}
}

func TestExplain_tells_where_the_cluster_is_and_what_each_guard_says(t *testing.T) {
	explanation, err := full().Explain()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := explanation.Write(&text, now); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, text.String(), "explain.txt")
	asJSON, err := json.MarshalIndent(explanation, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, string(asJSON)+"\n", "explain.json")
}

func TestExplain_and_diagram_refuse_without_a_record(t *testing.T) {
	v := seen(`{}`)
	if _, err := v.Explain(); err == nil || !strings.Contains(err.Error(), "holds no record") {
		t.Errorf("explaining: %v", err)
	}
	if _, err := v.Diagram(); err == nil || !strings.Contains(err.Error(), "holds no record") {
		t.Errorf("drawing: %v", err)
	}
}

func TestExplain_says_that_the_work_still_fails_where_a_guard_cannot_tell_and_gives_no_reason(t *testing.T) {
	v := seen(`{"clusterapi":{"state":"Degraded","since":"2026-01-01T12:00:00Z","failure":{"message":"the registry is away","since":"2026-01-01T12:00:00Z"}},
		"clusterapiDetail":{"waits":"Degraded: the registry is away","moves":[{"event":"WorkSucceeded","to":"Planning","answer":"Unknown"},
		{"event":"InputChanged","to":"Planning","answer":"No"}]}}`)
	explanation, err := v.Explain()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := explanation.Write(&text, now); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "now   Unknown: the work still fails\n") || !strings.Contains(got, "now   No\n") || strings.Count(got, "the registry is away") != 1 {
		t.Errorf("got\n%s", got)
	}
}

func TestDiagram_draws_the_way_since_the_last_rest(t *testing.T) {
	got, err := full().Diagram()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Installed --> Planning: (1) ContentChanged", "Planning --> Applying: (2) RevisionPublished",
		"class Applying current", "class Planning visited", "class Installed visited",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, ") NothingToDo") {
		t.Errorf("what was before the last rest is drawn too:\n%s", got)
	}
}
