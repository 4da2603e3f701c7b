package wire

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// owned are the fields that managers own.
const owned = "metadata.managedFields.#.fieldsV1"

func TestWithout(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"A","status":{"a":[1,{"status":2}]},"spec":{"status":3}}`:                                                                          `{"kind":"A","status":null,"spec":{"status":3}}`,
		`{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}},"manager":"one"},{"manager":"two"},{"manager":"three","fieldsV1":{}}]},"status":"}"}`: `{"metadata":{"managedFields":[{"fieldsV1":null,"manager":"one"},{"manager":"two"},{"manager":"three","fieldsV1":null}]},"status":null}`,
		`{"status": null, "metadata": {"managedFields": null}}`:                                                                                     `{"status": null, "metadata": {"managedFields": null}}`,
		`{"metadata":{"managedFields":{"fieldsV1":1}}}`:                                                                                             `{"metadata":{"managedFields":{"fieldsV1":1}}}`,
		`{"metadata":{"managedFields":[]},"spec":1}`:                                                                                                `{"metadata":{"managedFields":[]},"spec":1}`,
		`{"metadata":{"managedFields":[7,"fieldsV1",{"fieldsV1":"\\\"]"}]}}`:                                                                        `{"metadata":{"managedFields":[7,"fieldsV1",{"fieldsV1":null}]}}`,
		`{}`: `{}`,
	} {
		before := text
		if got := string(without([]byte(text), []string{"status", owned})); got != want || text != before {
			t.Errorf("of %s\nis %s\nwant %s", text, got, want)
		}
	}
}

func TestWatch_leaves_out_what_is_not_read(t *testing.T) {
	for name, of := range map[string]func() runtime.Object{
		"typed":   func() runtime.Object { return &corev1.ConfigMap{} },
		"untyped": func() runtime.Object { return &unstructured.Unstructured{} },
	} {
		lean := Objects{New: of, Unread: []string{owned, "data"}}
		whole := Objects{New: of}
		const text = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[{"manager":"m","fieldsV1":{"f:data":{}}}]},"data":{"a":"b"}}`
		const left = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[{"manager":"m","fieldsV1":null}]},"data":null}`
		got, _, err := lean.Decode([]byte(text), nil, nil)
		want, _, wrong := whole.Decode([]byte(left), nil, nil)
		if err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v (%v, %v)", name, got, want, err, wrong)
		}
	}
	const refusal = `{"apiVersion":"v1","kind":"Status","status":"Failure","message":"too old","code":410}`
	got, _, err := Objects{New: func() runtime.Object { return &unstructured.Unstructured{} }, Unread: []string{"status"}}.Decode([]byte(refusal), nil, nil)
	if status, is := got.(*metav1.Status); !is || status.Status != metav1.StatusFailure || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

// event is a MachineSet of Cluster API as an API server sends it after some edits.
const event = `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachineSet","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","generation":7,"labels":{"cluster.x-k8s.io/cluster-name":"shop-x7"},"managedFields":[{"apiVersion":"cluster.x-k8s.io/v1beta2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}},"manager":"noise-0","operation":"Apply","time":"2026-01-01T00:00:00Z"},{"apiVersion":"cluster.x-k8s.io/v1beta2","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:cluster.x-k8s.io/cluster-name":{}}},"f:spec":{".":{},"f:clusterName":{},"f:selector":{},"f:template":{".":{},"f:metadata":{".":{},"f:labels":{".":{},"f:cluster.x-k8s.io/cluster-name":{},"f:set":{}}},"f:spec":{".":{},"f:bootstrap":{".":{},"f:dataSecretName":{}},"f:clusterName":{},"f:infrastructureRef":{".":{},"f:apiGroup":{},"f:kind":{},"f:name":{}}}}}},"manager":"bench","operation":"Update","time":"2026-01-01T00:00:00Z"},{"apiVersion":"cluster.x-k8s.io/v1beta2","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:availableReplicas":{},"f:readyReplicas":{},"f:replicas":{}}},"manager":"bench","operation":"Update","subresource":"status","time":"2026-01-01T00:00:00Z"}],"name":"capi-7","namespace":"openshift-cluster-api","resourceVersion":"4711","uid":"ccbb7e5c-6d5d-4a2c-8c1a-6d2a3f0e1b11"},"spec":{"clusterName":"shop-x7","replicas":3,"selector":{"matchLabels":{"set":"capi-7"}},"template":{"metadata":{"labels":{"cluster.x-k8s.io/cluster-name":"shop-x7","set":"capi-7"}},"spec":{"bootstrap":{"dataSecretName":"worker-user-data"},"clusterName":"shop-x7","infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"AWSMachineTemplate","name":"old-7"}}}},"status":{"availableReplicas":3,"readyReplicas":3,"replicas":3}}`

func BenchmarkObjects_Decode(b *testing.B) {
	for name, unread := range map[string][]string{"whole": nil, "lean": {owned, "status"}} {
		b.Run(name, func(b *testing.B) {
			objects := Objects{New: func() runtime.Object { return &unstructured.Unstructured{} }, Unread: unread}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := objects.Decode([]byte(event), nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
