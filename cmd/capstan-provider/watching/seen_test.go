package watching

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// object is one with conditions, given as type, status and message.
func object(kind string, status map[string]any, conditions ...[3]string) *unstructured.Unstructured {
	var all []any
	for _, c := range conditions {
		all = append(all, map[string]any{"type": c[0], "status": c[1], "reason": "R", "message": c[2], "lastTransitionTime": "2026-01-02T03:04:05Z"})
	}
	if status == nil {
		status = map[string]any{}
	}
	status["conditions"] = all
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "a/v1", "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "b"}, "status": status,
	}}
}

func lines(changes []Change) (all []string) {
	for _, change := range changes {
		_, line, _ := strings.Cut(change.Line(), "  ")
		all = append(all, line)
	}
	return all
}

func same(t *testing.T, got []Change, want ...string) {
	t.Helper()
	if strings.Join(lines(got), "\n") != strings.Join(want, "\n") {
		t.Errorf("told is %q, want %q", lines(got), want)
	}
}

func TestSeen_tells_at_first_what_is_amiss_and_later_what_changes(t *testing.T) {
	s := newSeen()
	same(t, s.changes(object("Machine", nil, [3]string{"Ready", "False", "no"}, [3]string{"Paused", "False", ""}, [3]string{"UpToDate", "True", ""}), now),
		"Machine a  Ready False (R): no")
	same(t, s.changes(object("Machine", nil, [3]string{"Ready", "False", "no"}, [3]string{"Paused", "False", ""}, [3]string{"UpToDate", "True", ""}), now))
	same(t, s.changes(object("Machine", nil, [3]string{"Ready", "True", ""}, [3]string{"Paused", "True", ""}, [3]string{"UpToDate", "True", ""}), now),
		"Machine a  Paused True (R)", "Machine a  Ready True (R)")
	gone := object("Machine", nil)
	same(t, s.gone(gone, now), "Machine a  gone")
	same(t, s.gone(gone, now))
	same(t, s.changes(object("Machine", nil, [3]string{"Ready", "False", "again"}), now), "Machine a  Ready False (R): again")
}

func TestSeen_tells_the_state_with_what_it_waits_for_and_until_when(t *testing.T) {
	s := newSeen()
	status := func() map[string]any {
		return map[string]any{
			"state": "AwaitingAPI", "waits": "no answer", "deadline": map[string]any{"at": "2026-01-02T03:24:05Z", "to": "Failed"},
			"lastFailure": map[string]any{"message": "refused", "since": "2026-01-02T03:04:05Z"},
		}
	}
	want := "OpenShiftControlPlane a  AwaitingAPI: no answer; Failed at 2026-01-02 03:24:05Z unless it goes on; fails: refused"
	same(t, s.changes(object("OpenShiftControlPlane", status()), now), want)
	same(t, s.changes(object("OpenShiftControlPlane", status()), now))
	other := status()
	other["waits"] = "refused, once more"
	delete(other, "deadline")
	same(t, s.changes(object("OpenShiftControlPlane", other), now), "OpenShiftControlPlane a  AwaitingAPI: refused, once more")
}

func TestSeen_takes_whatever_stands_in_a_status(t *testing.T) {
	for name, status := range map[string]any{"a text": "x", "a list": []any{1}, "conditions that are none": map[string]any{"conditions": "x"}} {
		o := object("OpenShiftControlPlane", nil)
		o.Object["status"] = status
		if changes := newSeen().changes(o, now); len(changes) != 1 || changes[0].State == nil {
			t.Errorf("%s: told is %q", name, lines(changes))
		}
	}
}

func TestChange_is_one_line_that_no_terminal_obeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		for _, c := range []Change{
			{At: now, Object: text, State: &State{Name: text, Waits: text, Failure: text}},
			{At: now, Object: text, Condition: &Condition{Type: text, Reason: text, Message: text}},
			{At: now, Object: text, Gone: true},
			{At: now, Problem: text},
		} {
			if strings.ContainsAny(c.Line(), "\n\r\x1b\u009b\u202e") {
				t.Fatalf("it is %q", c.Line())
			}
		}
	})
}
