package clusterapi

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

func TestForesee_tells_which_input_may_not_be_read_and_is_no_error(t *testing.T) {
	forbidding := interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, key.Name, nil)
		},
	})
	f := &Foreseer{phases: &Phases{Live: forbidding, Now: time.Now}}
	told, err := f.Foresee(t.Context(), Instead{}, engine.ForeseeOptions{})
	if err != nil || told.To != nil || told.Forecast != nil || len(told.Obstacles) != 1 || told.Obstacles[0].What != "unseen" || told.Obstacles[0].Next == "" {
		t.Errorf("told is %+v (%v)", told, err)
	}
}

func TestWhyNotListed_tells_of_a_full_list_and_of_a_consent_that_is_missing(t *testing.T) {
	core := engine.Component{Name: "core", Objects: configMaps("settings")}
	numbers := make([]int64, guards.MaxRevisions)
	for i := range numbers {
		numbers[i] = int64(i + 1)
	}
	for name, row := range map[string]struct {
		numbers    []int64
		components []engine.Component
		listed     bool
		stops      string
	}{
		"there is room":              {numbers[1:], []engine.Component{core}, false, ""},
		"there is none":              {numbers, []engine.Component{core}, false, "room"},
		"it is the newest one":       {numbers, []engine.Component{core}, true, ""},
		"it would end all that runs": {numbers[1:], nil, false, "consent"},
		"both":                       {numbers, nil, false, "consent room"},
	} {
		p := planned(&remembering{stored: engine.Inventories{Seen: true}}, listing(row.numbers...), "", row.components...)
		if row.listed {
			p.plan.revision.ContentID = p.world.desiredEntry().ContentID
		}
		var stops []string
		for _, o := range p.whyNotListed() {
			stops = append(stops, o.What)
			if o.Why == "" || o.Next == "" {
				t.Errorf("%s: it does not say why, or what to do: %+v", name, o)
			}
		}
		if got := strings.Join(stops, " "); got != row.stops {
			t.Errorf("%s: the stops are %q, want %q", name, got, row.stops)
		}
	}
}
