package hosted

import (
	"strings"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

const (
	inTurn    = "HostedCluster clusters/b comes first"
	noRevert  = "HostedCluster clusters/a has private types, and nobody asks for it to be moved back"
	hasPaused = "HostedCluster clusters/a has annotation " + guards.PausedAnnotation
)

// locked are marks of a move that is under way.
func locked(marks map[string]any, direction guards.Direction) map[string]any {
	companion := guards.Companion{ID: guards.MigrationID("here", "20260228T235500Z", direction), Direction: direction, Stage: guards.Moving}
	return with(with(marks, guards.MigrationAnnotation, guards.MarkTrue), guards.CompanionAnnotation, companion.Text())
}

func deleted(c map[string]any) map[string]any {
	metadata(c)["deletionTimestamp"] = "2026-02-01T00:00:00Z"
	return c
}

func TestPlan_refuses_what_would_be_in_vain_and_says_why(t *testing.T) {
	failed := with(legacyMarks, guards.FailedAnnotation, "scale-up-timeout")
	for name, c := range map[string]struct {
		act  Act
		key  machine.Key
		of   map[string]any
		says string
	}{
		"one that is not there":                {Pause, "clusters/none", one("a", "", "", nil), "there is no HostedCluster clusters/none"},
		"a retry of what has not failed":       {Retry, "clusters/a", one("a", "Eligible", inTurn, legacyMarks), "no move of it has failed"},
		"a retry while it moves":               {Retry, "clusters/a", one("a", "Copying", "", locked(failed, guards.ToPrivate)), "it is locked"},
		"a retry of what is deleted":           {Retry, "clusters/a", deleted(one("a", "Failed", "", failed)), "it is being deleted"},
		"a revert of what has not moved":       {Revert, "clusters/a", one("a", "Eligible", inTurn, legacyMarks), "it is not on private types: old operator reconciles it"},
		"a revert of what nobody reconciles":   {Revert, "clusters/a", one("a", "", "", nil), "it is not on private types: nobody reconciles it"},
		"a revert while it moves":              {Revert, "clusters/a", one("a", "Copying", "", locked(privateMarks, guards.ToStandard)), "it is locked"},
		"a revert of what is deleted":          {Revert, "clusters/a", deleted(one("a", "Private", noRevert, privateMarks)), "it is being deleted"},
		"a revert after a failed one":          {Revert, "clusters/a", one("a", "Failed", "", with(privateMarks, guards.FailedAnnotation, "scale-up-timeout")), "a move of it has failed: scale-up-timeout"},
		"taking back a revert that has begun":  {Cancel, "clusters/a", one("a", "Copying", "", locked(with(privateMarks, guards.RevertAnnotation, ""), guards.ToStandard)), "the move back has begun"},
		"a lock that lacks its first half too": {Revert, "clusters/a", one("a", "Copying", "", with(privateMarks, guards.CompanionAnnotation, "spoilt")), "it is locked"},
	} {
		t.Run(name, func(t *testing.T) {
			_, seen := look(t, world(nil, c.of))
			if _, err := seen.Plan(c.act, c.key); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "next: ") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestPlan_refuses_a_revert_once_the_old_operator_is_not_kept(t *testing.T) {
	_, seen := look(t, world(nil, one("a", "Private", noRevert, privateMarks)))
	seen.Programme.OldOperator = "Removed"
	if _, err := seen.Plan(Revert, "clusters/a"); err == nil || !strings.Contains(err.Error(), "the old operator is not kept any more") {
		t.Errorf("it says %v", err)
	}
}

func TestPlan_refuses_to_pause_a_programme_that_is_not_enabled(t *testing.T) {
	m := world(nil, one("a", "Eligible", inTurn, legacyMarks))
	delete(m.objects, programmePath)
	_, seen := look(t, m)
	if _, err := seen.Plan(Pause, ""); err == nil || !strings.Contains(err.Error(), "there is no ConfigMap ops/capstan-private-capi") {
		t.Errorf("it says %v", err)
	}
}

func TestPlan_does_nothing_twice(t *testing.T) {
	paused := with(legacyMarks, guards.PausedAnnotation, "")
	for name, c := range map[string]struct {
		act  Act
		key  machine.Key
		data map[string]any
		of   map[string]any
	}{
		"a pause":                   {Pause, "clusters/a", nil, one("a", "Eligible", hasPaused, paused)},
		"the end of none":           {Resume, "clusters/a", nil, one("a", "Eligible", inTurn, legacyMarks)},
		"a pause of all":            {Pause, "", map[string]any{"paused": "true"}, one("a", "Eligible", "", legacyMarks)},
		"the end of none of all":    {Resume, "", map[string]any{"paused": "no"}, one("a", "Eligible", "", legacyMarks)},
		"a revert":                  {Revert, "clusters/a", nil, one("a", "Private", "", with(privateMarks, guards.RevertAnnotation, ""))},
		"taking back what is asked": {Cancel, "clusters/a", nil, one("a", "Private", noRevert, privateMarks)},
	} {
		t.Run(name, func(t *testing.T) {
			_, seen := look(t, world(c.data, c.of))
			if plan, err := seen.Plan(c.act, c.key); err != nil || plan.Nothing == "" {
				t.Errorf("%+v, %v", plan, err)
			}
		})
	}
}

// acts are those that can be done, with what is written, what the operator says then, and the command that takes it back.
var acts = map[string]struct {
	act         Act
	key         machine.Key
	data        map[string]any
	of          map[string]any
	patch, undo string
	state, says string
}{
	"a pause": {
		Pause, "clusters/a", nil, one("a", "Eligible", inTurn, legacyMarks),
		`{"metadata":{"annotations":{"capstan.openshift.io/private-capi-paused":"true"},"resourceVersion":"7"}}`, "capstan private-capi resume clusters/a", "Eligible", hasPaused,
	},
	"its end": {
		Resume, "clusters/a", nil, one("a", "Eligible", hasPaused, with(legacyMarks, guards.PausedAnnotation, "")),
		`{"metadata":{"annotations":{"capstan.openshift.io/private-capi-paused":null},"resourceVersion":"7"}}`, "capstan private-capi pause clusters/a", "Eligible", inTurn,
	},
	"a pause of all": {
		Pause, "",
		map[string]any{"retention": "72h"},
		one("a", "Eligible", inTurn, legacyMarks),
		`{"data":{"paused":"true"},"metadata":{"resourceVersion":"3"}}`, "capstan private-capi resume", "Eligible", "the programme is paused by ConfigMap capstan-private-capi",
	},
	"its end for all": {
		Resume, "",
		map[string]any{"paused": "true"},
		one("a", "Eligible", "the programme is paused by ConfigMap capstan-private-capi", legacyMarks),
		`{"data":{"paused":null},"metadata":{"resourceVersion":"3"}}`, "capstan private-capi pause", "Checking", "",
	},
	"a retry": {
		Retry, "clusters/a", nil, one("a", "Failed", "", with(legacyMarks, guards.FailedAnnotation, "scale-up-timeout")),
		`{"metadata":{"annotations":{"hypershift.openshift.io/migration-failed":null},"resourceVersion":"7"}}`, "capstan private-capi pause clusters/a", "Classifying", "",
	},
	"a revert": {
		Revert, "clusters/a", nil, one("a", "Private", noRevert, privateMarks),
		`{"metadata":{"annotations":{"capstan.openshift.io/private-capi-revert":"true"},"resourceVersion":"7"}}`, "capstan private-capi revert --cancel clusters/a", "Private", inTurn,
	},
	"its taking back": {
		Cancel, "clusters/a", nil, one("a", "Private", inTurn, with(privateMarks, guards.RevertAnnotation, "")),
		`{"metadata":{"annotations":{"capstan.openshift.io/private-capi-revert":null},"resourceVersion":"7"}}`, "capstan private-capi revert clusters/a", "Private", noRevert,
	},
}

func TestPlan_is_tried_written_once_and_heard_by_the_operator(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			m := world(a.data, a.of)
			m.answers = func(objects map[string]map[string]any) { setSays(objects[pathOf("a")], a.state, a.says) }
			c, seen := look(t, m)
			plan, err := seen.Plan(a.act, a.key)
			if err != nil || plan.Nothing != "" || plan.Unheard != "" || plan.Undo != a.undo {
				t.Fatalf("%+v, %v", plan, err)
			}
			if heard, err := plan.heard(seen.Clusters); heard || err != nil {
				t.Errorf("it is heard before it is written: %v", err)
			}
			if err := c.Write(t.Context(), plan, true); err != nil {
				t.Fatal(err)
			}
			if err := c.Write(t.Context(), plan, false); err != nil {
				t.Fatal(err)
			}
			if len(m.patches) != 2 || m.patches[0] != "All"+a.patch || m.patches[1] != a.patch {
				t.Errorf("it has written %q", m.patches)
			}
			if says, err := c.Wait(t.Context(), plan, time.Minute); err != nil || a.key != "" && !strings.HasSuffix(says, a.says) {
				t.Errorf("it hears %q, %v", says, err)
			}
		})
	}
}

func TestWrite_goes_on_over_what_others_wrote_unless_that_changes_the_plan(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile map[string]any
		says      string
	}{
		"its status was written":       {one("a", "Eligible", "HostedCluster clusters/c comes first", legacyMarks), ""},
		"somebody paused it":           {one("a", "Eligible", inTurn, with(legacyMarks, guards.PausedAnnotation, "")), "nothing was written"},
		"its move began":               {one("a", "Locking", "", locked(legacyMarks, guards.ToPrivate)), "nothing was written"},
		"it was replaced by one alike": {one("a", "", "", nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := world(nil, one("a", "Eligible", inTurn, legacyMarks))
			cluster, seen := look(t, m)
			plan, err := seen.Plan(Pause, "clusters/a")
			if err != nil {
				t.Fatal(err)
			}
			metadata(c.meanwhile)["resourceVersion"] = "8"
			m.objects[pathOf("a")] = c.meanwhile
			err = cluster.Write(t.Context(), plan, false)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestWrite_gives_up_on_what_is_written_again_and_again(t *testing.T) {
	m := world(nil, one("a", "Eligible", inTurn, legacyMarks))
	c, seen := look(t, m)
	plan, err := seen.Plan(Pause, "clusters/a")
	if err != nil {
		t.Fatal(err)
	}
	m.stale = true
	if err := c.Write(t.Context(), plan, false); err == nil || len(m.patches) != triesToWrite {
		t.Errorf("after %d tries it says %v", len(m.patches), err)
	}
}

func TestWait_says_why_the_operator_will_not(t *testing.T) {
	m := world(nil, one("a", "Private", noRevert, privateMarks))
	m.answers = func(objects map[string]map[string]any) {
		setSays(objects[pathOf("a")], "Private", "the old operator is not kept any more, so HostedCluster clusters/a cannot be moved back")
	}
	c, seen := look(t, m)
	plan, err := seen.Plan(Revert, "clusters/a")
	if err == nil {
		err = c.Write(t.Context(), plan, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(t.Context(), plan, time.Minute); err == nil || !strings.Contains(err.Error(), "take it back with capstan private-capi revert --cancel clusters/a") {
		t.Errorf("it says %v", err)
	}
}

func TestWait_says_that_no_operator_runs(t *testing.T) {
	c, seen := look(t, world(nil, one("a", "Eligible", inTurn, legacyMarks)))
	plan, err := seen.Plan(Pause, "clusters/a")
	if err == nil {
		err = c.Write(t.Context(), plan, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(t.Context(), plan, time.Nanosecond); err == nil || !strings.Contains(err.Error(), "no operator runs") {
		t.Errorf("it says %v", err)
	}
}

func TestPlan_says_where_the_operator_has_nothing_to_say(t *testing.T) {
	for name, c := range map[string]struct {
		act  Act
		key  machine.Key
		of   map[string]any
		says string
	}{
		"nobody tells of it":   {Pause, "clusters/a", one("a", "", "", legacyMarks), "no operator tells of it"},
		"it moves":             {Pause, "clusters/a", one("a", "Copying", "", locked(legacyMarks, guards.ToPrivate)), "a move of it is under way"},
		"it has moved":         {Pause, "clusters/a", one("a", "Private", noRevert, privateMarks), "it is Private"},
		"it has failed":        {Pause, "clusters/a", one("a", "Failed", "", with(legacyMarks, guards.FailedAnnotation, "reverted")), "it is Failed"},
		"none waits its turn":  {Pause, "", one("a", "Private", noRevert, privateMarks), "no HostedCluster waits for its turn"},
		"it is paused by name": {Pause, "", one("a", "Eligible", hasPaused, with(legacyMarks, guards.PausedAnnotation, "")), "no HostedCluster waits for its turn"},
	} {
		t.Run(name, func(t *testing.T) {
			_, seen := look(t, world(nil, c.of))
			if plan, err := seen.Plan(c.act, c.key); err != nil || !strings.Contains(plan.Unheard, c.says) {
				t.Errorf("%+v, %v", plan, err)
			}
		})
	}
}

func TestPause_of_all_is_heard_where_a_move_has_begun_or_its_HostedCluster_is_gone(t *testing.T) {
	_, seen := look(t, world(nil, one("a", "Eligible", inTurn, legacyMarks), one("b", "Eligible", "HostedCluster clusters/b is next", legacyMarks)))
	plan, err := seen.Plan(Pause, "")
	if err != nil || len(plan.expects) != 2 {
		t.Fatalf("%+v, %v", plan, err)
	}
	_, seen = look(t, world(nil, one("a", "Locking", "", locked(legacyMarks, guards.ToPrivate))))
	if heard, err := plan.heard(seen.Clusters); !heard || err != nil {
		t.Errorf("it is not heard: %v", err)
	}
}
