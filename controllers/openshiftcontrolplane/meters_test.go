package openshiftcontrolplane

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

func TestMeter_tells_how_installations_end_and_what_grows_old(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	bootstrap := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: "a-bootstrap", Labels: map[string]string{v1alpha1.RoleLabel: "bootstrap"}, CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute)),
	}}
	master := bootstrap.DeepCopy()
	master.Name, master.Labels = "a-0", map[string]string{v1alpha1.RoleLabel: "master"}
	c := fake.NewClientBuilder().WithScheme(scheme(t)).WithStatusSubresource(&v1alpha1.OpenShiftControlPlane{}).WithObjects(
		bootstrap, master, &v1alpha1.OpenShiftControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"}},
	).Build()
	m, err := metered(phases.NewStore(c, func(phases.Snapshot) []phases.Condition { return nil }, func() time.Time { return noon }), c, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	record := machine.Record{State: guards.Installed, CameFrom: guards.Settling, Since: noon}
	facts := guards.Facts{Seen: true, Kubeconfig: guards.Kubeconfig{Known: true, NotAfter: noon.Add(time.Hour)}}
	for range 2 { // the second pass has made no move
		if _, _, err := m.Load(t.Context(), "fleet/a"); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Save(t.Context(), "fleet/a", phases.Snapshot{Record: record, Facts: facts}); err != nil {
			t.Fatal(err)
		}
	}
	if got := values(t, totalMetric)["capstan_install_total"]; len(got) != 1 || got[0] != 1 {
		t.Errorf("%v installations have ended", got)
	}
	got := values(t, m)
	if ages := got["capstan_install_bootstrap_age_seconds"]; len(ages) != 1 || ages[0] != 60 {
		t.Errorf("bootstrap Machines are %v old", ages)
	}
	if left := got["capstan_install_kubeconfig_expiry_seconds"]; len(left) != 1 || left[0] != 3600 {
		t.Errorf("kubeconfigs are valid for %v", left)
	}
	if _, err := m.Forget(t.Context(), "fleet/a"); err != nil {
		t.Fatal(err)
	}
	if left := values(t, m)["capstan_install_kubeconfig_expiry_seconds"]; len(left) != 0 {
		t.Error("the kubeconfig of a cluster that is gone is still told of")
	}
}

// values are those of a collector's counters and gauges, by name.
func values(t *testing.T, of prometheus.Collector) map[string][]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(of)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			all[family.GetName()] = append(all[family.GetName()], metric.GetCounter().GetValue()+metric.GetGauge().GetValue())
		}
	}
	return all
}

func TestEnded_says_why_an_installation_failed(t *testing.T) {
	for name, row := range map[string]struct {
		record         machine.Record
		result, reason string
	}{
		"failed":              {machine.Record{State: guards.Failed, CameFrom: guards.AwaitingAPI}, "failed", "AwaitingAPI"},
		"settled":             {machine.Record{State: guards.Installed, CameFrom: guards.Settling}, "installed", ""},
		"not healthy in time": {machine.Record{State: guards.Degraded, CameFrom: guards.Settling}, "degraded", ""},
		"healthy again":       {machine.Record{State: guards.Installed, CameFrom: guards.Degraded}, "", ""},
		"it goes on":          {machine.Record{State: guards.Bootstrapping, CameFrom: guards.AwaitingAPI}, "", ""},
	} {
		if result, reason := ended(row.record); result != row.result || reason != row.reason {
			t.Errorf("%s: %q because of %q", name, result, reason)
		}
	}
}
