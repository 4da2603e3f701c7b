// Package v1alpha1 has the kinds by which OpenShift clusters are asked for on a Cluster API management plane: the control
// plane of a cluster, and what a machine of it is started with. The definitions in config/crd are generated from it, with
// all that an API server refuses by itself: there is no webhook.
//
// It imports apimachinery and the types of Cluster API, and refuses to know what is done with an object.
//
// +kubebuilder:object:generate=true
// +groupName=cluster.openshift.io
package v1alpha1

//go:generate go tool -modfile=../../tools/go.mod controller-gen object paths=.
//go:generate go tool -modfile=../../tools/go.mod controller-gen crd paths=. output:crd:dir=../../config/crd
