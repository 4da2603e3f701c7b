package legacyoperator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/legacyoperator"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/capiboard"
	"github.com/capstan-capi/capstan/phases/render/admission"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// house is a cluster with the old operator, the ConfigMap of the programme, and what is told of HostedClusters.
type house struct {
	*Phases
	now    time.Time
	others []string
	blind  bool
}

func newHouse(retention string, objects ...client.Object) *house {
	h := &house{now: noon}
	if retention != "" {
		objects = append(objects, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: capiboard.Programme}, Data: map[string]string{RetentionKey: retention},
		})
	}
	h.Phases = &Phases{
		Client: fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(&appsv1.Deployment{}).Build(), Board: capiboard.New(), Namespace: "ops",
		Deployment: client.ObjectKey{Namespace: "hypershift", Name: "operator"}, Now: func() time.Time { return h.now },
	}
	h.Board.OnOthers(func(context.Context) ([]string, error) {
		if h.blind {
			return nil, errors.New("HostedClusters cannot be looked at")
		}
		return h.others, nil
	})
	return h
}

func oldOperator() *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "hypershift", Name: "operator"},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)}, Status: appsv1.DeploymentStatus{Replicas: 2},
	}
}

func (h *house) look(t *testing.T) (guards.Facts, Works) {
	t.Helper()
	facts, works, err := h.Observe(t.Context(), "cluster")
	if err != nil {
		t.Fatal(err)
	}
	return facts, works
}

func (h *house) work(t *testing.T, action machine.Action[Works]) machine.Result {
	t.Helper()
	_, works := h.look(t)
	result, err := action.Run(t.Context(), works)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (h *house) operator(t *testing.T) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	if err := h.Client.Get(t.Context(), h.Deployment, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestKeepOperator_counts_the_time_of_retention_from_when_nobody_needs_it(t *testing.T) {
	h := newHouse("1h", oldOperator())
	h.others = []string{"clusters/a moves"}
	if did := h.work(t, KeepOperator); did.Did != "" {
		t.Errorf("it did %q while somebody needs it", did.Did)
	}
	h.others = nil
	h.work(t, KeepOperator)
	facts, _ := h.look(t)
	if want := (guards.Retention{Known: true, Until: noon.Add(time.Hour)}); facts.Retention != want {
		t.Errorf("it is kept as %+v, want %+v", facts.Retention, want)
	}
	if did := h.work(t, KeepOperator); did.LookAgain != time.Hour || did.Did != "" {
		t.Errorf("it looks again after %s, and did %q", did.LookAgain, did.Did)
	}
	h.now = noon.Add(time.Hour)
	if facts, _ := h.look(t); !facts.Retention.Over {
		t.Errorf("after an hour it is kept as %+v", facts.Retention)
	}
	h.others = []string{"clusters/a has a failed move"}
	h.work(t, KeepOperator)
	h.others = nil
	h.work(t, KeepOperator)
	if facts, _ := h.look(t); facts.Retention.Over {
		t.Error("the time does not begin anew after somebody has needed it")
	}
}

func TestKeepOperator_counts_no_time_before_the_programme_is_enabled(t *testing.T) {
	h := newHouse("", oldOperator())
	if did := h.work(t, KeepOperator); did.Did != "" || len(h.operator(t).Annotations) > 0 {
		t.Errorf("it did %q, and notes %v", did.Did, h.operator(t).Annotations)
	}
}

func TestRemoveOperator_is_put_back_by_KeepOperator(t *testing.T) {
	h := newHouse("0s", oldOperator())
	for range 2 {
		h.work(t, RemoveOperator)
	}
	if d := h.operator(t); *d.Spec.Replicas != 0 || d.Annotations[ReplicasAnnotation] != "2" {
		t.Errorf("it has %d replicas, and %v", *d.Spec.Replicas, d.Annotations)
	}
	if facts, _ := h.look(t); len(facts.Operator.Left) != 1 {
		t.Errorf("its pods are not seen: %+v", facts.Operator)
	}
	d := h.operator(t)
	d.Status.Replicas = 0
	if err := h.Client.Status().Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if facts, _ := h.look(t); len(facts.Operator.Left) != 0 || !facts.Operator.Known {
		t.Errorf("it is not gone: %+v", facts.Operator)
	}
	h.others = []string{"clusters/a has a failed move"}
	for range 2 {
		h.work(t, KeepOperator)
	}
	if d := h.operator(t); *d.Spec.Replicas != 2 || len(d.Annotations) != 0 {
		t.Errorf("it has %d replicas, and %v", *d.Spec.Replicas, d.Annotations)
	}
}

func TestObserve_knows_what_it_cannot_tell(t *testing.T) {
	h := newHouse("a week", oldOperator())
	h.blind = true
	facts, _ := h.look(t)
	if facts.Seen || facts.Retention.Known || facts.Retention.Problem == "" {
		t.Errorf("it has seen %+v", facts)
	}
	if did := h.work(t, KeepOperator); did.Did != "" {
		t.Errorf("it did %q", did.Did)
	}
	if facts, _ := newHouse("").look(t); !facts.Retention.Over || len(facts.Operator.Left) > 0 {
		t.Errorf("without an old operator it has seen %+v", facts)
	}
}

func TestThePolicyOfWhatTheOperatorWritesKnowsTheNotesOnTheOldOperator(t *testing.T) {
	for _, o := range admission.Shipped.Objects() {
		if o.GetKind() != "ValidatingAdmissionPolicy" || o.GetName() != "capstan-writes" {
			continue
		}
		for _, word := range []string{SinceAnnotation, ReplicasAnnotation} {
			if !strings.Contains(fmt.Sprint(o.Object), "'"+word+"'") {
				t.Errorf("the policy does not know %s", word)
			}
		}
	}
}
