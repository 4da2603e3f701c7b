package clusterapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

func TestPart_a_pass_reads_no_kind_that_is_not_among_its_kinds(t *testing.T) {
	o := options.Options{OperatorNamespace: "ops", PullSecrets: []client.ObjectKey{{Namespace: phases.ConfigNamespace, Name: phases.PullSecret}}}
	known := house.Kinds(kinds(o))
	mapper, err := known.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := fake.NewClientBuilder().WithScheme(known.Scheme()).WithRESTMapper(mapper).WithObjects(
		&operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: phases.Singleton}},
		&configv1.Infrastructure{
			ObjectMeta: metav1.ObjectMeta{Name: phases.Singleton},
			Status:     configv1.InfrastructureStatus{PlatformStatus: &configv1.PlatformStatus{Type: configv1.AWSPlatformType}},
		},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: phases.ImagesConfigMap}},
	).Build()
	p, err := phases.New(phases.Options{
		Client: cluster, Live: cluster, REST: &rest.Config{Host: "http://127.0.0.1:1"}, HTTP: http.DefaultClient, Release: "4.22.6",
		OperatorNamespace: "ops", CAPINamespace: "capi", CacheDir: t.TempDir(), PullSecrets: o.PullSecrets, Concurrency: 1,
		Again: func() {}, Clock: testclock.NewFakeClock(time.Now()), Log: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	facts, _, err := p.Observe(t.Context(), key)
	if err != nil || !facts.ClusterAPI || facts.Platform != "AWS" {
		t.Errorf("seen is %+v, %v", facts, err)
	}
	for _, w := range watches(o.OperatorNamespace, o.PullSecrets) {
		if _, _, err := known.Scheme().ObjectKinds(w.Kind); err != nil {
			t.Errorf("it watches %T: %v", w.Kind, err)
		}
	}
}
