package machines

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

// asked is an OpenShiftControlPlane of some replicas whose inputs are frozen.
func asked(replicas int32, change ...func(*v1alpha1.OpenShiftControlPlane)) *v1alpha1.OpenShiftControlPlane {
	p := &v1alpha1.OpenShiftControlPlane{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "fleet", Name: "a", UID: "p1",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c1"}},
			Annotations:     map[string]string{v1alpha1.InputsMark: "d"},
		},
		Spec: v1alpha1.OpenShiftControlPlaneSpec{Replicas: one(replicas), Management: v1alpha1.Handover},
	}
	p.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: infraGV.Group, Kind: infraTemplate.Kind, Name: "masters",
	}
	for _, how := range change {
		how(p)
	}
	return p
}

// frame is what is there beside the OpenShiftControlPlane: its Cluster, the definitions of infrastructure machines, and templates.
func frame(domains ...string) []client.Object {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "c", UID: "c1"}}
	for _, name := range domains {
		cluster.Status.FailureDomains = append(cluster.Status.FailureDomains, clusterv1.FailureDomain{Name: name, ControlPlane: one(true)})
	}
	objects := []client.Object{cluster, template("masters", "large"), template("small", "small")}
	for _, plural := range []string{"boxmachines", "boxmachinetemplates"} {
		objects = append(objects, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: plural + "." + infraGV.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": infraGV.Version},
		}})
	}
	return objects
}

func template(name, size string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"of": "the template"}},
			"spec":     map[string]any{"size": size},
		}},
	}}
	object.SetGroupVersionKind(infraTemplate)
	object.SetNamespace("fleet")
	object.SetName(name)
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "c1"}})
	return object
}

// secret is one that the OpenShiftControlPlane controls.
func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fleet", Name: name, UID: types.UID("of " + name), Labels: map[string]string{clusterv1.ClusterNameLabel: "c"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(asked(1), v1alpha1.GroupVersion.WithKind("OpenShiftControlPlane"))},
	}}
}

// marked sets marks on an OpenShiftControlPlane.
func marked(marks ...string) func(*v1alpha1.OpenShiftControlPlane) {
	return func(p *v1alpha1.OpenShiftControlPlane) {
		for _, mark := range marks {
			p.Annotations[mark] = "true"
		}
	}
}
