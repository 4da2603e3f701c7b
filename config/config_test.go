package config_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/config"
	"github.com/capstan-capi/capstan/deploy"
)

// objects are those of all files below a folder.
func objects(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	err := fs.WalkDir(config.Files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "kustomization.yaml") {
			return err
		}
		text, err := config.Files.ReadFile(name)
		if err != nil {
			return err
		}
		found, err := deploy.Parse(text)
		all = append(all, found...)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has %d objects (%v)", folder, len(all), err)
	}
	return all
}

func as[O any](t *testing.T, from *unstructured.Unstructured) *O {
	t.Helper()
	to := new(O)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, to); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestDefinitions_say_of_which_contract_they_are(t *testing.T) {
	providers := map[string]string{
		"openshiftcontrolplanes.cluster.openshift.io": "control-plane-openshift",
		"openshiftconfigs.cluster.openshift.io":       "bootstrap-openshift", "openshiftconfigtemplates.cluster.openshift.io": "bootstrap-openshift",
	}
	for _, object := range objects(t, "crd") {
		labels := object.GetLabels()
		if _, clusterctl := labels["clusterctl.cluster.x-k8s.io"]; !clusterctl || labels["cluster.x-k8s.io/v1beta2"] != "v1alpha1" ||
			labels["cluster.x-k8s.io/provider"] != providers[object.GetName()] {
			t.Errorf("%s has labels %v", object.GetName(), labels)
		}
		delete(providers, object.GetName())
	}
	if len(providers) > 0 {
		t.Errorf("there is no definition of %v", providers)
	}
}

func TestRights_Cluster_API_gets_those_on_our_kinds_by_aggregation(t *testing.T) {
	for _, object := range objects(t, "rbac") {
		if object.GetLabels()["cluster.x-k8s.io/aggregate-to-manager"] != "true" {
			continue
		}
		role := as[rbacv1.ClusterRole](t, object)
		for _, resource := range []string{"openshiftcontrolplanes", "openshiftconfigs", "openshiftconfigtemplates"} {
			if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
				return slices.Contains(r.APIGroups, "cluster.openshift.io") && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, "patch")
			}) {
				t.Errorf("%s gives no right on %s", role.Name, resource)
			}
		}
		return
	}
	t.Error("no ClusterRole is aggregated to Cluster API's manager")
}

func TestRights_no_image_gives_that_to_make_Jobs(t *testing.T) {
	makes := func(folder string) bool {
		return slices.ContainsFunc(objects(t, folder), func(object *unstructured.Unstructured) bool {
			return strings.HasSuffix(object.GetKind(), "Role") && slices.ContainsFunc(as[rbacv1.ClusterRole](t, object).Rules, func(r rbacv1.PolicyRule) bool {
				return slices.Contains(r.Resources, "jobs") && slices.Contains(r.Verbs, "create")
			})
		})
	}
	if makes("rbac") || !makes("installer") {
		t.Error("Capstan would refuse an image with it, and the administrator gives it by config/installer")
	}
}

func TestDeployment_runs_the_manager_confined_and_is_told_of_its_image(t *testing.T) {
	for _, object := range objects(t, "manager") {
		if object.GetKind() != "Deployment" {
			continue
		}
		pod := as[appsv1.Deployment](t, object).Spec.Template.Spec
		c := pod.Containers[0]
		if c.Args[0] != "manager" || pod.ServiceAccountName != "manager" || c.SecurityContext == nil || !*c.SecurityContext.ReadOnlyRootFilesystem || !*pod.SecurityContext.RunAsNonRoot {
			t.Errorf("it runs %v as %s with %+v", c.Args, pod.ServiceAccountName, c.SecurityContext)
		}
		for _, variable := range c.Env {
			if variable.Name == "IMAGE" && variable.Value == c.Image {
				return
			}
		}
		t.Errorf("of image %s its environment says %+v", c.Image, c.Env)
	}
}
