package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group of the kinds, with the version that they are written in.
var GroupVersion = schema.GroupVersion{Group: "cluster.openshift.io", Version: "v1alpha1"}

// The kinds, as references name them.
const (
	ControlPlaneKind   = "OpenShiftControlPlane"
	ConfigKind         = "OpenShiftConfig"
	ConfigTemplateKind = "OpenShiftConfigTemplate"
)

// AddToScheme makes a scheme know the kinds. It never fails.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&OpenShiftControlPlane{}, &OpenShiftControlPlaneList{},
		&OpenShiftConfig{}, &OpenShiftConfigList{},
		&OpenShiftConfigTemplate{}, &OpenShiftConfigTemplateList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
