package explaining

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// look is one at a cluster in a state.
func look(t *testing.T, state machine.State) Look {
	t.Helper()
	plane := &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: "a", Labels: map[string]string{clusterv1.ClusterNameLabel: "the-cluster"},
	}}
	raw, err := json.Marshal(machine.Record{State: state, Since: now.Add(-time.Hour), CameFrom: "AwaitingAPI"})
	if err != nil {
		t.Fatal(err)
	}
	plane.Status.State, plane.Status.Machine = string(state), runtime.RawExtension{Raw: raw}
	return Look{Plane: plane}
}

func written(t *testing.T, e Explanation) string {
	t.Helper()
	var out bytes.Buffer
	if err := e.Write(&out, now); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestExplain_has_a_next_step_for_every_state_of_the_table(t *testing.T) {
	for _, state := range table.States {
		said := look(t, state.Name).Explain(false).Next
		if said == "" || strings.Contains(said, "NAMESPACE") || strings.Contains(said, "CLUSTER") || regexp.MustCompile(`\bNAME\b`).MatchString(said) {
			t.Errorf("%s: next is %q", state.Name, said)
		}
		// Other groups have machines and clusters, too, and kubectl takes the first group by name.
		if bare := regexp.MustCompile(`kubectl [^` + "`" + `]*[ ,](machines?|clusters?)[ ,]`).FindString(said); bare != "" {
			t.Errorf("%s: %q may be about another kind", state.Name, bare)
		}
		for _, page := range regexp.MustCompile(`docs/[\w/]+\.md`).FindAllString(said, -1) {
			if _, err := os.Stat("../../../" + page); err != nil {
				t.Errorf("%s: %v", state.Name, err)
			}
		}
	}
	for state := range advice {
		if _, known := table.State(state); !known && state != "" {
			t.Errorf("the table has no state %s", state)
		}
	}
}

func TestExplain_without_a_state_says_that_nobody_looks(t *testing.T) {
	e := Look{Plane: &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"}}}.Explain(true)
	if text := written(t, e); !strings.Contains(text, "OpenShiftControlPlane fleet/a: no state yet\n") || !strings.Contains(text, "--field-selector metadata.name=openshift-install-controller-manager") {
		t.Errorf("it says %s", text)
	}
}

func TestExplain_goes_by_the_status_where_the_record_cannot_be_read(t *testing.T) {
	l := look(t, "AwaitingAPI")
	terminal, since := true, metav1.NewTime(now.Add(-2*time.Minute))
	l.Plane.Status.Machine = runtime.RawExtension{Raw: []byte(`"spoilt"`)}
	l.Plane.Status.StateStatus.Since, l.Plane.Status.Waits = &since, "no answer"
	l.Plane.Status.LastFailure = &v1alpha1.Failure{Message: "refused", Since: since, Terminal: &terminal}
	l.Plane.Status.Deadline = &v1alpha1.Deadline{At: metav1.NewTime(now.Add(time.Minute)), To: "Failed"}
	text := written(t, l.Explain(false))
	for _, want := range []string{
		"AwaitingAPI since 2026-01-02 03:02:05Z (2m00s)", "It says: no answer", "Its work fails since 2026-01-02 03:02:05Z (2m00s): refused",
		"Unless it goes on: Failed in 1m00s (2026-01-02 03:05:05Z)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

func TestExplain_fits_a_screen_whatever_there_is(t *testing.T) {
	l := look(t, "Failed")
	long := strings.Repeat("x", 5000)
	for i := range 100 {
		l.Machines = append(l.Machines, clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", i)},
			Status:     clusterv1.MachineStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Message: long}}},
		})
		l.Plane.Status.Conditions = append(l.Plane.Status.Conditions, metav1.Condition{Type: fmt.Sprintf("T%d", i), Status: metav1.ConditionFalse, Message: long})
	}
	e := l.Explain(false)
	text := written(t, e)
	if count := strings.Count(text, "\n"); count > 40 || len(text) > 8000 {
		t.Errorf("it has %d lines and %d bytes", count, len(text))
	}
	if len(e.Machines) != 100 || len(e.Amiss) != 100 {
		t.Errorf("the JSON has %d machines and %d conditions", len(e.Machines), len(e.Amiss))
	}
	if !strings.Contains(text, "… 92 more, see -o json") {
		t.Errorf("it does not say that there are more:\n%s", text)
	}
}
