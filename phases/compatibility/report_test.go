package compatibility

import (
	"fmt"
	"strings"
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/machine"
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

func TestReport_names_as_many_requirements_as_there_is_room_for(t *testing.T) {
	for count, left := range map[int]bool{1: false, 2: false, 3: false, 20: false, 200: true} {
		var troubles []trouble
		for i := range count {
			r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("need-%03d", i)}}
			r.Status.Conditions = []metav1.Condition{{Type: StateCondition, Reason: "Open", Message: "Open: nothing is refused for this requirement, since no replica of Deployment capstan-webhooks is ready"}}
			troubles = append(troubles, troubleOf(r))
		}
		c := degradedBy(troubles)
		named := strings.Count(c.Message, "need-")
		if !strings.HasSuffix(c.Message, wayOut) || len(c.Message) > machine.MaxMessage || c.Status != configv1.ConditionTrue {
			t.Errorf("%d: it says %s", count, c.Message)
		}
		if more := fmt.Sprintf("; and %d more; to see more", count-named); left != strings.Contains(c.Message, more) || !left && named != count || left && named < 20 {
			t.Errorf("%d: %d are named: %s", count, named, c.Message)
		}
		if count > 2 && !strings.Contains(c.Message, "is ready; also need-002 (Open)") {
			t.Errorf("%d: it says %s", count, c.Message)
		}
	}
	long := trouble{"x", strings.Repeat("x", 2*machine.MaxMessage)}
	if c := degradedBy([]trouble{long, long, long}); len(c.Message) > machine.MaxMessage || !strings.Contains(c.Message, "; also x; to see more") {
		t.Errorf("it says %s", c.Message)
	}
}
