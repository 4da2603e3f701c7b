package compatibility

import (
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestReport_writes_only_on_a_ClusterOperator_that_is_there(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := configv1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	if err := requirementsv1alpha1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	trouble := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: "need"}}
	operator := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: ClusterOperator}}
	for name, row := range map[string]struct {
		objects []client.Object
		writes  int
	}{
		"none":    {[]client.Object{trouble}, 0},
		"another": {[]client.Object{trouble, &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: "another"}}}, 0},
		"ours":    {[]client.Object{trouble, operator}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Phases{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(row.objects...).Build()}
			written := configfake.NewClientset(operator.DeepCopy())
			all := func(*requirementsv1alpha1.CompatibilityRequirement) bool { return true }
			if err := p.Report(t.Context(), written.ConfigV1().ClusterOperators(), all, time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
			if len(written.Actions()) != row.writes {
				t.Errorf("it did %v", written.Actions())
			}
		})
	}
}
