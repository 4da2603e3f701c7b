package bootimage

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

func TestForgetAttempts_of_what_is_opted_out_and_of_nothing_else(t *testing.T) {
	for name, row := range map[string]struct {
		enrolment guards.Enrolment
		forgotten bool
	}{
		"it is opted out":               {guards.Enrolment{Known: true}, true},
		"it is enrolled":                {guards.Enrolment{Known: true, Is: true}, false},
		"nobody can tell whether it is": {guards.Enrolment{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, kept := newCounter(), &noted{}
			c.pass.Notes = kept
			c.attempt(t, "a")
			kept.note = c.pass.seen
			c.pass.facts.Enrolment = row.enrolment
			if _, err := ForgetAttempts.Run(t.Context(), c.pass); err != nil {
				t.Fatal(err)
			}
			if got := len(kept.note) == 0; got != row.forgotten || got != (c.pass.made("a") == 0) {
				t.Errorf("stored is %s, and %d attempts count", kept.note, c.pass.made("a"))
			}
		})
	}
}

// Attempts at what went while no operator ran are dropped at the start of the next one, once a day has passed.
func TestForget_drops_attempts_at_what_is_gone_after_a_day(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "capi", Name: "there"}}
	gone := KeyOf(golden.CAPIMachineSets, "gone")
	for name, row := range map[string]struct {
		key     machine.Key
		after   time.Duration
		lacking bool
		dropped bool
	}{
		"a day after":                          {key: gone, after: 25 * time.Hour, dropped: true},
		"within a day":                         {key: gone, after: 23 * time.Hour},
		"its kind is not served":               {key: gone, after: 25 * time.Hour, lacking: true},
		"its kind is not looked at":            {key: KeyOf(golden.MachineSets, "gone"), after: 25 * time.Hour},
		"a stub whose Secret is gone":          {key: stubKey(client.ObjectKey{Namespace: "capi", Name: "gone"}), after: 25 * time.Hour, dropped: true},
		"a stub whose Secret is there":         {key: stubKey(client.ObjectKeyFromObject(secret)), after: 25 * time.Hour},
		"a stub, while targets are not served": {key: stubKey(client.ObjectKey{Namespace: "capi", Name: "gone"}), after: 25 * time.Hour, lacking: true, dropped: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, kept := newCounter(), &noted{}
			c.attempt(t, "a")
			kept.note = c.pass.seen
			c.now = c.now.Add(row.after)
			p := &Phases{
				Client: fake.NewClientBuilder().WithObjects(secret.DeepCopy()).Build(), Board: bootboard.New(), Notes: kept, ClusterAPI: true,
				Now: c.pass.Now, Served: func(golden.Kind) bool { return !row.lacking },
			}
			if err := p.forgetGone(t.Context(), row.key); err != nil {
				t.Fatal(err)
			}
			if got := len(kept.note) == 0; got != row.dropped {
				t.Errorf("stored is %s", kept.note)
			}
			if worth := p.Worth(c.pass.seen); worth && row.dropped {
				t.Error("it is worth keeping")
			}
		})
	}
}

func TestExists_what_cannot_be_looked_at_is_not_gone(t *testing.T) {
	p := &Phases{ClusterAPI: true, Blind: func() string { return "forbidden" }}
	if is, err := p.Exists(t.Context(), KeyOf(golden.CAPIMachineSets, "a")); !is || err != nil {
		t.Errorf("it exists: %v, %v", is, err)
	}
	if _, _, err := p.Observe(t.Context(), KeyOf(golden.CAPIMachineSets, "a")); err != nil {
		return
	}
	t.Error("it is looked at")
}

// A set of Machine API is a twin to look at, and no target, for an operator of Cluster API alone.
func TestExists_no_target_is_of_an_API_that_is_somebody_elses(t *testing.T) {
	p := &Phases{ClusterAPI: true, Blind: func() string { return "" }}
	if is, err := p.Exists(t.Context(), KeyOf(golden.MachineSets, "a")); is || err != nil {
		t.Errorf("it exists: %v, %v", is, err)
	}
}
