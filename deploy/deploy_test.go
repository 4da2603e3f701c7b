package deploy_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/deploy/deploytest"
)

func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func key(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

func TestEveryNamespaceComesBeforeWhatLiesInIt(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"default", "kube-system", "openshift-config", "openshift-machine-api", "openshift-machine-config-operator"} {
		seen[name] = true // every OpenShift cluster has these
	}
	for _, object := range objects(t) {
		if object.GetKind() == "Namespace" {
			seen[object.GetName()] = true
		}
		if namespace := object.GetNamespace(); namespace != "" && !seen[namespace] {
			t.Errorf("%s comes before its namespace", key(object))
		}
	}
}

func TestNoObjectIsListedTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, object := range objects(t) {
		if seen[key(object)] {
			t.Errorf("%s is there twice", key(object))
		}
		seen[key(object)] = true
	}
}

func TestEveryFileOfTheFolderIsListed(t *testing.T) {
	files, err := fs.Glob(os.DirFS("."), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		apart := []string{"kustomization.yaml", "bootimages.yaml"} // the rights for boot images of Machine API are given on demand
		if !slices.Contains(apart, file) && !slices.Contains(lines(data), "- "+file) {
			t.Errorf("kustomization.yaml does not list %s", file)
		}
	}
}

func TestEveryRoleThatIsBoundIsHere(t *testing.T) {
	roles := map[string]bool{
		// These are in every cluster.
		"Role extension-apiserver-authentication-reader": true, "ServiceAccount prometheus-k8s": true,
	}
	for _, object := range objects(t) {
		roles[object.GetKind()+" "+object.GetName()] = true
	}
	for _, object := range objects(t) {
		var ref rbacv1.RoleRef
		var subjects []rbacv1.Subject
		switch object.GetKind() {
		case "ClusterRoleBinding":
			binding := deploytest.As[rbacv1.ClusterRoleBinding](t, object)
			ref, subjects = binding.RoleRef, binding.Subjects
		case "RoleBinding":
			binding := deploytest.As[rbacv1.RoleBinding](t, object)
			ref, subjects = binding.RoleRef, binding.Subjects
		default:
			continue
		}
		if !roles[ref.Kind+" "+ref.Name] {
			t.Errorf("%s binds %s %s, which is not here", key(object), ref.Kind, ref.Name)
		}
		for _, subject := range subjects {
			if !roles[subject.Kind+" "+subject.Name] {
				t.Errorf("%s names %s %s, which is not here", key(object), subject.Kind, subject.Name)
			}
		}
	}
}

func TestTheDeploymentRunsAsTheServiceAccountUnderRestrictedRules(t *testing.T) {
	deployment := deploytest.First[appsv1.Deployment](t, objects(t), "Deployment")
	pod := deployment.Spec.Template
	if pod.Spec.ServiceAccountName != "capstan" {
		t.Errorf("the ServiceAccount is %q", pod.Spec.ServiceAccountName)
	}
	if scc := pod.Annotations["openshift.io/required-scc"]; scc != "restricted-v2" {
		t.Errorf("the required SCC is %q", scc)
	}
	container := pod.Spec.Containers[0]
	if !*container.SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root file system can be written to")
	}
	if !slices.Contains(container.Args, "--cache-dir="+container.VolumeMounts[0].MountPath) {
		t.Errorf("the cache is not where the volume is: %v", container.Args)
	}
}

func lines(data []byte) []string {
	return strings.Split(string(data), "\n")
}
