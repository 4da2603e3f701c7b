package packaging

import (
	"maps"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// built is what `kubectl apply -k` of a folder of the provider of OpenShift clusters sends, by kind: the first one of each.
func built(t *testing.T, folder string) map[string]*resource.Resource {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../../config/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*resource.Resource{}
	for _, one := range slices.Backward(made.Resources()) {
		found[one.GetKind()] = one
	}
	return found
}

// places are the folders for the provider that Capstan has installed, and for that of config/default, by where the provider is.
var places = map[string]string{"openshift-cluster-api": "", "openshift-install-system": "standalone/"}

// field is a text somewhere in an object, empty where there is none.
func field(t *testing.T, of *resource.Resource, path string) string {
	t.Helper()
	value, err := of.GetFieldValue(path)
	if err != nil {
		t.Fatalf("%s %s: %v", of.GetKind(), path, err)
	}
	text, _ := value.(string)
	return text
}

func TestInstaller_gives_its_right_to_the_account_that_the_provider_runs_as(t *testing.T) {
	account := built(t, "default")["ServiceAccount"]
	for namespace, place := range places {
		binding := built(t, place+"installer")["ClusterRoleBinding"]
		if name, at := field(t, binding, "subjects.0.name"), field(t, binding, "subjects.0.namespace"); name != account.GetName() || at != namespace {
			t.Errorf("%sinstaller: it is of %s in %s", place, name, at)
		}
	}
	if at := account.GetNamespace(); places[at] != "standalone/" {
		t.Errorf("config/default is in %s", at)
	}
}

func TestMonitoring_scrapes_the_Service_of_the_provider_and_lets_Prometheus_find_it(t *testing.T) {
	service := built(t, "default")["Service"]
	for namespace, place := range places {
		all := built(t, place+"monitoring")
		chosen, err := all["ServiceMonitor"].GetFieldValue("spec.selector.matchLabels")
		if err != nil {
			t.Fatal(err)
		}
		labels, _ := chosen.(map[string]any)
		for key, value := range labels {
			if service.GetLabels()[key] != value {
				t.Errorf("%smonitoring: it chooses %s=%s, and the Service has %v", place, key, value, service.GetLabels())
			}
		}
		port, name := field(t, all["ServiceMonitor"], "spec.endpoints.0.port"), field(t, all["ServiceMonitor"], "spec.endpoints.0.tlsConfig.serverName")
		if len(labels) == 0 || port != field(t, service, "spec.ports.0.name") || name != service.GetName()+"."+namespace+".svc" {
			t.Errorf("%smonitoring: it asks port %s as %s", place, port, name)
		}
		if field(t, all["RoleBinding"], "subjects.0.name") != "prometheus-k8s" || field(t, all["RoleBinding"], "subjects.0.namespace") != "openshift-monitoring" {
			t.Errorf("%smonitoring: its right is of another one", place)
		}
		for _, kind := range slices.Sorted(maps.Keys(all)) {
			if at := all[kind].GetNamespace(); at != namespace {
				t.Errorf("%smonitoring: %s is in %s", place, kind, at)
			}
		}
	}
}
