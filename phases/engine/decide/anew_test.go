package decide

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

func TestTrial_of_a_Service_leaves_out_the_ports_that_it_has(t *testing.T) {
	const has = `{healthCheckNodePort: 30000, clusterIP: 10.0.0.1, ports: [{name: x, nodePort: 30080}, {name: y, nodePort: 30443}]}`
	for name, row := range map[string]struct{ asked, tried string }{
		"the same":   {has, `{clusterIP: 10.0.0.1, ports: [{name: x}, {name: y}]}`},
		"in turn":    {`{ports: [{name: x, nodePort: 30443}, {name: y, nodePort: 30080}]}`, `{ports: [{name: x}, {name: y}]}`},
		"another":    {`{healthCheckNodePort: 1, ports: [{name: x, nodePort: 2}]}`, `{healthCheckNodePort: 1, ports: [{name: x, nodePort: 2}]}`},
		"none":       {`{ports: [{name: x}]}`, `{ports: [{name: x}]}`},
		"no content": {`{}`, `{}`},
	} {
		m := manifestOf(parsed(t, "Service", row.asked))
		tried := FromJSON(m.Trial(testStamp, parsed(t, "Service", has)))
		if want := content(t, row.tried).Object; !reflect.DeepEqual(tried["spec"], want) {
			t.Errorf("%s: %v, want %v", name, tried["spec"], want)
		}
		if !reflect.DeepEqual(tried["metadata"], m.Desired(testStamp).Payload.Object["metadata"]) {
			t.Errorf("%s: tried with other metadata: %v", name, tried["metadata"])
		}
	}
}

func TestStrangeAddress_is_one_that_a_Service_asks_for_and_does_not_have(t *testing.T) {
	const has = `{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"]}`
	for _, row := range []struct{ kind, asked, want string }{
		{"Service", `{}`, ""},
		{"Service", `{clusterIP: ""}`, ""},
		{"Service", `{clusterIP: None, clusterIPs: [None]}`, ""},
		{"Service", has, ""},
		{"Service", `{clusterIP: "fd00::1", clusterIPs: ["fd00::1", 10.0.0.1]}`, ""},
		{"Service", `{clusterIP: 10.0.0.2}`, "10.0.0.2"},
		{"Service", `{clusterIPs: [10.0.0.1, "fd00::2"]}`, "fd00::2"},
		{"Cache", `{clusterIP: 10.0.0.2}`, ""},
	} {
		if got := manifestOf(parsed(t, row.kind, row.asked)).StrangeAddress(parsed(t, row.kind, has)); got != row.want {
			t.Errorf("%s %s: %q, want %q", row.kind, row.asked, got, row.want)
		}
	}
}

func parsed(t *testing.T, kind, spec string) *unstructured.Unstructured {
	o := content(t, "{spec: "+spec+"}")
	o.SetAPIVersion("v1")
	o.SetKind(kind)
	o.SetName("a")
	return o
}
