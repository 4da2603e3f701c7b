package asking

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// server is an API server that knows what the commands ask for.
type server struct {
	t  *testing.T
	mu sync.Mutex
	// text is the act that there is; report what the operator has published; lease the Lease, empty for none.
	text, report, lease string
	undated             bool
	// conflict refuses writes as those of an older copy, forbidden as an admission policy does.
	conflict  bool
	forbidden string
	patches   []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", noon.Format(http.TimeFormat))
	if s.undated {
		w.Header()["Date"] = nil
	}
	annotations, err := json.Marshal(map[string]string{acts.Annotation(acts.Pause): s.text})
	if err != nil {
		s.t.Error(err)
	}
	api := fmt.Sprintf(`{"apiVersion":"operator.openshift.io/v1alpha1","kind":"ClusterAPI","metadata":{"name":"cluster","resourceVersion":"7","annotations":%s}}`, annotations)
	switch asked := r.Method + " " + r.URL.Path; asked {
	case "POST /apis/authentication.k8s.io/v1/selfsubjectreviews":
		fmt.Fprint(w, `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview","status":{"userInfo":{"username":"anna"}}}`)
	case "GET /apis/operator.openshift.io/v1alpha1/clusterapis/cluster":
		fmt.Fprint(w, api)
	case "PATCH /apis/operator.openshift.io/v1alpha1/clusterapis/cluster":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			s.t.Error(err)
		}
		s.patches = append(s.patches, r.URL.Query().Get("dryRun")+" "+string(body))
		switch {
		case s.conflict:
			refuse(w, http.StatusConflict, "Conflict", "the object has been modified")
		case s.forbidden != "":
			refuse(w, http.StatusForbidden, "Forbidden", s.forbidden)
		default:
			fmt.Fprint(w, api)
		}
	case "GET /apis/config.openshift.io/v1/clusteroperators/cluster-api":
		fmt.Fprintf(w, `{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"cluster-api"},"status":{"extension":%s}}`, s.report)
	case "GET /apis/coordination.k8s.io/v1/namespaces/ops/leases/capstan-leader":
		if s.lease == "" {
			refuse(w, http.StatusNotFound, "NotFound", "there is none")
			return
		}
		fmt.Fprintf(w, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"capstan-leader"},"spec":%s}`, s.lease)
	default:
		s.t.Errorf("%s was asked for", asked)
	}
}

func refuse(w http.ResponseWriter, code int, reason, text string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"code":%d,"message":%q,"details":{"name":"cluster"}}`, reason, code, text)
}

// cluster is bound to a server.
func cluster(t *testing.T, s *server) *Cluster {
	t.Helper()
	s.t = t
	serving := httptest.NewServer(s)
	t.Cleanup(serving.Close)
	c, err := NewCluster(&rest.Config{Host: serving.URL}, "ops", "capstan-leader")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// report is what an operator publishes in a state, with acts.
func report(state, acts string) string {
	return fmt.Sprintf(`{"clusterapi":{"state":%q,"since":"2026-01-31T12:00:00Z","progress":{"done":0,"since":"2026-01-31T12:00:00Z"},"entry":{"done":0}},"clusterapiDetail":{"acts":[%s]}}`, state, acts)
}

const stands = `{"name":"pause","by":"anna","at":"2026-01-31T12:00:00Z","until":"2026-01-31T13:00:00Z","reason":"r"}`

func TestLook_takes_the_name_from_the_API_server_and_the_time_too(t *testing.T) {
	s := &server{text: "whatever"}
	looked, err := cluster(t, s).Look(t.Context(), acts.Pause)
	if err != nil || looked.By != "anna" || !looked.At.Equal(noon) || looked.Text != "whatever" {
		t.Errorf("got %+v (%v)", looked, err)
	}
	if _, err := cluster(t, &server{undated: true}).Look(t.Context(), acts.Pause); err == nil || !strings.Contains(err.Error(), "does not say what time it is") {
		t.Errorf("without a date: %v", err)
	}
}

func TestWrite_is_bound_to_what_was_looked_at_and_names_one_annotation(t *testing.T) {
	s := &server{}
	c := cluster(t, s)
	looked, err := c.Look(t.Context(), acts.Pause)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		text string
		try  bool
		want string
	}{
		{"by: anna", false, ` {"metadata":{"annotations":{"capi-operator.openshift.io/pause":"by: anna"},"resourceVersion":"7"}}`},
		{"", false, ` {"metadata":{"annotations":{"capi-operator.openshift.io/pause":null},"resourceVersion":"7"}}`},
		{"by: anna", true, `All {"metadata":{"annotations":{"capi-operator.openshift.io/pause":"by: anna"},"resourceVersion":"7"}}`},
	} {
		if err := c.Write(t.Context(), looked, acts.Pause, row.text, row.try); err != nil || s.patches[len(s.patches)-1] != row.want {
			t.Errorf("sent %s (%v)", s.patches[len(s.patches)-1], err)
		}
	}
	s.conflict = true
	if err := c.Write(t.Context(), looked, acts.Pause, "by: anna", false); err == nil || !strings.Contains(err.Error(), "was changed since it was looked at, and nothing was written") {
		t.Errorf("after a change of others: %v", err)
	}
	s.conflict, s.forbidden = false, "takes the verb pause"
	if err := c.Write(t.Context(), looked, acts.Pause, "by: anna", false); err == nil || !strings.Contains(err.Error(), "takes the verb pause") {
		t.Errorf("without the right: %v", err)
	}
}

func TestAgain_names_one_annotation_and_is_bound_to_nothing(t *testing.T) {
	s := &server{}
	c := cluster(t, s)
	for _, row := range []struct {
		try  bool
		want string
	}{
		{false, ` {"metadata":{"annotations":{"capi-operator.openshift.io/retry":"now"}}}`},
		{true, `All {"metadata":{"annotations":{"capi-operator.openshift.io/retry":"now"}}}`},
	} {
		if err := c.Again(t.Context(), "now", row.try); err != nil || s.patches[len(s.patches)-1] != row.want {
			t.Errorf("sent %s (%v)", s.patches[len(s.patches)-1], err)
		}
	}
}

func TestWait_is_over_when_the_operator_says_so_and_not_before(t *testing.T) {
	act := &acts.Act{Name: acts.Pause, By: "anna", At: noon, Until: noon.Add(time.Hour), Reason: "r"}
	held := fmt.Sprintf(`{"holderIdentity":"one","renewTime":%q}`, noon.Add(-10*time.Second).Format("2006-01-02T15:04:05.000000Z"))
	for name, row := range map[string]struct {
		report, lease string
		act           *acts.Act
		wrong         string
	}{
		"paused":                        {report("Paused", stands), held, act, ""},
		"void":                          {report("Installed", strings.Replace(stands, `"r"`, `"r","void":"it is from ahead"`, 1)), held, act, "the operator does not obey"},
		"seen, and not stored":          {report("Installed", stands), held, act, "one runs, and may not be able to write its report"},
		"paused by another act":         {report("Paused", strings.Replace(stands, "12:00", "11:00", 1)), held, act, "the operator has not said within"},
		"nobody holds the Lease":        {report("Installed", ""), `{}`, act, "no operator runs: nobody holds Lease ops/capstan-leader; what was written stands"},
		"there is no Lease":             {report("Installed", ""), "", act, "no operator runs, or it runs without Lease"},
		"the Lease is an old one":       {report("Installed", ""), `{"holderIdentity":"one","renewTime":"2026-01-31T11:00:00.000000Z"}`, act, "was renewed the last time at 2026-01-31 11:00:00Z"},
		"there is no report":            {"{}", "", act, "holds no record of the machine"},
		"nothing is paused any more":    {report("Installed", ""), held, nil, ""},
		"still paused, after the act":   {report("Paused", ""), held, nil, "the operator has not said within"},
		"a state of another operator's": {report("Elsewhere", ""), held, nil, "there is no state Elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, &server{report: row.report, lease: row.lease})
			if _, err := c.Look(t.Context(), acts.Pause); err != nil {
				t.Fatal(err)
			}
			timeout := 10 * time.Second
			if row.wrong != "" {
				timeout = time.Second
			}
			err := c.Wait(t.Context(), Asked{Name: acts.Pause, Act: row.act}, timeout)
			if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestConfirmed_of_objects_that_are_left_alone(t *testing.T) {
	act := acts.Act{Name: acts.LeaveAlone, By: "anna", At: noon}
	asked := Asked{Name: acts.LeaveAlone, Act: &act, Objects: []string{"Namespace a"}}
	seenAs := func(a guards.Act, left ...guards.LeftAlone) seen {
		return seen{record: machine.Record{State: "Installed"}, detail: phases.Detail{Acts: []guards.Act{a}, LeftAlone: left}}
	}
	stands := guards.Act{Name: acts.LeaveAlone, By: "anna", At: noon}
	void := stands
	void.Void = "it ended"
	for name, row := range map[string]struct {
		now   seen
		asked Asked
		done  bool
		wrong string
	}{
		"it stands":                         {seenAs(stands, guards.LeftAlone{Object: "Namespace a"}), asked, true, ""},
		"one that is named is nowhere":      {seenAs(stands, guards.LeftAlone{Object: "Namespace a", Nowhere: true}), asked, true, "neither the newest revision nor the one that is installed has Namespace a"},
		"one of before is nowhere by now":   {seenAs(stands, guards.LeftAlone{Object: "Namespace b", Nowhere: true}), asked, true, ""},
		"it is void":                        {seenAs(void), asked, false, "the operator does not obey"},
		"another one stands":                {seenAs(guards.Act{Name: acts.LeaveAlone, By: "anna", At: noon.Add(-time.Hour)}), asked, false, ""},
		"it is taken away, and stands yet":  {seenAs(stands), Asked{Name: acts.LeaveAlone}, false, ""},
		"it is taken away, a pause is left": {seenAs(guards.Act{Name: acts.Pause}), Asked{Name: acts.LeaveAlone}, true, ""},
		"it is taken away, nothing is told": {seen{}, Asked{Name: acts.LeaveAlone}, false, ""},
	} {
		done, err := confirmed(row.now, row.asked)
		if done != row.done || (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
}
