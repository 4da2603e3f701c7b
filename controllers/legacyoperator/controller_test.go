package legacyoperator

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/phases/capiboard"
	phases "github.com/capstan-capi/capstan/phases/legacyoperator"
)

func TestPart_a_pass_reads_no_kind_that_is_not_among_its_kinds(t *testing.T) {
	o := options.Options{OperatorNamespace: "ops", PrivateCAPI: options.PrivateCAPI{
		Image: "proxy", LegacyOperator: types.NamespacedName{Namespace: "hypershift", Name: "operator"}, Board: capiboard.New(),
	}}
	if !Part.RunsBy(o) || Part.RunsBy(options.Options{}) {
		t.Error("it does not run where it is asked to, or where it is not")
	}
	known := house.Kinds(kinds(o))
	mapper, err := known.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := fake.NewClientBuilder().WithScheme(known.Scheme()).WithRESTMapper(mapper).Build()
	p := &phases.Phases{Client: cluster, Board: o.PrivateCAPI.Board, Namespace: "ops", Deployment: o.PrivateCAPI.LegacyOperator, Now: time.Now}
	if _, _, err := p.Observe(t.Context(), key); err != nil {
		t.Error(err)
	}
	for _, w := range watches(o) {
		if _, _, err := known.Scheme().ObjectKinds(w.Kind); err != nil {
			t.Errorf("it watches %T: %v", w.Kind, err)
		}
	}
}
