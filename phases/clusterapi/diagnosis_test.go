package clusterapi

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/capstan-capi/capstan/phases/engine"
)

func TestDiagnosis_asks_only_about_what_makes_no_progress_and_seldom(t *testing.T) {
	l := &diagnosis{asked: make(chan suspect, 1)}
	s := suspect{key: engine.Key{Kind: "Deployment", Name: "capa"}, selector: "app=capa", progress: "54 of 56"}
	at := noon.Add
	asked := func() int { return len(l.asked) }

	if _, again := l.ask(s, at(0)); asked() != 0 || again != diagnoseAfter {
		t.Errorf("a workload that has just begun is asked about %d times, next look after %s", asked(), again)
	}
	if _, again := l.ask(s, at(20*time.Second)); asked() != 0 || again != 10*time.Second {
		t.Errorf("a workload that is not late is asked about %d times, next look after %s", asked(), again)
	}
	more := s
	more.progress = "55 of 56"
	if l.ask(more, at(29*time.Second)); asked() != 0 {
		t.Error("there was progress, and it is late all the same")
	}
	if l.ask(more, at(31*time.Second)); asked() != 0 {
		t.Error("the time is not counted from the progress")
	}
	if l.ask(more, at(59*time.Second)); asked() != 1 {
		t.Error("a workload that makes no progress is not asked about")
	}
	<-l.asked
	if l.ask(more, at(80*time.Second)); asked() != 0 {
		t.Error("it is asked about twice within 30 s")
	}
	if l.ask(more, at(89*time.Second)); asked() != 1 {
		t.Error("it is not asked about again")
	}
	if !l.answer(more, "pod x is CrashLoopBackOff") || l.answer(more, "pod x is CrashLoopBackOff") {
		t.Error("a new answer is not told from a known one")
	}
	if cause, _ := l.ask(more, at(90*time.Second)); cause != "pod x is CrashLoopBackOff" {
		t.Errorf("the cause is %q", cause)
	}
	<-l.asked
	l.ask(more, at(-time.Hour)) // the clock is set back
	if l.ask(more, at(-time.Hour+diagnoseAfter)); asked() != 1 {
		t.Error("it is not asked about for as long as the clock jumped")
	}
	other := suspect{key: engine.Key{Kind: "Deployment", Name: "capi"}, selector: "app=capi"}
	if cause, _ := l.ask(other, at(91*time.Second)); cause != "" {
		t.Errorf("one workload is blamed for another: %q", cause)
	}
	if l.answer(more, "too late") {
		t.Error("an answer about a workload that nothing waits for any more is noted")
	}
}

func TestDiagnosis_of_a_workload_that_is_scaled_to_zero_looks_for_no_pods(t *testing.T) {
	none, one := int32(0), int32(1)
	here := metav1.ObjectMeta{Namespace: "n", Name: "capa"}
	for name, row := range map[string]struct {
		kind     string
		replicas *int32
		quiet    bool
	}{
		"a Deployment of none":  {"Deployment", &none, true},
		"a Deployment of one":   {"Deployment", &one, false},
		"a StatefulSet of none": {"StatefulSet", &none, true},
		"a StatefulSet of one":  {"StatefulSet", &one, false},
		"a StatefulSet":         {"StatefulSet", nil, false},
	} {
		client := fake.NewClientset(
			&appsv1.Deployment{ObjectMeta: here, Spec: appsv1.DeploymentSpec{Replicas: row.replicas}},
			&appsv1.StatefulSet{ObjectMeta: here, Spec: appsv1.StatefulSetSpec{Replicas: row.replicas}},
		)
		l := &diagnosis{apps: client.AppsV1(), core: client.CoreV1()}
		cause, err := l.look(t.Context(), suspect{key: engine.Key{Group: "apps", Version: "v1", Kind: row.kind, Namespace: "n", Name: "capa"}, selector: "app=capa"})
		if err != nil || (cause == "") != row.quiet {
			t.Errorf("%s: %q, %v", name, cause, err)
		}
	}
}
