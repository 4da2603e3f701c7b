package disarm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
)

// heldFor is a configuration with one entry, which was disarmed for a time before.
func heldFor(name, policy string, left time.Duration) *unstructured.Unstructured {
	c := configuration("ValidatingWebhookConfiguration", name, "true", policy)
	c.SetAnnotations(map[string]string{Until: time.Now().Add(left).UTC().Format(time.RFC3339)})
	return c
}

func textOf(t *testing.T, p Plan) string {
	t.Helper()
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestDisarm_that_could_write_nothing_tells_of_nothing_done_and_of_no_hold(t *testing.T) {
	for name, refused := range map[string]error{
		"refused":          errors.New("forbidden"),
		"its time is over": fmt.Errorf("asking the API server: %w", context.DeadlineExceeded),
	} {
		c, client := cluster(configuration("ValidatingWebhookConfiguration", "capstan-crds", "true", "Fail"))
		client.PrependReactor("patch", "*", func(k8stesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
		until := time.Now().Add(time.Hour)
		plan, err := c.Disarm(t.Context(), true, &until)
		text := textOf(t, plan)
		if err == nil || plan.Done || !plan.Until.IsZero() || len(plan.Entries) > 0 || len(plan.Refused) != 1 || strings.Contains(text, "before") {
			t.Errorf("%s: the plan is %+v, the error %v, and told is %s", name, plan, err, text)
		}
		if !strings.Contains(text, "webhook 0.test, could not be set to Ignore") {
			t.Errorf("%s: it does not name what was not done: %s", name, text)
		}
	}
}

func TestDisarm_for_no_time_sets_nothing_to_Ignore(t *testing.T) {
	for name, left := range map[string]time.Duration{"before its end": time.Minute, "after its end": -time.Minute} {
		c, client := cluster(heldFor("capstan-crds", "Fail", left), configuration("ValidatingWebhookConfiguration", "other", "true", "Fail"))
		plan, err := c.Disarm(t.Context(), true, &time.Time{})
		if err != nil || len(plan.Entries) > 0 || !plan.Done {
			t.Errorf("%s: the plan is %+v, the error %v", name, plan, err)
		}
		if got := policies(t, client, "capstan-crds") + policies(t, client, "other"); got != "FailFail" {
			t.Errorf("%s: the entries are %s", name, got)
		}
		if again, err := c.Disarm(t.Context(), false, &time.Time{}); err != nil || !again.Nothing() {
			t.Errorf("%s: a second time the plan is %+v, the error %v", name, again, err)
		}
	}
}

func TestDisarm_tells_of_holds_that_were_there(t *testing.T) {
	quarter := time.Now().Add(15 * time.Minute)
	for name, row := range map[string]struct {
		there     []runtime.Object
		until     *time.Time
		says, not string
		held      int
	}{
		"a longer one is replaced":        {there: []runtime.Object{heldFor("a", "Ignore", 4*time.Hour)}, until: &quarter, says: "the place of the time that was said before for ValidatingWebhookConfiguration a", held: 1},
		"one of two is held":              {there: []runtime.Object{heldFor("a", "Fail", time.Hour), configuration("ValidatingWebhookConfiguration", "b", "true", "Fail")}, says: "ValidatingWebhookConfiguration a is not set back before", not: "none of them", held: 1},
		"both are held":                   {there: []runtime.Object{heldFor("a", "Fail", time.Hour), heldFor("b", "Fail", 2*time.Hour)}, says: "none of them back before", held: 2},
		"further than the operator heeds": {there: []runtime.Object{heldFor("a", "Fail", 100*24*time.Hour)}, says: "is to be set to Ignore", not: "before"},
	} {
		c, _ := cluster(row.there...)
		plan, err := c.Disarm(t.Context(), false, row.until)
		text := textOf(t, plan)
		if err != nil || !strings.Contains(text, row.says) || row.not != "" && strings.Contains(text, row.not) || plan.Held != row.held {
			t.Errorf("%s: the plan is %+v, the error %v, and told is %s", name, plan, err, text)
		}
	}
}
