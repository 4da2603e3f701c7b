package controllers

import (
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/options"
)

func TestKinds_watches_no_Secret_that_is_not_named_where_one_is(t *testing.T) {
	kinds := Kinds(options.Options{OperatorNamespace: "ops", PullSecrets: []client.ObjectKey{
		{Namespace: "openshift-config", Name: "pull-secret"}, {Namespace: "mine", Name: "one"}, {Namespace: "mine", Name: "two"}, {Namespace: "mine", Name: "one"},
	}})
	for object, by := range kinds.Cache(nil).ByObject {
		if _, secret := object.(*corev1.Secret); !secret {
			continue
		}
		got := map[string]string{}
		for namespace, config := range by.Namespaces {
			got[namespace] = config.FieldSelector.String()
		}
		if len(got) != 2 || got["openshift-config"] != "metadata.name=pull-secret" || got["mine"] != "" {
			t.Errorf("it watches %v", got)
		}
		return
	}
	t.Error("Secrets are not limited at all")
}

func TestKinds_are_those_that_the_API_server_serves(t *testing.T) {
	mapper, err := Kinds(options.Options{}).Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[schema.GroupKind]string{
		{Kind: "ConfigMap"}: "v1 configmaps namespace",
		{Kind: "Secret"}:    "v1 secrets namespace",
		{Group: "config.openshift.io", Kind: "APIServer"}:                  "v1 apiservers root",
		{Group: "config.openshift.io", Kind: "ClusterImagePolicy"}:         "v1 clusterimagepolicies root",
		{Group: "config.openshift.io", Kind: "ClusterOperator"}:            "v1 clusteroperators root",
		{Group: "config.openshift.io", Kind: "Image"}:                      "v1 images root",
		{Group: "config.openshift.io", Kind: "ImageDigestMirrorSet"}:       "v1 imagedigestmirrorsets root",
		{Group: "config.openshift.io", Kind: "ImagePolicy"}:                "v1 imagepolicies namespace",
		{Group: "config.openshift.io", Kind: "Infrastructure"}:             "v1 infrastructures root",
		{Group: "operator.openshift.io", Kind: "ClusterAPI"}:               "v1alpha1 clusterapis root",
		{Group: "operator.openshift.io", Kind: "ImageContentSourcePolicy"}: "v1alpha1 imagecontentsourcepolicies root",
	} {
		mapping, err := mapper.RESTMapping(kind)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if got := mapping.Resource.Version + " " + mapping.Resource.Resource + " " + string(mapping.Scope.Name()); got != want {
			t.Errorf("%s is %s, want %s", kind, got, want)
		}
	}
}

// ofTheProvider are the machines that make OpenShift clusters through Cluster API. The operator does not link them: they need
// other rights, and Cluster API itself.
var ofTheProvider = []string{"openshiftconfig", "openshiftcontrolplane"}

func TestEvery_machine_has_its_line_and_a_view(t *testing.T) {
	folders, err := os.ReadDir("../machine")
	if err != nil {
		t.Fatal(err)
	}
	var viewed []string
	for _, v := range Views() {
		viewed = append(viewed, v.Table.Name)
	}
	for _, folder := range folders {
		if slices.Contains(ofTheProvider, folder.Name()) {
			if slices.Contains(viewed, folder.Name()) {
				t.Errorf("the operator links the machine %s", folder.Name())
			}
			continue
		}
		if folder.IsDir() && folder.Name() != "machinetest" && !slices.Contains(viewed, folder.Name()) {
			t.Errorf("the machine %s is not in the list of controllers, or has no view", folder.Name())
		}
	}
	for i, part := range all {
		if slices.IndexFunc(all, func(other options.Part) bool { return other.Name == part.Name }) != i {
			t.Errorf("there are two parts %s", part.Name)
		}
	}
}
