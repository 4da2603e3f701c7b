package bootimage

import (
	"testing"
	"time"

	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/yaml"
)

// kept is an object of some YAML as the cache has it.
func kept[O client.Object](t *testing.T, into O, text string) O {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	keepTarget(into)
	return into
}

const ofMachineAPI = `
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata:
  name: worker
  annotations: {kubectl.kubernetes.io/last-applied-configuration: x, other: mine}
  managedFields:
  - {manager: one, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {f:spec: {}}}
  - {manager: two, operation: Apply, time: "2026-01-01T00:00:02Z", fieldsType: FieldsV1, fieldsV1: {f:spec: {}}}
  - {manager: three, operation: Update, time: "2026-01-01T00:00:03Z", fieldsType: FieldsV1, fieldsV1: {f:status: {}}, subresource: status}
spec:
  replicas: 3
  authoritativeAPI: MachineAPI
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {machine.openshift.io/os-id: Windows}}
    spec: {providerID: x, providerSpec: {value: {ami: {id: ami-1}}}}
status: {replicas: 3, authoritativeAPI: MachineAPI}
`

const ofClusterAPI = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata:
  name: worker
  managedFields:
  - {manager: one, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {f:spec: {}}}
  - {manager: two, operation: Apply, time: "2026-01-01T00:00:02Z", fieldsType: FieldsV1, fieldsV1: {f:spec: {}}}
  - {manager: three, operation: Update, time: "2026-01-01T00:00:03Z", fieldsType: FieldsV1, fieldsV1: {f:status: {}}, subresource: status}
spec:
  replicas: 3
  clusterName: shop
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      clusterName: shop
      bootstrap: {dataSecretName: worker-user-data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: old}
status: {replicas: 3}
`

func TestKeepTarget_of_Machine_API_keeps_what_is_read(t *testing.T) {
	set := kept(t, &machinev1beta1.MachineSet{}, ofMachineAPI)
	want := &machinev1beta1.MachineSet{TypeMeta: set.TypeMeta, ObjectMeta: metav1.ObjectMeta{Name: "worker", Annotations: map[string]string{"other": "mine"}}}
	want.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "two", Operation: "Apply", Time: ptr.To(metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)))}}
	want.Spec.AuthoritativeAPI, want.Status.AuthoritativeAPI = "MachineAPI", "MachineAPI"
	want.Spec.Template.Labels = map[string]string{"machine.openshift.io/os-id": "Windows"}
	want.Spec.Template.Spec.ProviderSpec.Value = &runtime.RawExtension{Raw: []byte(`{"ami":{"id":"ami-1"}}`)}
	if !equality.Semantic.DeepEqual(set, want) {
		t.Errorf("kept is %+v, want %+v", set, want)
	}
}

func TestKeepTarget_of_Cluster_API_keeps_what_is_read(t *testing.T) {
	set := kept(t, &unstructured.Unstructured{}, ofClusterAPI)
	var want map[string]any
	if err := yaml.Unmarshal([]byte(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata: {name: worker, managedFields: [{manager: two, operation: Apply, time: "2026-01-01T00:00:02Z"}]}
spec:
  clusterName: shop
  template:
    metadata: {labels: {a: b}}
    spec:
      bootstrap: {dataSecretName: worker-user-data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: old}
`), &want); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(set.Object, want) {
		t.Errorf("kept is %v, want %v", set.Object, want)
	}
	if managers := set.GetManagedFields(); len(managers) != 1 || managers[0].Manager != "two" {
		t.Errorf("the managers are %+v", managers)
	}
	cluster := kept(t, &unstructured.Unstructured{}, `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: shop}, spec: {paused: true, topology: {}}, status: {phase: x}}`)
	if want := map[string]any{"paused": true}; !equality.Semantic.DeepEqual(cluster.Object["spec"], want) || cluster.Object["status"] != nil {
		t.Errorf("kept is %v", cluster.Object)
	}
	template := kept(t, &unstructured.Unstructured{}, `{kind: AWSMachineTemplate, metadata: {name: old}, spec: {template: {spec: {ami: {id: ami-1}}}}, status: {capacity: {cpu: 4}}}`)
	if template.Object["spec"] != `{"template":{"spec":{"ami":{"id":"ami-1"}}}}` || template.Object["status"] != nil {
		t.Errorf("kept is %v", template.Object)
	}
}

func TestMatters_what_is_kept_and_nothing_else(t *testing.T) {
	change := func(text string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) {
			var patch map[string]any
			if err := yaml.Unmarshal([]byte(text), &patch); err != nil {
				t.Fatal(err)
			}
			merge(o.Object, patch)
		}
	}
	for name, row := range map[string]struct {
		change  string
		matters bool
	}{
		"replicas":           {"{spec: {replicas: 4}}", false},
		"status":             {"{status: {replicas: 2, readyReplicas: 1}}", false},
		"managers":           {"{metadata: {managedFields: [{manager: four, operation: Update, time: '2026-01-02T00:00:00Z'}]}}", false},
		"what kubectl keeps": {"{metadata: {annotations: {" + corev1.LastAppliedConfigAnnotation + ": z}}}", false},
		"a label":            {"{metadata: {labels: {a: b}}}", true},
		"an annotation":      {"{metadata: {annotations: {a: b}}}", true},
		"a Windows label":    {"{spec: {template: {metadata: {labels: {machine.openshift.io/os-id: Windows2}}}}}", true},
		"provider spec":      {"{spec: {template: {spec: {providerSpec: {value: {ami: {id: ami-2}}}, bootstrap: {dataSecretName: y}}}}}", true},
	} {
		for _, text := range []string{ofMachineAPI, ofClusterAPI} {
			before, now := &unstructured.Unstructured{}, &unstructured.Unstructured{}
			for _, o := range []*unstructured.Unstructured{before, now} {
				if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
					t.Fatal(err)
				}
			}
			change(row.change)(now)
			update := event.UpdateEvent{ObjectOld: cached(t, before), ObjectNew: cached(t, now)}
			if got := matters.Update(update); got != row.matters {
				t.Errorf("%s of %s %s matters: %v", name, now.GetAPIVersion(), now.GetKind(), got)
			}
		}
	}
	before, now := kept(t, &machinev1beta1.MachineSet{}, ofMachineAPI), kept(t, &machinev1beta1.MachineSet{}, ofMachineAPI)
	now.Status.AuthoritativeAPI = "ClusterAPI"
	if !matters.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}) {
		t.Error("another authority does not matter")
	}
}

// cached is an object with the Go type that the cache has it with.
func cached(t *testing.T, o *unstructured.Unstructured) client.Object {
	t.Helper()
	if o.GetAPIVersion() != machinev1beta1.GroupVersion.String() {
		keepTarget(o)
		return o
	}
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return kept(t, &machinev1beta1.MachineSet{}, string(text))
}

// merge puts the fields of a patch into an object.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		fields, is := value.(map[string]any)
		if at, has := into[key].(map[string]any); is && has {
			merge(at, fields)
		} else {
			into[key] = value
		}
	}
}
