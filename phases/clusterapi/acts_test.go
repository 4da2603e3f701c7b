package clusterapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
)

const anHour = "by: anna\nat: 2026-01-31T12:00:00Z\nuntil: 2026-01-31T13:00:00Z\nreason: etcd is slow"

// acting is a pass over a ClusterAPI with annotations, at a moment.
func acting(live client.Reader, now time.Time, annotations map[string]string) *Pass {
	return &Pass{
		Phases: &Phases{Live: live, Now: func() time.Time { return now }, Log: logr.Discard()},
		world:  world{api: &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: Singleton, Annotations: annotations}}},
	}
}

func policies() client.Reader {
	return fake.NewClientBuilder().WithObjects(
		&admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: acts.Policy}},
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: acts.Policy}},
	).Build()
}

func TestReadActs(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		live        client.Reader
		now         time.Time
		annotations map[string]string
		stands      bool
		again       time.Duration
		told        string
	}{
		"a pause that stands":   {policies(), noon.Add(time.Minute), map[string]string{acts.Annotation(acts.Pause): anHour}, true, 59 * time.Minute, "pause by anna since 2026-01-31 12:00:00Z until 2026-01-31 13:00:00Z: etcd is slow"},
		"one without a policy":  {fake.NewClientBuilder().Build(), noon, map[string]string{acts.Annotation(acts.Pause): anHour}, true, time.Hour, "who it was is unproved"},
		"one that has ended":    {policies(), noon.Add(time.Hour), map[string]string{acts.Annotation(acts.Pause): anHour}, false, 0, "(ended)"},
		"one from ahead":        {policies(), noon.Add(-time.Hour), map[string]string{acts.Annotation(acts.Pause): anHour}, false, 59 * time.Minute, "more than a minute ahead"},
		"one that is none":      {policies(), noon, map[string]string{acts.Annotation(acts.Pause): "true"}, false, 0, "act pause is void: line 1"},
		"another act":           {policies(), noon, map[string]string{acts.Annotation(acts.LeaveAlone): anHour + "\nobject: ConfigMap a/b"}, false, time.Hour, "leave-alone of ConfigMap a/b by anna since 2026-01-31 12:00:00Z until 2026-01-31 13:00:00Z: etcd is slow"},
		"a consent by a number": {policies(), noon, map[string]string{acts.ConsentAct: "4"}, false, 0, "act consent-to-delete is void: line 1"},
		"nothing":               {policies(), noon, nil, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := acting(row.live, row.now, row.annotations)
			all := p.readActs(t.Context())
			if pause := pauseOf(all); pause.Stands != row.stands || p.lookAgain != row.again {
				t.Errorf("the pause is %+v, and is looked at again in %s", pause, p.lookAgain)
			}
			if text := strings.Join(guards.Texts(all), "\n"); !strings.Contains(text, row.told) || (text == "") != (row.told == "") {
				t.Errorf("told is %q", text)
			}
		})
	}
}

func TestReadActs_asks_for_the_policy_once_for_each_text(t *testing.T) {
	live := &counting{Reader: policies()}
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	annotations := map[string]string{acts.Annotation(acts.Pause): anHour, acts.Annotation(acts.Pin): anHour + "\nrevision: 4"}
	p := acting(live, noon, annotations)
	for range 3 {
		p.readActs(t.Context())
	}
	if live.reads != 4 {
		t.Errorf("it has asked %d times for two policies and two texts", live.reads)
	}
	delete(annotations, acts.Annotation(acts.Pin))
	if p.readActs(t.Context()); len(p.memory.proved) != 1 {
		t.Errorf("it remembers %v", p.memory.proved)
	}
}

func TestActEvents(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	stands := guards.Act{Name: "pause", By: "anna", At: noon, Until: noon.Add(time.Hour), Reason: "r"}
	ended, void := stands, guards.Act{Name: "pause", Void: "line 1"}
	ended.Void, ended.Ended = "it ended", true
	for name, row := range map[string]struct {
		before, now []guards.Act
		want        []string
	}{
		"it comes":                 {nil, []guards.Act{stands}, []string{"false ActStands"}},
		"it stays":                 {[]guards.Act{stands}, []guards.Act{stands}, nil},
		"its time is over":         {[]guards.Act{stands}, []guards.Act{ended}, []string{"false ActEnded"}},
		"it is taken back":         {[]guards.Act{stands}, nil, []string{"false ActEnded"}},
		"it is gone after its end": {[]guards.Act{ended}, nil, nil},
		"it is void":               {nil, []guards.Act{void}, []string{"true ActVoid"}},
		"it is void in its place":  {[]guards.Act{stands}, []guards.Act{void}, []string{"false ActEnded", "true ActVoid"}},
		"it is void still":         {[]guards.Act{void}, []guards.Act{void}, nil},
	} {
		var got []string
		for _, e := range actEvents(row.before, row.now) {
			got = append(got, fmt.Sprintf("%v %s", e.Warns, e.Reason))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
