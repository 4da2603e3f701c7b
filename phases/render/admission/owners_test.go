package admission_test

import (
	"fmt"
	"strings"
	"testing"

	apiserver "k8s.io/apiserver/pkg/admission"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

// A write that costs more than an API server allows is refused, also on the way back, where components stand still until it is made.
func TestWrites_lets_a_move_write_owners_however_many_there_are(t *testing.T) {
	owners := func(group, kind string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("{apiVersion: %s/v1beta2, kind: %s, name: a%d, uid: %s-%d}", group, kind, i, group, i))
		}
		return all
	}
	secret := func(owners ...[]string) string {
		var all []string
		for _, some := range owners {
			all = append(all, some...)
		}
		return "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: c-e, ownerReferences: [" + strings.Join(all, ", ") + "]}}"
	}
	standard, private := owners("cluster.x-k8s.io", "Machine", 500), owners("cluster.hypershift.openshift.io", "Machine", 500)
	others := owners("apps", "ConfigMap", 2000)
	for name, row := range map[string]struct{ now, old string }{
		"500 of the move, on the way there":      {secret(standard, private), secret(standard)},
		"500 of the move, once it is there":      {secret(private), secret(standard, private)},
		"one of the move beside 2,000 of others": {secret(others, standard[:1], private[:1]), secret(others, standard[:1])},
		"and it is taken off again":              {secret(others, private[:1]), secret(others, standard[:1], private[:1])},
	} {
		answers, err := shipped(t, "capstan-writes").Ask(t.Context(), admissiontest.Request{
			Operation: apiserver.Update, Object: object(t, row.now), Old: object(t, row.old), Namespace: controlPlane("both"), Verbs: []string{"move"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range answers {
			if answer.Refused != "" || answer.Cost > 2*celconfig.PerCallLimit {
				t.Errorf("%s: it costs %d, and the answer is %.200q", name, answer.Cost, answer.Refused)
			}
		}
	}
}
