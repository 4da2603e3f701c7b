package bootimage

import (
	"cmp"
	"encoding/json"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
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

// The attempts at a stub are those of all that start from it: who opts one of them out asks for no more at the others.
func TestForgetAttempts_at_a_stub_once_nothing_that_starts_from_it_is_enrolled(t *testing.T) {
	original, copied := client.ObjectKey{Namespace: MachineAPINamespace, Name: "user-data"}, client.ObjectKey{Namespace: capi, Name: "user-data"}
	a, b := KeyOf(golden.MachineSets, "a"), KeyOf(golden.MachineSets, "b")
	for name, row := range map[string]struct {
		enrolled selects
		others   []string
		change   func(*cluster)
		of       machine.Key
		at       client.ObjectKey
		kept     bool
		again    bool
	}{
		"nothing is":                        {enrolled: selects{"set": "none"}},
		"another set is":                    {enrolled: selects{"set": "b"}, kept: true},
		"itself is":                         {enrolled: selects{"set": "a"}, kept: true},
		"one that starts from the copy is":  {enrolled: selects{"set": "c"}, others: []string{shop, ofCAPI("MachineSet", "c", "none"), secretIn(capi, oldStub)}, kept: true},
		"the copy has them, and nothing is": {enrolled: selects{"set": "none"}, others: []string{shop, ofCAPI("MachineSet", "c", "none"), secretIn(capi, oldStub)}, of: KeyOf(golden.CAPIMachineSets, "c")},
		"those at the copy itself":          {enrolled: selects{"set": "none"}, others: []string{shop, ofCAPI("MachineSet", "c", "none"), secretIn(capi, oldStub)}, of: KeyOf(golden.CAPIMachineSets, "c"), at: copied},
		"one is that has no say": {
			enrolled: selects{"set": "b"}, change: func(c *cluster) {
				c.edits(onAWS("b", "ami-old"), `{status: {authoritativeAPI: ClusterAPI}}`)
				c.stands()
			},
		},
		"another one is by its newest labels": {
			enrolled: selects{"set": "x"}, change: func(c *cluster) { c.edits(onAWS("b", "ami-old"), `{metadata: {labels: {set: x}}}`) }, kept: true,
		},
		"one has not been looked at yet": {
			enrolled: selects{"set": "none"}, change: func(c *cluster) { c.Board.Gone(b) }, kept: true, again: true,
		},
	} {
		for own, note := range map[string]string{"": "", ", with attempts of its own": `{"n":1}`} {
			t.Run(name+own, func(t *testing.T) {
				c := newCluster(t, configv1.AWSPlatformType, append(row.others, onAWS("a", "ami-old"), onAWS("b", "ami-old"), secretIn(MachineAPINamespace, oldStub))...)
				c.enrols(row.enrolled, c.Board.Verdict())
				c.stands()
				if row.change != nil {
					row.change(c)
				}
				key := stubKey(cmp.Or(row.at, original))
				c.kept.by[key] = json.RawMessage(`{"n":3}`)
				if note != "" {
					c.kept.by[cmp.Or(row.of, a)] = json.RawMessage(note)
				}
				pass, _ := c.sees(cmp.Or(row.of, a))
				result, err := ForgetAttempts.Run(t.Context(), pass)
				if err != nil || (result.LookAgain > 0) != row.again {
					t.Errorf("it ends with %v, and is looked at again after %s", err, result.LookAgain)
				}
				if kept := len(c.kept.by[key]) > 0; kept != row.kept {
					t.Errorf("stored is %q", c.kept.by)
				}
			})
		}
	}
}
