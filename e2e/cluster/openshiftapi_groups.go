package cluster

import (
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/proxy"
)

const openshiftVersion = "v1"

// openshiftGroup is a group of OpenShift's API server whose kinds are those of
// another group under another name: all objects have the same names, UIDs and
// resourceVersions there and here.
type openshiftGroup struct {
	name      string
	resources []metav1.APIResource
	// alias is the group and version that kube-apiserver serves the objects under.
	alias string
	// plural and kind are what the alias says there for what is called otherwise here.
	plural, kind renaming
}

type renaming struct{ here, there string }

func (g openshiftGroup) version() string { return g.name + "/" + openshiftVersion }

// The verbs are those of the real server: it has no watch for what it proxies
// to RBAC, and projectrequests say that they can be listed.
var openshiftGroups = []openshiftGroup{
	{
		name: "project.openshift.io", alias: "v1",
		plural: renaming{"projects", "namespaces"}, kind: renaming{"Project", "Namespace"},
		resources: []metav1.APIResource{
			{Name: "projects", SingularName: "project", Kind: "Project", Verbs: append(slices.Clone(openshiftVerbs), "watch")},
			{Name: projectRequests, SingularName: "projectrequest", Kind: "ProjectRequest", Verbs: metav1.Verbs{"create", "list"}},
		},
	},
	{
		name: "authorization.openshift.io", alias: "rbac.authorization.k8s.io/v1",
		resources: []metav1.APIResource{
			{Name: "clusterrolebindings", SingularName: "clusterrolebinding", Kind: "ClusterRoleBinding", Verbs: openshiftVerbs},
			{Name: "clusterroles", SingularName: "clusterrole", Kind: "ClusterRole", Verbs: openshiftVerbs},
			{Name: "rolebindings", SingularName: "rolebinding", Kind: "RoleBinding", Namespaced: true, Verbs: openshiftVerbs},
			{Name: "roles", SingularName: "role", Kind: "Role", Namespaced: true, Verbs: openshiftVerbs},
		},
	},
}

var openshiftVerbs = metav1.Verbs{"create", "delete", "get", "list", "patch", "update"}

const projectRequests = "projectrequests"

// IsAlias says whether a group holds nothing of its own: each of its objects is
// another group's.
func IsAlias(group string) bool {
	return slices.ContainsFunc(openshiftGroups, func(g openshiftGroup) bool { return g.name == group })
}

// discovery is the document that tells of the group's kinds.
func (g openshiftGroup) discovery() metav1.APIResourceList {
	return metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: g.version(), APIResources: g.resources,
	}
}

// question is a request for a kind of a group.
type question struct {
	group    openshiftGroup
	resource metav1.APIResource
	verb     string
	// path is where kube-apiserver serves the same.
	path string
}

// understand finds out what is asked for; without a verb it is nothing that is served.
func understand(r *http.Request) question {
	for _, group := range openshiftGroups {
		rest, found := strings.CutPrefix(r.URL.Path, "/apis/"+group.version()+"/")
		if !found {
			continue
		}
		parts, namespace := strings.Split(rest, "/"), ""
		if parts[0] == "namespaces" && len(parts) > 2 {
			namespace, parts = "namespaces/"+parts[1]+"/", parts[2:]
		}
		i := slices.IndexFunc(group.resources, func(served metav1.APIResource) bool { return served.Name == parts[0] })
		if i < 0 || len(parts) > 2 {
			return question{group: group}
		}
		name := ""
		if len(parts) == 2 {
			name = parts[1]
		}
		verb := proxy.VerbOf(r.Method, r.URL.Query(), name)
		if parts[0] == group.plural.here {
			parts[0] = group.plural.there
		}
		root := "/apis/"
		if !strings.Contains(group.alias, "/") {
			root = "/api/"
		}
		return question{group, group.resources[i], verb, root + group.alias + "/" + namespace + strings.Join(parts, "/")}
	}
	return question{}
}
