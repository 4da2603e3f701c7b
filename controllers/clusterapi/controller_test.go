package clusterapi

import (
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

func TestPlatformAppears_lets_through_what_has_become_known(t *testing.T) {
	infrastructure := func(object, name string, status *configv1.PlatformStatus) *configv1.Infrastructure {
		return &configv1.Infrastructure{
			ObjectMeta: metav1.ObjectMeta{Name: object}, Status: configv1.InfrastructureStatus{PlatformStatus: status, InfrastructureName: name},
		}
	}
	none, empty, aws := (*configv1.PlatformStatus)(nil), &configv1.PlatformStatus{}, &configv1.PlatformStatus{Type: configv1.AWSPlatformType}
	for name, row := range map[string]struct {
		before, after *configv1.Infrastructure
		want          bool
	}{
		"a platform":                     {infrastructure(phases.Singleton, "", none), infrastructure(phases.Singleton, "", aws), true},
		"a platform with an empty type":  {infrastructure(phases.Singleton, "", none), infrastructure(phases.Singleton, "", empty), false},
		"the type of a platform":         {infrastructure(phases.Singleton, "", empty), infrastructure(phases.Singleton, "", aws), true},
		"a name":                         {infrastructure(phases.Singleton, "", aws), infrastructure(phases.Singleton, "mine", aws), true},
		"nothing new":                    {infrastructure(phases.Singleton, "mine", aws), infrastructure(phases.Singleton, "mine", aws), false},
		"a platform of something else's": {infrastructure("other", "", none), infrastructure("other", "", aws), false},
	} {
		if got := platformAppears.Update(event.UpdateEvent{ObjectOld: row.before, ObjectNew: row.after}); got != row.want {
			t.Errorf("%s: it lets through %v, want %v", name, got, row.want)
		}
		known := row.after.Name == phases.Singleton && row.after.Status.PlatformStatus == aws
		if got := platformAppears.Create(event.CreateEvent{Object: row.after}); got != known {
			t.Errorf("%s: of a new object it lets through %v, want %v", name, got, known)
		}
	}
}
