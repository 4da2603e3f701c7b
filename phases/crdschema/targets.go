package crdschema

import "strings"

// untouchable are the definitions that Capstan needs to report on a requirement and to recover from one.
var untouchable = map[string]bool{
	"clusterapis.operator.openshift.io":                    true,
	"clusteroperators.config.openshift.io":                 true,
	"compatibilityrequirements.apiextensions.openshift.io": true,
}

// served are the groups of API servers themselves: what is in them has no definition that anybody adopts. A requirement about
// Leases could keep every leader of the cluster from its work, Capstan too; one about Roles could take fields out of them. Nor has
// a group without a dot any definition: Deployments and Jobs are in such ones.
var served = map[string]bool{
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true, "authentication.k8s.io": true,
	"authorization.k8s.io": true, "certificates.k8s.io": true, "coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true,
	"flowcontrol.apiserver.k8s.io": true, "internal.apiserver.k8s.io": true, "networking.k8s.io": true, "node.k8s.io": true,
	"rbac.authorization.k8s.io": true, "resource.k8s.io": true, "scheduling.k8s.io": true, "storage.k8s.io": true, "storagemigration.k8s.io": true,
	"metrics.k8s.io": true, "custom.metrics.k8s.io": true, "external.metrics.k8s.io": true,
	"apps.openshift.io": true, "authorization.openshift.io": true, "build.openshift.io": true, "image.openshift.io": true,
	"oauth.openshift.io": true, "packages.operators.coreos.com": true, "project.openshift.io": true, "route.openshift.io": true,
	"template.openshift.io": true, "user.openshift.io": true,
}

// Untargetable is why no requirement may have a definition, "" if one may.
func Untargetable(name string) string {
	if untouchable[name] {
		return "Capstan needs " + name + " to report on requirements and to recover from them: no requirement may have it"
	}
	if _, group, _ := strings.Cut(name, "."); served[group] || !strings.Contains(group, ".") {
		return "API servers serve the group " + group + " themselves: no requirement may have a definition in it"
	}
	return ""
}
