package decide

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFrees_is_what_an_object_takes_of_a_quota_0_if_unknown(t *testing.T) {
	balanced := content(t, `{kind: Service, spec: {type: LoadBalancer, ports: [{nodePort: 30080}, {nodePort: 30443}, {port: 1}]}}`)
	plain := content(t, `{kind: Service, spec: {type: ClusterIP, ports: [{port: 1}]}}`)
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for _, row := range []struct {
		of      schema.GroupResource
		counted string
		ofPlain bool
		want    int64
	}{
		{deployments, "count/deployments.apps", true, 1},
		{deployments, "count/deployments.extensions", true, 0},
		{deployments, "services.nodeports", false, 0},
		{deployments, "cpu", true, 0},
		{services, "services", true, 1},
		{services, "count/services", true, 1},
		{services, "services.nodeports", false, 2},
		{services, "services.nodeports", true, 0},
		{services, "services.loadbalancers", false, 1},
		{services, "services.loadbalancers", true, 0},
	} {
		obj := balanced
		if row.ofPlain {
			obj = plain
		}
		if got := Frees(obj, row.of, row.counted); got != row.want {
			t.Errorf("%s of %s: %d, want %d", row.counted, obj.Object, got, row.want)
		}
	}
}
