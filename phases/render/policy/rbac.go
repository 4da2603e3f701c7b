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
  s in variables.stored.?subjects.orValue([]))`, "$open", p.open("s.?namespace.orValue('')")))
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

// resourcesRefused are, with whatever verb, as much as the pods and nodes behind them, or the right to be somebody else.
var resourcesRefused = []string{
	"/nodes/proxy", "/pods/attach", "/pods/ephemeralcontainers", "/pods/exec", "/pods/portforward", "/pods/proxy", "/services/proxy",
	"/serviceaccounts/token", "certificates.k8s.io/certificatesigningrequests/approval",
}

// resourcesReadOnly decide what others may do, and may only be read; a group alone stands for all it has.
var resourcesReadOnly = []string{
	"rbac.authorization.k8s.io/clusterrolebindings", "rbac.authorization.k8s.io/clusterroles", "admissionregistration.k8s.io",
	"apiregistration.k8s.io", "operator.openshift.io", "security.openshift.io",
}

const constraints = "security.openshift.io/securitycontextconstraints"

// constraintsUsable are the SecurityContextConstraints that give a pod no right over its node.
var constraintsUsable = []string{"nonroot-v2", "restricted-v2"}

var permissionRule = Rule{
	Name: "permission",
	Doc: "Roles give no right by which more rights can be had (escalate, bind, impersonate, tokens, exec, proxies, writing cluster-wide " +
		"RBAC or admission), and * stands only for what Cluster API's groups have.",
	breaches: func(c check) []Breach {
		if !c.is(clusterRole, role) {
			return nil
		}
		r := &rbacv1.ClusterRole{} // a Role has the same fields
		breaches := c.read(r)
		for i, rule := range r.Rules {
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
      !(g + '/' + n in $refused) &&
      (g + '/' + n == $scc && r.verbs == ['use'] ?
        size(r.?resourceNames.orValue([])) > 0 && r.resourceNames.all(c, c in $usable) :
        $reads || !(g in $readOnly) && !$readOnly.exists(o, g + '/' + n == o || (g + '/' + n).startsWith(o + '/'))))))`,
			"$given", rulesOf("object"), "$stored", rulesOf("variables.stored"), "$refusedVerbs", list(verbsRefused), "$ours", allClusterAPI("r.?apiGroups.orValue([])"),
			"$reads", fmt.Sprintf("(size(r.verbs) > 0 && r.verbs.all(v, v in %s))", list(readVerbs)),
			"$refused", list(resourcesRefused), "$scc", text(constraints), "$usable", list(constraintsUsable), "$readOnly", list(resourcesReadOnly)))
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
			case slices.Contains(resourcesRefused, name):
				report("resources", "%s gives what the pods, nodes or accounts behind it may do", resource)
			case name == constraints && slices.Equal(r.Verbs, []string{"use"}):
				if !all(r.ResourceNames, func(name string) bool { return slices.Contains(constraintsUsable, name) }) {
					report("resourceNames", "only SecurityContextConstraints %s may be used", strings.Join(constraintsUsable, ", "))
				}
			case !reads && (slices.Contains(resourcesReadOnly, group) || slices.ContainsFunc(resourcesReadOnly, func(refused string) bool {
				return name == refused || strings.HasPrefix(name, refused+"/")
			})):
				report("resources", "%s of %s decide what others may do, and may only be read", resource, group)
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
			switch domain, name, _ := strings.Cut(label, "/"); {
			case label == InstallerLabel:
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
  l == $installer ? $rules.all(r, $ours) :
  !l.contains('/aggregate-to-') || $domain || l in variables.stored.?metadata.?labels.orValue({})) &&
object.?aggregationRule.?clusterRoleSelectors.orValue([]).all(s,
  s.?matchLabels.orValue({}).exists(l, l.contains('/aggregate-to-') && $domain))`,
			"$installer", text(InstallerLabel), "$rules", rulesOf("object"), "$ours", allClusterAPI("r.?apiGroups.orValue([])"), "$domain", clusterAPI("l.split('/')[0]")))
	},
}

// aggregates says that a selector wants a label of Cluster API that is made for this.
func aggregates(s metav1.LabelSelector) bool {
	for label := range s.MatchLabels {
		if domain, name, _ := strings.Cut(label, "/"); IsClusterAPI(domain) && strings.HasPrefix(name, "aggregate-to-") {
			return true
		}
	}
	return false
}
