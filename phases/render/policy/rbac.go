package policy

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	clusterRole        = "rbac.authorization.k8s.io/ClusterRole"
	clusterRoleBinding = "rbac.authorization.k8s.io/ClusterRoleBinding"
	role               = "rbac.authorization.k8s.io/Role"
	roleBinding        = "rbac.authorization.k8s.io/RoleBinding"
)

// binding reads a binding of either kind.
func (c check) binding() (subjects []rbacv1.Subject, ref rbacv1.RoleRef, breaches []Breach) {
	b := &rbacv1.ClusterRoleBinding{} // a RoleBinding has the same fields
	breaches = c.read(b)
	return b.Subjects, b.RoleRef, breaches
}

var subjectRule = Rule{
	Name: "subject",
	Doc:  "Bindings give rights to ServiceAccounts in the providers' namespaces alone.",
	breaches: func(c check) []Breach {
		if !c.is(clusterRoleBinding, roleBinding) {
			return nil
		}
		subjects, _, breaches := c.binding()
		for i, s := range subjects {
			if s.Kind != rbacv1.ServiceAccountKind || s.APIGroup != "" || !c.inProviders(s.Namespace) {
				breaches = append(breaches, Breach{
					Path: fmt.Sprintf("subjects[%d]", i),
					Why:  fmt.Sprintf("%s %s is no ServiceAccount in the providers' namespaces, which are %s", s.Kind, strings.Trim(s.Namespace+"/"+s.Name, "/"), c.theNamespaces()),
				})
			}
		}
		return breaches
	},
	expression: func(p *Policy) string {
		return of([]string{clusterRoleBinding, roleBinding}, fill(`object.?subjects.orValue([]).all(s,
  s.kind == 'ServiceAccount' && s.?apiGroup.orValue('') == '' && $open ||
  s in variables.stored.?subjects.orValue([]))`, "$open", p.Open("s.?namespace.orValue('')")))
	},
}

var roleRule = Rule{
	Name: "role",
	Doc:  "Bindings are to roles of the same profile, whose rules can be judged.",
	breaches: func(c check) []Breach {
		if !c.is(clusterRoleBinding, roleBinding) {
			return nil
		}
		_, ref, breaches := c.binding()
		referred := identity{kind: ref.APIGroup + "/" + ref.Kind, name: ref.Name}
		if referred.kind == role {
			referred.namespace = c.object.GetNamespace()
		}
		if (referred.kind == role || referred.kind == clusterRole) && c.beside[referred] {
			return breaches
		}
		return append(breaches, Breach{Path: "roleRef", Why: fmt.Sprintf("%s %s is not among the objects of this profile", ref.Kind, ref.Name)})
	},
}

// verbsRefused let whoever has them take rights that he was not given.
var verbsRefused = []string{"escalate", "bind", "impersonate", "approve", "sign", "attest"}

// readVerbs change nothing.
var readVerbs = []string{"get", "list", "watch"}

// subresourcesUsable are the subresources outside Cluster API's groups that roles may give. Others are often more than they
// seem, even to read: a console of a virtual machine, logs of a node, a proxy to whatever lies behind it, a token.
var subresourcesUsable = []string{"finalizers", "scale", "status"}

// isUsable says that a resource of a group is no subresource of which nobody knows what it gives.
func isUsable(group, resource string) bool {
	_, subresource, has := strings.Cut(resource, "/")
	return !has || IsClusterAPI(group) || slices.Contains(subresourcesUsable, subresource)
}

// ResourcesWritable are the resources outside Cluster API's groups that roles may let be written: what providers need. Others,
// which decide what others may do, or make pods, may only be read.
var ResourcesWritable = []string{
	"/configmaps", "/configmaps/status", "/events", "/nodes", "/persistentvolumeclaims", "/persistentvolumeclaims/status", "/secrets",
	"/serviceaccounts",
	"authentication.k8s.io/tokenreviews",
	"authorization.k8s.io/localsubjectaccessreviews", "authorization.k8s.io/selfsubjectaccessreviews", "authorization.k8s.io/subjectaccessreviews",
	"coordination.k8s.io/leases",
	"events.k8s.io/events",
	"rbac.authorization.k8s.io/rolebindings", "rbac.authorization.k8s.io/roles", // the API server lets nobody give more than he has
}

// GroupsWritable are the groups by which providers speak with their infrastructure, those that end with one of them after
// a dot, and that of OpenShift clusters.
var GroupsWritable = []string{"azure.com", ownGroup, "metal3.io", "vmware.com"}

// definitions are the resources that may be written by the names of what providers have.
var definitions = []string{"apiextensions.k8s.io/customresourcedefinitions", "apiextensions.k8s.io/customresourcedefinitions/status"}

// writable says that roles may let a resource of a group be written.
func writable(group, resource string) bool {
	return IsClusterAPI(group) || slices.Contains(ResourcesWritable, group+"/"+resource) ||
		slices.ContainsFunc(GroupsWritable, func(end string) bool { return group == end || strings.HasSuffix(group, "."+end) })
}

// definedByProviders says that a definition is in a group that images may bring definitions of.
func definedByProviders(name string) bool {
	_, group, _ := strings.Cut(name, ".")
	return defines(group)
}

const constraints = "security.openshift.io/securitycontextconstraints"

// constraintsUsable are the SecurityContextConstraints that give a pod no right over its node.
var constraintsUsable = []string{"nonroot-v2", "restricted-v2"}

// maxPairs are the groups and resources of one role that are judged, each group of a rule with each of its resources. Real
// roles have some dozens.
const maxPairs = 10_000

var permissionRule = Rule{
	Name: "permission",
	Doc: "Roles give no right to be or to become somebody else (escalate, bind, impersonate), let only that be written which providers " +
		"need, and give * and subresources but status, scale and finalizers (exec, tokens, proxies, logs) only for Cluster API's groups.",
	breaches: func(c check) []Breach {
		if !c.is(clusterRole, role) {
			return nil
		}
		r := &rbacv1.ClusterRole{} // a Role has the same fields
		breaches := c.read(r)
		pairs := 0
		for i, rule := range r.Rules {
			if pairs += len(rule.APIGroups) * len(rule.Resources); pairs > maxPairs {
				return append(breaches, Breach{Path: fmt.Sprintf("rules[%d]", i), Why: fmt.Sprintf("no more than %d pairs of a group and a resource are judged in one role", maxPairs)})
			}
			for _, b := range ruleBreaches(rule) {
				b.Path = fmt.Sprintf("rules[%d].%s", i, b.Path)
				breaches = append(breaches, b)
			}
		}
		return breaches
	},
	expression: func(*Policy) string {
		return of([]string{clusterRole, role}, fill(`$given.all(r,
  r in $stored ||
  r.verbs.all(v, !(v.split(':')[0] in $refusedVerbs) && (v != '*' || $ours)) &&
  !('*' in r.?apiGroups.orValue([])) &&
  r.?nonResourceURLs.orValue([]).all(u, !u.contains('*') && $reads) &&
  r.?resources.orValue([]).all(n,
    n.contains('*') ? $ours :
    r.?apiGroups.orValue([]).all(g,
      (!n.contains('/') || $isOurs || n.substring(n.indexOf('/') + 1) in $subresources) &&
      (g + '/' + n == $scc && r.verbs == ['use'] ?
        size(r.?resourceNames.orValue([])) > 0 && r.resourceNames.all(c, c in $usable) :
        $reads || $writable || g + '/' + n in $definitions &&
          size(r.?resourceNames.orValue([])) > 0 && r.resourceNames.all(d, $defined)))))`,
			"$given", rulesOf("object"), "$stored", rulesOf("variables.stored"), "$refusedVerbs", list(verbsRefused), "$ours", allClusterAPI("r.?apiGroups.orValue([])"),
			"$reads", fmt.Sprintf("(size(r.verbs) > 0 && r.verbs.all(v, v in %s))", list(readVerbs)),
			"$isOurs", clusterAPI("g"), "$subresources", list(subresourcesUsable), "$scc", text(constraints), "$usable", list(constraintsUsable), "$definitions", list(definitions),
			"$writable", fill("($capi || g + '/' + n in $known || $ends.exists(end, g == end || g.endsWith('.' + end)))", "$capi", clusterAPI("g"), "$known", list(ResourcesWritable), "$ends", list(GroupsWritable)),
			"$defined", definesExpression("d.substring(d.indexOf('.') + 1)")))
	},
}

// ruleBreaches judges one rule of a role.
func ruleBreaches(r rbacv1.PolicyRule) (breaches []Breach) {
	report := func(path, format string, args ...any) {
		breaches = append(breaches, Breach{Path: path, Why: fmt.Sprintf(format, args...)})
	}
	ours := all(r.APIGroups, IsClusterAPI)
	reads := all(r.Verbs, func(verb string) bool { return slices.Contains(readVerbs, verb) })
	for _, verb := range r.Verbs {
		name, _, _ := strings.Cut(verb, ":")
		switch {
		case slices.Contains(verbsRefused, name):
			report("verbs", "%s gives rights that the role does not have", verb)
		case verb == "*" && !ours:
			report("verbs", "* stands for every verb, escalate among them, outside Cluster API's groups")
		}
	}
	if slices.Contains(r.APIGroups, "*") {
		report("apiGroups", "* stands for every group")
	}
	for _, url := range r.NonResourceURLs {
		if strings.Contains(url, "*") || !reads {
			report("nonResourceURLs", "only plain paths may be given, to read")
		}
	}
	for _, resource := range r.Resources {
		if strings.Contains(resource, "*") && !ours {
			report("resources", "%s stands for every resource or subresource outside Cluster API's groups", resource)
			continue
		}
		for _, group := range r.APIGroups {
			switch name := group + "/" + resource; {
			case !isUsable(group, resource):
				report("resources", "%s may give what is behind it: of subresources outside Cluster API's groups only %s may be given", resource, strings.Join(subresourcesUsable, ", "))
			case name == constraints && slices.Equal(r.Verbs, []string{"use"}):
				if !all(r.ResourceNames, func(name string) bool { return slices.Contains(constraintsUsable, name) }) {
					report("resourceNames", "only SecurityContextConstraints %s may be used", strings.Join(constraintsUsable, ", "))
				}
			case reads || writable(group, resource):
			case !slices.Contains(definitions, name):
				report("resources", "%s of group %q may only be read: it decides what others may do, or no provider needs it", resource, group)
			case !all(r.ResourceNames, definedByProviders):
				report("resourceNames", "only definitions of Cluster API's groups, and those that providers bring, may be written, by their names")
			}
		}
	}
	return breaches
}

// InstallerLabel adds the rules of a ClusterRole to the installer's own.
const InstallerLabel = "capi-operator.openshift.io/aggregate-to-installer"

var aggregationRule = Rule{
	Name: "aggregation",
	Doc: "ClusterRoles take rules from others, and give them to others, by labels of Cluster API alone; the installer itself gets rights " +
		"on Cluster API's groups alone, by the label " + InstallerLabel + ".",
	breaches: func(c check) []Breach {
		if !c.is(clusterRole) {
			return nil
		}
		r := &rbacv1.ClusterRole{}
		breaches := c.read(r)
		for label := range r.Labels {
			switch domain, name := split(label); {
			case label == InstallerLabel:
				if r.AggregationRule != nil {
					breaches = append(breaches, Breach{Path: "aggregationRule", Why: "what the installer gets must be in the role itself, where it can be judged"})
				}
				if slices.ContainsFunc(r.Rules, func(rule rbacv1.PolicyRule) bool { return !all(rule.APIGroups, IsClusterAPI) }) {
					breaches = append(breaches, Breach{Path: "metadata.labels", Why: "the installer may get rights on Cluster API's groups alone"})
				}
			case strings.HasPrefix(name, "aggregate-to-") && !IsClusterAPI(domain):
				breaches = append(breaches, Breach{Path: "metadata.labels", Why: fmt.Sprintf("label %s adds these rules to roles outside Cluster API", label)})
			}
		}
		if r.AggregationRule == nil {
			return breaches
		}
		for i, selector := range r.AggregationRule.ClusterRoleSelectors {
			if !aggregates(selector) {
				breaches = append(breaches, Breach{
					Path: fmt.Sprintf("aggregationRule.clusterRoleSelectors[%d]", i),
					Why:  "it must select by a label aggregate-to-... of Cluster API: others may have any right",
				})
			}
		}
		return breaches
	},
	expression: func(*Policy) string {
		return of([]string{clusterRole}, fill(`variables.labels.all(l,
  l == $installer ? !has(object.aggregationRule) && $rules.all(r, $ours) :
  !l.substring(l.lastIndexOf('/') + 1).startsWith('aggregate-to-') || l.contains('/') && $domain || l in variables.stored.?metadata.?labels.orValue({})) &&
object.?aggregationRule.?clusterRoleSelectors.orValue([]).all(s,
  s.?matchLabels.orValue({}).exists(l, l.contains('/aggregate-to-') && $domain))`,
			"$installer", text(InstallerLabel), "$rules", rulesOf("object"), "$ours", allClusterAPI("r.?apiGroups.orValue([])"), "$domain", clusterAPI("l.split('/')[0]")))
	},
}

// split takes the domain off a label, which may have none.
func split(label string) (domain, name string) {
	if domain, name, has := strings.Cut(label, "/"); has {
		return domain, name
	}
	return "", label
}

// aggregates says that a selector wants a label of Cluster API that is made for this.
func aggregates(s metav1.LabelSelector) bool {
	for label := range s.MatchLabels {
		if domain, name := split(label); IsClusterAPI(domain) && strings.HasPrefix(name, "aggregate-to-") {
			return true
		}
	}
	return false
}
