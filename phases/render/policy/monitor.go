package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MonitorEndpoints say where a monitor has its endpoints.
var MonitorEndpoints = map[string]string{
	"monitoring.coreos.com/PodMonitor": "podMetricsEndpoints", "monitoring.coreos.com/ServiceMonitor": "endpoints",
}

// FilesUsable are those of Prometheus that an endpoint may name: the CA of services, and the client certificate, which it shows
// and does not give away.
var FilesUsable = []string{
	"/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt",
	"/etc/prometheus/secrets/metrics-client-certs/tls.crt", "/etc/prometheus/secrets/metrics-client-certs/tls.key",
}

// labelsOfPrometheus say of metrics whose they are: alerts and dashboards of the cluster believe them. Labels that begin with __
// say where Prometheus goes.
var labelsOfPrometheus = []string{"instance", "job", "namespace"}

// relabellings are the lists of an endpoint that change labels, with the actions that would change those of Prometheus
// without naming them. A target without its namespace would have that which a metric says.
var relabellings = map[string][]string{
	"metricRelabelings": {"labelmap"}, "relabelings": {"labeldrop", "labelkeep", "labelmap"},
}

// labelLists are the lists of a monitor that copy labels of Services and pods onto its metrics.
var labelLists = []string{"podTargetLabels", "targetLabels"}

var monitorRule = Rule{
	Name: "monitor",
	Doc: "Monitors are about the providers' namespaces, which metrics cannot deny (no honorLabels, no relabelling to __..., namespace, job or " +
		"instance), ask nobody else (no proxyUrl, no oauth2), and Prometheus gives them nothing of its own: no bearerTokenFile, and no file in " +
		"tlsConfig but the CA of services and the client certificate for metrics.",
	breaches: func(c check) (breaches []Breach) {
		endpointsField, monitors := MonitorEndpoints[c.kind]
		if !monitors {
			return nil
		}
		report := reporter(&breaches)
		spec, _ := c.object.Object["spec"].(map[string]any)
		selector, _ := spec["namespaceSelector"].(map[string]any)
		if whole, given := selector["any"]; given && whole != false {
			report("spec.namespaceSelector.any", "other namespaces are not the providers'")
		}
		if names, given := selector["matchNames"]; given && !c.allInProviders(names) {
			report("spec.namespaceSelector.matchNames", "only namespaces of the providers may be named, which are %s", c.theNamespaces())
		}
		for _, field := range labelLists {
			labels, _ := spec[field].([]any)
			if slices.ContainsFunc(labels, func(l any) bool { return !steady(l) }) {
				report("spec."+field, "%s are Prometheus's own labels", strings.Join(labelsOfPrometheus, ", "))
			}
		}
		endpoints, _ := spec[endpointsField].([]any)
		for i, e := range endpoints {
			endpoint, _ := e.(map[string]any)
			breaches = append(breaches, endpointBreaches(fmt.Sprintf("spec.%s[%d].", endpointsField, i), endpoint)...)
		}
		return breaches
	},
	expression: func(p *Policy) string {
		labels := make([]string, len(labelLists))
		for i, field := range labelLists {
			labels[i] = fmt.Sprintf("(object.?spec.?%s.orValue([]).all(l, %s) || %s)", field, steadyExpression("l"), kept("spec.?"+field))
		}
		var changes []string
		for _, field := range sortedKeys(relabellings) {
			changes = append(changes, fill(`e.?$field.orValue([]).all(r, $steady && !(r.?action.orValue('').lowerAscii() in $actions))`,
				"$field", field, "$steady", steadyExpression("r.?targetLabel.orValue('')"), "$actions", list(relabellings[field])))
		}
		return of(sortedKeys(MonitorEndpoints), fill(`(object.?spec.?namespaceSelector.?any.orValue(false) == false &&
  object.?spec.?namespaceSelector.?matchNames.orValue([]).all(n, $open) || $kept) &&
$labels &&
$endpoints.all(e,
  e.?bearerTokenFile.orValue('') == '' && e.?proxyUrl.orValue('') == '' && !has(e.oauth2) && e.?honorLabels.orValue(false) == false &&
  $changes &&
  e.?tlsConfig.orValue({}).all(k, file, !k.endsWith('File') || file in $usable) ||
  e in $stored)`, "$open", p.Open("n"), "$kept", kept("spec.?namespaceSelector"), "$usable", list(append([]string{""}, FilesUsable...)),
			"$labels", strings.Join(labels, " &&\n"), "$changes", strings.Join(changes, " &&\n  "),
			"$endpoints", endpointsOf("object"), "$stored", endpointsOf("variables.stored")))
	},
}

// endpointBreaches judges one endpoint of a monitor.
func endpointBreaches(at string, endpoint map[string]any) (breaches []Breach) {
	report := reporter(&breaches)
	if file, given := endpoint["bearerTokenFile"]; given && file != "" {
		report(at+"bearerTokenFile", "the endpoint would get a token of Prometheus")
	}
	if url, given := endpoint["proxyUrl"]; given && url != "" {
		report(at+"proxyUrl", "Prometheus would go wherever the proxy is")
	}
	if _, given := endpoint["oauth2"]; given {
		report(at+"oauth2", "Prometheus would go wherever the tokens are")
	}
	if honors, given := endpoint["honorLabels"]; given && honors != false {
		report(at+"honorLabels", "the endpoint would say whose its metrics are")
	}
	for _, field := range sortedKeys(relabellings) {
		changes, _ := endpoint[field].([]any)
		for i, c := range changes {
			change, _ := c.(map[string]any)
			if label, given := change["targetLabel"]; given && !steady(label) {
				report(fmt.Sprintf("%s%s[%d].targetLabel", at, field, i), "%v says whose the metrics are, or where Prometheus goes", label)
			}
			if action, _ := change["action"].(string); slices.Contains(relabellings[field], strings.ToLower(action)) {
				report(fmt.Sprintf("%s%s[%d].action", at, field, i), "%s could change labels that say whose the metrics are, or where Prometheus goes", action)
			}
		}
	}
	tls, _ := endpoint["tlsConfig"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(tls)) {
		file, is := tls[name].(string)
		if strings.HasSuffix(name, "File") && (!is || file != "" && !slices.Contains(FilesUsable, file)) {
			report(at+"tlsConfig."+name, "only %s may be named", strings.Join(FilesUsable, ", "))
		}
	}
	return breaches
}

// steady says that a label is none of Prometheus's own, and none that is made up of values, as $1 would be.
func steady(label any) bool {
	name, is := label.(string)
	return is && !strings.HasPrefix(name, "__") && !strings.Contains(name, "$") && !slices.Contains(labelsOfPrometheus, name)
}

// steadyExpression says the same of a label that is an expression.
func steadyExpression(label string) string {
	return fill("(!$l.startsWith('__') && !$l.contains('$') && !($l in $own))", "$l", label, "$own", list(labelsOfPrometheus))
}

// endpointsOf are the endpoints of a monitor, which is an expression.
func endpointsOf(monitor string) string {
	var lists []string
	for _, kind := range sortedKeys(MonitorEndpoints) {
		lists = append(lists, fmt.Sprintf("%s.?spec.?%s.orValue([])", monitor, MonitorEndpoints[kind]))
	}
	return "(" + strings.Join(lists, " + ") + ")"
}

// allInProviders says that a value is a list of namespaces of the providers.
func (c check) allInProviders(value any) bool {
	names, is := value.([]any)
	return is && !slices.ContainsFunc(names, func(n any) bool {
		name, is := n.(string)
		return !is || !c.inProviders(name)
	})
}
