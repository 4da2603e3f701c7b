package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What the rules say to an API server, each beside its Go, and made of the same tables, so that the two never differ. The
// text is CEL; it reads object, oldObject, request and these variables:
//   - kind: group/Kind of the object;
//   - labels and oldLabels: those of the object, and of the stored one;
//   - stored: the object that is there, if it is managed already, else an empty one. What somebody else has put into that,
//     and the installer leaves as it is, is not the installer's doing, and no reason to stop repairing the rest.

// text is a string of CEL.
func text(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }

// list is a list of strings of CEL.
func list(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = text(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// fill puts values into a template: each $name stands for its value.
func fill(template string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(template)
}

// clusterAPI says that a group, which is an expression, is one of Cluster API's; see IsClusterAPI.
func clusterAPI(group string) string {
	return fill("($g == 'cluster.x-k8s.io' || $g.endsWith('.cluster.x-k8s.io'))", "$g", group)
}

// allClusterAPI says that there are groups, and that each is one of Cluster API's.
func allClusterAPI(groups string) string {
	return fill("(size($gs) > 0 && $gs.all(g, $is))", "$gs", groups, "$is", clusterAPI("g"))
}

// reserved says that a namespace, which is an expression, belongs to the cluster, or is none.
func reserved(namespace string) string {
	prefixes := make([]string, len(reservedPrefixes))
	for i, p := range reservedPrefixes {
		prefixes[i] = fmt.Sprintf("%s.startsWith(%s)", namespace, text(p))
	}
	return fmt.Sprintf("(%s in %s || %s)", namespace, list(append([]string{""}, reservedNames...)), strings.Join(prefixes, " || "))
}

// Open says that a namespace is one of the providers', or may be one that the profile brings: an API server sees no second
// object, and cannot tell that from any other namespace that does not belong to the cluster.
func (p *Policy) Open(namespace string) string {
	return fmt.Sprintf("(%s in %s || !%s)", namespace, list(p.Namespaces), reserved(namespace))
}

// served says that a client configuration of a webhook leads to a Service of the providers.
func (p *Policy) served(client string) string {
	return fill("(!has($c.url) && $open)", "$open", p.Open(client+".?service.?namespace.orValue('')"), "$c", client)
}

// about says that a rule of a webhook is about Cluster API's groups, or its namespaces are the providers'; see within.
func (p *Policy) about(rule, selector string) string {
	return fill(`($groups ||
  $r.?scope.orValue('*') == 'Namespaced' && (
    $s.?matchLabels[?'kubernetes.io/metadata.name'].orValue('') in $ours ||
    $s.?matchExpressions.orValue([]).exists(e, e.key == 'kubernetes.io/metadata.name' && e.operator == 'In' && size(e.values) > 0 && e.values.all(v, v in $ours))))`,
		"$groups", allClusterAPI(rule+".?apiGroups.orValue([])"), "$ours", list(p.Namespaces), "$r", rule, "$s", selector)
}

// Expression is what an API server asks of an object that the installer writes, and what the rule refuses if it is false.
// It is empty for rules of which no single object can be asked, see the package admission.
func (r Rule) Expression(p *Policy) string {
	if r.expression == nil {
		return ""
	}
	return r.expression(p)
}

// Called are the names by which an exception may call an object; see called.
func Called() string {
	return fill(`[(has(object.metadata.namespace) ? object.metadata.namespace + '/' : '') + object.metadata.name].map(name,
  (request.kind.group == '' || request.kind.group + '/' + request.kind.kind in $known ? [request.kind.kind + ' ' + name] : []) +
  (request.kind.group == '' ? [] : [request.kind.kind + '.' + request.kind.group + ' ' + name]))[0]`,
		"$known", list(sortedKeys(Kinds)))
}

// kept says that a field is as it was in the stored object.
func kept(field string) string {
	return fill("object.?$f == variables.stored.?$f", "$f", field)
}

// rulesOf are the rules of a role, which an API server shows as null where there are none.
func rulesOf(role string) string {
	return fill("(has($r.rules) && $r.rules != null ? $r.rules : [])", "$r", role)
}

// of asks something of objects of some kinds alone.
func of(kinds []string, asks string) string {
	return fmt.Sprintf("!(variables.kind in %s) ||\n%s", list(kinds), asks)
}
