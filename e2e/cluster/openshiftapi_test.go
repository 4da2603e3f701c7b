package cluster_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

var (
	projects            = schema.GroupVersionResource{Group: "project.openshift.io", Version: "v1", Resource: "projects"}
	projectRequests     = schema.GroupVersionResource{Group: "project.openshift.io", Version: "v1", Resource: "projectrequests"}
	openshiftRoles      = schema.GroupVersionResource{Group: "authorization.openshift.io", Version: "v1", Resource: "roles"}
	namespacesResource  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	kubernetesRoles     = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}
	apiServicesResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

func TestOpenShiftsGroupsAreToldWithTheVerbsOfTheRealServer(t *testing.T) {
	c := shared(t)
	_, lists, err := clientOf(t, c).Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, list := range lists {
		group, _, _ := strings.Cut(list.GroupVersion, "/")
		if !cluster.IsAlias(group) {
			continue
		}
		for _, r := range list.APIResources {
			got = append(got, fmt.Sprintf("%s %s %s %t %s", list.GroupVersion, r.Name, r.Kind, r.Namespaced, strings.Join(r.Verbs, ",")))
		}
	}
	slices.Sort(got)
	want := []string{
		"authorization.openshift.io/v1 clusterrolebindings ClusterRoleBinding false create,delete,get,list,patch,update",
		"authorization.openshift.io/v1 clusterroles ClusterRole false create,delete,get,list,patch,update",
		"authorization.openshift.io/v1 rolebindings RoleBinding true create,delete,get,list,patch,update",
		"authorization.openshift.io/v1 roles Role true create,delete,get,list,patch,update",
		"project.openshift.io/v1 projectrequests ProjectRequest false create,list",
		"project.openshift.io/v1 projects Project false create,delete,get,list,patch,update,watch",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAProjectIsItsNamespace(t *testing.T) {
	c := shared(t)
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	name := "a-project"
	seen, err := client.Resource(projects).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Stop()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"is": "both"}}}
	if _, err := clientOf(t, c).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range seen.ResultChan() {
		if object, is := event.Object.(*unstructured.Unstructured); is && object.GetName() == name {
			if object.GetKind() != "Project" || object.GetAPIVersion() != "project.openshift.io/v1" {
				t.Errorf("the watch tells of %s %s", object.GetAPIVersion(), object.GetKind())
			}
			break
		}
	}
	eventually(t, "both show the same", func(ctx context.Context) bool {
		project, err := client.Resource(projects).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		same, err := client.Resource(namespacesResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil || project.GetKind() != "Project" {
			return false
		}
		same.SetKind("Project")
		same.SetAPIVersion("project.openshift.io/v1")
		return fmt.Sprint(project) == fmt.Sprint(same) && len(project.GetManagedFields()) > 0
	})
	list, err := client.Resource(projects).List(t.Context(), metav1.ListOptions{LabelSelector: "is=both"})
	if err != nil || len(list.Items) != 1 || list.GetKind() != "ProjectList" {
		t.Errorf("the list is %v: %v", list, err)
	}
	bare, err := metadata.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	if list, err := bare.Resource(projects).List(t.Context(), metav1.ListOptions{LabelSelector: "is=both"}); err != nil || len(list.Items) != 1 {
		t.Errorf("the list of metadata is %v: %v", list, err)
	}
	table, err := clientOf(t, c).RESTClient().Get().AbsPath("/apis/project.openshift.io/v1/projects/"+name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil || !strings.Contains(string(table), `"kind":"Table"`) {
		t.Errorf("the table is %s: %v", table, err)
	}
	if err := bare.Resource(projects).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Namespace is gone with its Project", func(ctx context.Context) bool {
		_, err := client.Resource(namespacesResource).Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// lister is a user who may list everything.
func lister(t *testing.T, c *cluster.Cluster, name string) *dynamic.DynamicClient {
	t.Helper()
	rbac := clientOf(t, c).RbacV1()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list", "watch"}}},
	}
	if _, err := rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cfg, err := c.ConfigFor(name)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the user's right is known", func(ctx context.Context) bool {
		_, err := client.Resource(projects).List(ctx, metav1.ListOptions{})
		return err == nil
	})
	return client
}

func TestProjectRequestsAreNoList(t *testing.T) {
	c := shared(t)
	_, err := lister(t, c, "reader").Resource(projectRequests).List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "You may not request a new project via this API.") {
		t.Errorf("who may not ask for a project is told %v", err)
	}
	body, err := clientOf(t, c).RESTClient().Get().AbsPath("/apis/project.openshift.io/v1/projectrequests").DoRaw(t.Context())
	if err != nil || !strings.Contains(string(body), `"status":"Success"`) {
		t.Errorf("who may is told %s: %v", body, err)
	}
	bare, err := metadata.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Resource(projectRequests).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a client of metadata takes the Status for a list")
	}
}

func TestARoleOfOpenShiftIsTheRoleOfRBAC(t *testing.T) {
	c := shared(t)
	admin, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	reader := lister(t, c, "role-reader")
	role := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.openshift.io/v1", "kind": "Role", "metadata": map[string]any{"name": "both"},
		"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get"}}},
	}}
	if _, err := reader.Resource(openshiftRoles).Namespace("default").Create(t.Context(), role, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who may not create a Role is told %v", err)
	}
	created, err := admin.Resource(openshiftRoles).Namespace("default").Create(t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := admin.Resource(kubernetesRoles).Namespace("default").Get(t.Context(), "both", metav1.GetOptions{})
	if err != nil || same.GetUID() != created.GetUID() || created.GetAPIVersion() != "authorization.openshift.io/v1" {
		t.Errorf("RBAC has %v: %v", same, err)
	}
	if _, err := reader.Resource(openshiftRoles).Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("a watch is answered %v", err)
	}
	if err := admin.Resource(openshiftRoles).Namespace("default").Delete(t.Context(), "both", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := admin.Resource(kubernetesRoles).Namespace("default").Get(t.Context(), "both", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion RBAC answers %v", err)
	}
}

func TestOpenShiftsServerTalksToKubeAPIServerOnly(t *testing.T) {
	client, err := dynamic.NewForConfig(shared(t).Config())
	if err != nil {
		t.Fatal(err)
	}
	service, err := client.Resource(apiServicesResource).Get(t.Context(), "v1.project.openshift.io", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	port, _, _ := unstructured.NestedInt64(service.Object, "spec", "service", "port")
	stranger := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}, //nolint:gosec // A stranger trusts anybody.
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/apis/project.openshift.io/v1/projects", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Remote-User", "system:admin")
	response, err := stranger.Do(request)
	if err == nil {
		response.Body.Close()
		t.Errorf("a stranger is answered %s", response.Status)
	}
}
