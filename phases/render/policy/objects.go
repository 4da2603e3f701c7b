package policy

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Kinds are those that an image may bring, by group/Kind, and whether they have a namespace. Kinds of Cluster API's groups
// may come as well.
var Kinds = map[string]bool{
	"/ConfigMap":      true,
	"/Namespace":      false,
	"/Secret":         true,
	"/Service":        true,
	"/ServiceAccount": true,

	"apps/DaemonSet":                       true,
	"apps/Deployment":                      true,
	"apps/StatefulSet":                     true,
	"batch/CronJob":                        true,
	"batch/Job":                            true,
	"networking.k8s.io/NetworkPolicy":      true,
	"policy/PodDisruptionBudget":           true,
	"monitoring.coreos.com/PodMonitor":     true,
	"monitoring.coreos.com/PrometheusRule": true,
	"monitoring.coreos.com/ServiceMonitor": true,

	"rbac.authorization.k8s.io/ClusterRole":        false,
	"rbac.authorization.k8s.io/ClusterRoleBinding": false,
	"rbac.authorization.k8s.io/Role":               true,
	"rbac.authorization.k8s.io/RoleBinding":        true,

	crdKind: false,
	"apiextensions.openshift.io/CompatibilityRequirement": false,

	"admissionregistration.k8s.io/MutatingAdmissionPolicy":          false,
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":   false,
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":     false,
	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":        false,
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": false,
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration":   false,
}

const crdKind = "apiextensions.k8s.io/CustomResourceDefinition"

var kindRule = Rule{
	Name: "kind",
	Doc:  "Objects are of the kinds that installing a provider takes, or of a kind of Cluster API's groups.",
	breaches: func(c check) []Breach {
		if _, known := Kinds[c.kind]; known || IsClusterAPI(c.object.GroupVersionKind().Group) {
			return nil
		}
		return []Breach{{Path: "kind", Why: fmt.Sprintf("provider images bring no %s", c.object.GetKind())}}
	},
	expression: func(*Policy) string {
		return fmt.Sprintf("variables.kind in %s ||\n%s", list(sortedKeys(Kinds)), clusterAPI("request.kind.group"))
	},
}

// ownPrefix begins the names of what belongs to the installer itself.
const ownPrefix = "capstan"

// ownNames are those that do not.
var ownNames = map[string]bool{"capi-installer-images": true, "capi-installer-exceptions": true}

// derivedNames are those of requirements that revisions derive, which come from no image.
const derivedNames = `^capstan-(shape|objects)(-long)?[.]`

var nameRule = Rule{
	Name: "name",
	Doc:  "No object has a name of the installer's own: capstan, one that begins with capstan-, capi-installer-images or capi-installer-exceptions.",
	breaches: func(c check) []Breach {
		if name := c.object.GetName(); name == ownPrefix || strings.HasPrefix(name, ownPrefix+"-") || ownNames[name] {
			return []Breach{{Path: "metadata.name", Why: fmt.Sprintf("the name %s is the installer's own", name)}}
		}
		return nil
	},
	expression: func(*Policy) string {
		return fmt.Sprintf("!(object.metadata.name in %s) && !object.metadata.name.startsWith(%s) ||\nvariables.kind == %s && object.metadata.name.matches(%s)",
			list(append([]string{ownPrefix}, sortedKeys(ownNames)...)), text(ownPrefix+"-"), text(requirementKind), text(derivedNames))
	},
}

var namespaceRule = Rule{
	Name: "namespace",
	Doc:  "Objects are in the providers' namespaces, or in one that the profile brings itself; objects of the cluster are in none.",
	breaches: func(c check) []Breach {
		namespace := c.object.GetNamespace()
		namespaced, known := Kinds[c.kind]
		switch {
		case known && !namespaced && namespace != "":
			return []Breach{{Path: "metadata.namespace", Why: fmt.Sprintf("a %s is in no namespace", c.object.GetKind())}}
		case namespace == "" && !namespaced || c.inProviders(namespace):
			return nil
		case namespace == "":
			return []Breach{{Path: "metadata.namespace", Why: fmt.Sprintf("is missing: a %s is in a namespace of the providers, which are %s", c.object.GetKind(), c.theNamespaces())}}
		}
		return []Breach{{Path: "metadata.namespace", Why: fmt.Sprintf("namespace %q is not one of the providers', which are %s", namespace, c.theNamespaces())}}
	},
	expression: func(p *Policy) string {
		return fmt.Sprintf(`!has(object.metadata.namespace) || object.metadata.namespace in %s ||
!%s && namespaceObject != null && has(namespaceObject.metadata.labels) && %s in namespaceObject.metadata.labels`, list(p.Namespaces), reserved("object.metadata.namespace"), text(ManagedByLabel))
	},
}

// reservedPrefixes begin the names of Namespaces that belong to the cluster, as those of reservedNames do.
var (
	reservedPrefixes = []string{"kube-", "openshift-"}
	reservedNames    = []string{"default", "openshift"}
)

// isReserved says that a Namespace belongs to the cluster; see reserved.
func isReserved(name string) bool {
	return slices.Contains(reservedNames, name) || slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// NamespaceMarks are the labels and annotations of MarkDomains that a Namespace may have, with their values; none for any.
var NamespaceMarks = map[string][]string{
	"openshift.io/description":                       nil,
	"openshift.io/display-name":                      nil,
	"openshift.io/node-selector":                     {""},
	"openshift.io/run-level":                         {""},
	"pod-security.kubernetes.io/audit":               nil,
	"pod-security.kubernetes.io/audit-version":       nil,
	"pod-security.kubernetes.io/enforce":             {"restricted", "baseline"},
	"pod-security.kubernetes.io/enforce-version":     nil,
	"pod-security.kubernetes.io/warn":                nil,
	"pod-security.kubernetes.io/warn-version":        nil,
	"security.openshift.io/scc.podSecurityLabelSync": nil,
}

// MarkDomains are those whose marks decide what the pods of a Namespace may do, and who they are.
var MarkDomains = []string{"openshift.io", "pod-security.kubernetes.io", "security.openshift.io"}

// monitoringMark has the cluster's own Prometheus look after a Namespace, which is for the providers' alone.
const monitoringMark = "openshift.io/cluster-monitoring"

var broughtRule = Rule{
	Name: "brought-namespace",
	Doc: "A Namespace that is not one of the providers' is neither default nor called kube-... or openshift-..., and no label or annotation " +
		"of a Namespace lets its pods be privileged or somebody else.",
	breaches: func(c check) (breaches []Breach) {
		if !c.is("/Namespace") {
			return nil
		}
		name := c.object.GetName()
		if isReserved(name) && !slices.Contains(c.Namespaces, name) {
			breaches = append(breaches, Breach{Path: "metadata.name", Why: fmt.Sprintf("Namespace %s belongs to the cluster", name)})
		}
		for at, marks := range map[string]map[string]string{"labels": c.object.GetLabels(), "annotations": c.object.GetAnnotations()} {
			for mark, value := range marks {
				if !c.harmless(mark, value) {
					breaches = append(breaches, Breach{Path: "metadata." + at + "." + mark, Why: fmt.Sprintf("%q may decide what the pods in it may do", value)})
				}
			}
		}
		slices.SortFunc(breaches, func(a, b Breach) int { return strings.Compare(a.Path, b.Path) })
		return breaches
	},
	expression: func(p *Policy) string {
		asks := []string{fmt.Sprintf("(object.metadata.name in %s || !%s)", list(p.Namespaces), reserved("object.metadata.name"))}
		harmless := []string{fmt.Sprintf("m == %s && object.metadata.name in %s", text(monitoringMark), list(p.Namespaces))}
		var known []string
		for _, mark := range sortedKeys(NamespaceMarks) {
			if values := NamespaceMarks[mark]; values == nil {
				known = append(known, mark)
			} else {
				harmless = append(harmless, fmt.Sprintf("m == %s && v in %s", text(mark), list(values)))
			}
		}
		for _, at := range []string{"labels", "annotations"} {
			asks = append(asks, fill(`object.metadata.?$at.orValue({}).all(m, v,
  !m.contains('/') || !(m.split('/')[0] in $domains) || m in $known || $harmless ||
  oldObject != null && oldObject.metadata.?$at[?m] == optional.of(v))`,
				"$at", at, "$domains", list(MarkDomains), "$known", list(known), "$harmless", strings.Join(harmless, " || ")))
		}
		return of([]string{"/Namespace"}, strings.Join(asks, " &&\n"))
	},
}

// harmless says that a label or an annotation of the Namespace takes no wall away from its pods.
func (c check) harmless(mark, value string) bool {
	if domain, _ := split(mark); !slices.Contains(MarkDomains, domain) {
		return true
	}
	if mark == monitoringMark {
		return slices.Contains(c.Namespaces, c.object.GetName())
	}
	values, known := NamespaceMarks[mark]
	return known && (values == nil || slices.Contains(values, value))
}

// besideClusterAPI end the groups of definitions that providers bring for themselves: the Azure provider has some of Azure
// Service Operator's. ownGroup is that of OpenShift clusters, whose provider is capstan-provider.
var besideClusterAPI = []string{".azure.com"}

const ownGroup = "cluster.openshift.io"

// defines says that an image may bring definitions of a group.
func defines(group string) bool {
	return IsClusterAPI(group) || group == ownGroup || slices.ContainsFunc(besideClusterAPI, func(end string) bool { return strings.HasSuffix(group, end) })
}

// definesExpression says the same of a group that is an expression.
func definesExpression(group string) string {
	ends := make([]string, len(besideClusterAPI))
	for i, end := range besideClusterAPI {
		ends[i] = fmt.Sprintf("%s.endsWith(%s)", group, text(end))
	}
	return fmt.Sprintf("(%s || %s == %s || %s)", clusterAPI(group), group, text(ownGroup), strings.Join(ends, " || "))
}

var groupRule = Rule{
	Name: "group",
	Doc:  "CustomResourceDefinitions are of Cluster API's groups, Azure's or cluster.openshift.io, and a conversion webhook is behind a Service in the providers' namespaces.",
	breaches: func(c check) []Breach {
		if !c.is(crdKind) {
			return nil
		}
		// Only what is judged is read: schemas are nearly all of a definition.
		crd, spec := &apiextensionsv1.CustomResourceDefinition{}, map[string]any{}
		whole, is := c.object.Object["spec"].(map[string]any)
		if !is {
			return []Breach{{Path: "spec", Why: "it cannot be read: it is no mapping"}}
		}
		for _, field := range []string{"group", "conversion"} {
			if value, given := whole[field]; given {
				spec[field] = value
			}
		}
		breaches := read(map[string]any{"spec": spec}, crd)
		if !defines(crd.Spec.Group) {
			breaches = append(breaches, Breach{Path: "spec.group", Why: fmt.Sprintf("group %q is not one that providers have: Cluster API's, which end with cluster.x-k8s.io, %s, and those ending with %s", crd.Spec.Group, ownGroup, strings.Join(besideClusterAPI, ", "))})
		}
		if conversion := crd.Spec.Conversion; conversion != nil && conversion.Webhook != nil && conversion.Webhook.ClientConfig != nil {
			client, service := conversion.Webhook.ClientConfig, ""
			if client.Service != nil {
				service = client.Service.Namespace
			}
			breaches = append(breaches, c.server("spec.conversion.webhook.clientConfig", client.URL, service)...)
		}
		return breaches
	},
	expression: func(p *Policy) string {
		return of([]string{crdKind}, fill(`$defines &&
(!has(object.spec.conversion) || !has(object.spec.conversion.webhook) || !has(object.spec.conversion.webhook.clientConfig) ||
$served) ||
variables.stored.?spec == optional.of(object.spec)`, "$defines", definesExpression("object.spec.group"), "$served", p.served("object.spec.conversion.webhook.clientConfig")))
	},
}
