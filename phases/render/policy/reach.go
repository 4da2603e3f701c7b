package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// requirementKind forbids changes of a definition that others have.
const requirementKind = "apiextensions.openshift.io/CompatibilityRequirement"

var requirementRule = Rule{
	Name: "requirement",
	Doc:  "CompatibilityRequirements are for definitions of Cluster API's groups or Azure's.",
	breaches: func(c check) []Breach {
		if !c.is(requirementKind) {
			return nil
		}
		path := []string{"spec", "compatibilitySchema", "customResourceDefinition", "data"}
		text, _, _ := unstructured.NestedString(c.object.Object, path...)
		// Only what is judged is read: aliases of the rest could stand for any number of bytes.
		var crd struct {
			Metadata struct{ Name string }
			Spec     struct{ Group string }
		}
		if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
			return []Breach{{Path: strings.Join(path, "."), Why: "the definition cannot be read: " + err.Error()}}
		}
		// The requirement is for the definition of this name, so both must be of the group.
		if !defines(crd.Spec.Group) || !definedByProviders(crd.Metadata.Name) {
			return []Breach{{Path: strings.Join(path, "."), Why: fmt.Sprintf("definition %q of group %q is not one that providers have", crd.Metadata.Name, crd.Spec.Group)}}
		}
		return nil
	},
}

var serviceRule = Rule{
	Name: "service",
	Doc:  "Services lead to pods: they are not of type ExternalName and have no externalIPs.",
	breaches: func(c check) (breaches []Breach) {
		if !c.is("/Service") {
			return nil
		}
		service := &corev1.Service{}
		breaches = c.read(service)
		report := reporter(&breaches)
		if service.Spec.Type == corev1.ServiceTypeExternalName || service.Spec.ExternalName != "" {
			report("spec.type", "an ExternalName leads whoever asks for the Service elsewhere")
		}
		if len(service.Spec.ExternalIPs) > 0 {
			report("spec.externalIPs", "the Service would take traffic that is not the providers'")
		}
		return breaches
	},
	expression: func(*Policy) string {
		return of([]string{"/Service"}, fmt.Sprintf(`(object.?spec.?type.orValue('') != 'ExternalName' || %s) &&
(object.?spec.?externalName.orValue('') == '' || %s) &&
(object.?spec.?externalIPs.orValue([]) == [] || %s)`, kept("spec.?type"), kept("spec.?externalName"), kept("spec.?externalIPs")))
	},
}

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

var monitorRule = Rule{
	Name: "monitor",
	Doc: "Monitors are about the providers' namespaces, and Prometheus gives them nothing of its own: no bearerTokenFile, and no file in " +
		"tlsConfig but the CA of services and the client certificate for metrics.",
	breaches: func(c check) (breaches []Breach) {
		field, monitors := MonitorEndpoints[c.kind]
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
		endpoints, _ := spec[field].([]any)
		for i, e := range endpoints {
			endpoint, _ := e.(map[string]any)
			at := fmt.Sprintf("spec.%s[%d].", field, i)
			if file, given := endpoint["bearerTokenFile"]; given && file != "" {
				report(at+"bearerTokenFile", "the endpoint would get a token of Prometheus")
			}
			tls, _ := endpoint["tlsConfig"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(tls)) {
				file, is := tls[name].(string)
				if strings.HasSuffix(name, "File") && (!is || file != "" && !slices.Contains(FilesUsable, file)) {
					report(at+"tlsConfig."+name, "only %s may be named", strings.Join(FilesUsable, ", "))
				}
			}
		}
		return breaches
	},
	expression: func(p *Policy) string {
		return of(sortedKeys(MonitorEndpoints), fill(`(object.?spec.?namespaceSelector.?any.orValue(false) == false &&
  object.?spec.?namespaceSelector.?matchNames.orValue([]).all(n, $open) || $kept) &&
$endpoints.all(e,
  e.?bearerTokenFile.orValue('') == '' &&
  e.?tlsConfig.orValue({}).all(k, file, !k.endsWith('File') || file in $usable) ||
  e in $stored)`, "$open", p.Open("n"), "$kept", kept("spec.?namespaceSelector"), "$usable", list(append([]string{""}, FilesUsable...)),
			"$endpoints", endpointsOf("object"), "$stored", endpointsOf("variables.stored")))
	},
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
