package bootimage

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capstan-capi/capstan/controllers/options"
)

// The caches take the index before they are filled, and without a request.
func TestIndexed_targets_of_Cluster_API(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := options.Options{CAPINamespace: "capi", BootImages: options.BootImages{MachineAPI: true, ClusterAPI: true}}
	kinds := apartKinds(o, arrivals{})
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme: kinds.Scheme(), MapperProvider: kinds.Mapper, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		t.Fatal(err)
	}
	apart, err := kinds.Apart(ctx, mgr)
	if err != nil {
		t.Fatal(err)
	}
	if err := indexed(apart.GetCache(), o); err != nil {
		t.Error(err)
	}
	if err := indexed(apart.GetCache(), o); err == nil {
		t.Error("the index can be made twice, so that there was none")
	}
}
