package takeover

import (
	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// object is one that the former installer's release brings, or it makes itself.
type object struct {
	resource        schema.GroupVersionResource
	kind            string
	namespace, name string
}

func (o object) String() string {
	if o.namespace == "" {
		return o.kind + " " + o.name
	}
	return o.kind + " " + o.namespace + "/" + o.name
}

var (
	deployments      = appsv1.SchemeGroupVersion.WithResource("deployments")
	leases           = coordinationv1.SchemeGroupVersion.WithResource("leases")
	pods             = corev1.SchemeGroupVersion.WithResource("pods")
	configMaps       = corev1.SchemeGroupVersion.WithResource("configmaps")
	clusterVersions  = configv1.GroupVersion.WithResource("clusterversions")
	clusterOperators = configv1.GroupVersion.WithResource("clusteroperators")
	serviceMonitors  = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}
)

// operator is the name of Capstan's Deployment.
const operator = "capstan"

// machineAPINamespace is where the former installer has a Role of its own.
const machineAPINamespace = "openshift-machine-api"

// leftBehind are what serves nobody once the former installer has ended, in the
// order in which it goes: who may do something goes after who does it.
func (c *Cluster) leftBehind() []object {
	var all []object
	for _, name := range phases.FormerInstallers {
		all = append(all,
			object{leases, "Lease", c.namespace, phases.FormerLease(name)},
			object{serviceMonitors, "ServiceMonitor", c.namespace, name},
			object{corev1.SchemeGroupVersion.WithResource("services"), "Service", c.namespace, name + "-metrics"},
			object{rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"), "ClusterRoleBinding", "", "openshift-" + name},
			object{rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"), "ClusterRoleBinding", "", "system:openshift:" + name + "-read-tls-configuration"},
			object{rbacv1.SchemeGroupVersion.WithResource("clusterroles"), "ClusterRole", "", "openshift-" + name},
			object{rbacv1.SchemeGroupVersion.WithResource("clusterroles"), "ClusterRole", "", "openshift-" + name + ":provider-permissions"},
		)
		for _, namespace := range []string{c.namespace, c.capiNamespace, machineAPINamespace} {
			all = append(all,
				object{rbacv1.SchemeGroupVersion.WithResource("rolebindings"), "RoleBinding", namespace, name},
				object{rbacv1.SchemeGroupVersion.WithResource("roles"), "Role", namespace, name})
		}
		all = append(all, object{corev1.SchemeGroupVersion.WithResource("serviceaccounts"), "ServiceAccount", c.namespace, name})
	}
	return all
}
