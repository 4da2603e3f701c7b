package policy_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheck_requirement(t *testing.T) {
	requirement := func(data string) string {
		return "apiVersion: apiextensions.openshift.io/v1alpha1\nkind: CompatibilityRequirement\nmetadata: {name: a}\n" +
			"spec: {compatibilitySchema: {customResourceDefinition: {type: YAML, data: " + data + "}}}"
	}
	const refused = "requirement spec.compatibilitySchema.customResourceDefinition.data"
	judge(t, []row{
		{"for Cluster API", requirement(`"{metadata: {name: clusters.cluster.x-k8s.io}, spec: {group: cluster.x-k8s.io}}"`), nil},
		{"for others", requirement(`"{metadata: {name: routes.route.openshift.io}, spec: {group: route.openshift.io}}"`), []string{refused}},
		{"for others by name", requirement(`"{metadata: {name: routes.route.openshift.io}, spec: {group: cluster.x-k8s.io}}"`), []string{refused}},
		{"for aliases of a long text", requirement("\"{a: &a " + strings.Repeat("x", 1<<20) + ", b: [" + strings.Repeat("*a, ", 50_000) + "]}\""), []string{refused}},
		{"for nothing", requirement(`""`), []string{refused}},
		{"for what is no text", requirement("[1]"), []string{refused}},
		{"for what nobody can read", requirement(`"{"`), []string{refused}},
	})
}

func TestCheck_service(t *testing.T) {
	service := func(spec string) string {
		return "{apiVersion: v1, kind: Service, metadata: {namespace: capi, name: a}, spec: {" + spec + "}}"
	}
	judge(t, []row{
		{"for pods", service("selector: {app: a}, ports: [{port: 443, targetPort: webhook-server}], type: ClusterIP"), nil},
		{"for another name", service("type: ExternalName, externalName: example.org"), []string{"service spec.type"}},
		{"for another address", service("externalIPs: [10.0.0.1]"), []string{"service spec.externalIPs"}},
		{"that nobody can read", service("externalIPs: {}"), []string{"service"}},
	})
}

func TestCheck_monitor(t *testing.T) {
	monitor := func(spec string) string {
		return "{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {namespace: capi, name: a}, spec: {" + spec + "}}"
	}
	files := func(ca, cert, key string) string {
		return fmt.Sprintf("endpoints: [{tlsConfig: {caFile: %s, certFile: %s, keyFile: %s, serverName: a}}]", ca, cert, key)
	}
	const client = "/etc/prometheus/secrets/metrics-client-certs/tls"
	judge(t, []row{
		{"by the client certificate", monitor(files("/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt", client+".crt", client+".key")), nil},
		{"of its namespaces", monitor("namespaceSelector: {matchNames: [capi]}"), nil},
		{"of all namespaces", monitor("namespaceSelector: {any: true}"), []string{"monitor spec.namespaceSelector.any"}},
		{"of other namespaces", monitor("namespaceSelector: {matchNames: [capi, kube-system]}"), []string{"monitor spec.namespaceSelector.matchNames"}},
		{"by Prometheus's token", monitor("endpoints: [{}, {bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token}]"), []string{"monitor spec.endpoints[1].bearerTokenFile"}},
		{"by other files", monitor(files("/a", "/b", "[1]")), []string{"monitor spec.endpoints[0].tlsConfig.caFile", "monitor spec.endpoints[0].tlsConfig.certFile", "monitor spec.endpoints[0].tlsConfig.keyFile"}},
		{"of pods by a token", "{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {namespace: capi, name: a}, spec: {podMetricsEndpoints: [{bearerTokenFile: /a}]}}", []string{"monitor spec.podMetricsEndpoints[0].bearerTokenFile"}},
	})
}

func TestCheck_monitor_relabelling(t *testing.T) {
	monitor := func(spec string) string {
		return "{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {namespace: capi, name: a}, spec: {" + spec + "}}"
	}
	relabelled := func(list, entry string) string { return monitor("endpoints: [{" + list + ": [" + entry + "]}]") }
	refused := func(path string) []string { return []string{"monitor spec." + path} }
	judge(t, []row{
		{"another label", relabelled("relabelings", "{sourceLabels: [__meta_kubernetes_pod_label_a], targetLabel: a}"), nil},
		{"by another action", relabelled("relabelings", "{action: keep, sourceLabels: [namespace], regex: a}"), nil},
		{"fewer metrics", relabelled("metricRelabelings", "{action: drop, sourceLabels: [__name__], regex: a}, {action: LabelDrop, regex: a}"), nil},
		{"their own labels of a Service", monitor("jobLabel: a, targetLabels: [a], podTargetLabels: [b]"), nil},
		{"another address", relabelled("relabelings", "{targetLabel: __address__, replacement: 'kubernetes.default.svc:443'}"), refused("endpoints[0].relabelings[0].targetLabel")},
		{"another namespace", relabelled("relabelings", "{}, {targetLabel: namespace, replacement: kube-system}"), refused("endpoints[0].relabelings[1].targetLabel")},
		{"another namespace of a metric", relabelled("metricRelabelings", "{targetLabel: namespace, replacement: kube-system}"), refused("endpoints[0].metricRelabelings[0].targetLabel")},
		{"another name of a metric", relabelled("metricRelabelings", "{targetLabel: __name__, replacement: up}"), refused("endpoints[0].metricRelabelings[0].targetLabel")},
		{"another job", relabelled("relabelings", "{targetLabel: job, replacement: apiserver}"), refused("endpoints[0].relabelings[0].targetLabel")},
		{"another instance", relabelled("relabelings", "{targetLabel: instance, replacement: a}"), refused("endpoints[0].relabelings[0].targetLabel")},
		{"a label that is made up", relabelled("relabelings", "{sourceLabels: [a], targetLabel: '${1}'}"), refused("endpoints[0].relabelings[0].targetLabel")},
		{"a label that nobody can read", relabelled("relabelings", "{targetLabel: [a]}"), refused("endpoints[0].relabelings[0].targetLabel")},
		{"any label", relabelled("relabelings", "{action: LabelMap, regex: '__meta_kubernetes_service_label_(.+)'}"), refused("endpoints[0].relabelings[0].action")},
		{"any label of a metric", relabelled("metricRelabelings", "{action: labelmap, regex: 'exported_(.+)'}"), refused("endpoints[0].metricRelabelings[0].action")},
		{"no namespace", relabelled("relabelings", "{action: labeldrop, regex: namespace}"), refused("endpoints[0].relabelings[0].action")},
		{"nothing but the address", relabelled("relabelings", "{action: labelkeep, regex: '__.*'}"), refused("endpoints[0].relabelings[0].action")},
		{"labels of whoever is asked", monitor("endpoints: [{honorLabels: true}]"), refused("endpoints[0].honorLabels")},
		{"none of them", monitor("endpoints: [{honorLabels: false}]"), nil},
		{"by a proxy", monitor("endpoints: [{proxyUrl: 'http://a'}]"), refused("endpoints[0].proxyUrl")},
		{"by a token of another server", monitor("endpoints: [{oauth2: {tokenUrl: 'http://a'}}]"), refused("endpoints[0].oauth2")},
		{"the namespace that a Service says", monitor("targetLabels: [a, namespace]"), refused("targetLabels")},
		{"the job that a pod says", monitor("podTargetLabels: [job]"), refused("podTargetLabels")},
		{"of pods", "{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {namespace: capi, name: a}, spec: {podMetricsEndpoints: [{relabelings: [{targetLabel: namespace}]}]}}", refused("podMetricsEndpoints[0].relabelings[0].targetLabel")},
	})
}

func TestCheck_broughtNamespace_marks(t *testing.T) {
	namespace := func(name, key, value string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%[2]q: %[3]q}, annotations: {%[2]q: %[3]q}}}", name, key, value)
	}
	refused := func(key string) []string {
		return []string{"brought-namespace metadata.annotations." + key, "brought-namespace metadata.labels." + key}
	}
	judge(t, []row{
		{"what nobody acts on", namespace("metal", "example.org/a", "b"), nil},
		{"a name for people", namespace("metal", "openshift.io/display-name", "Metal"), nil},
		{"restricted pods", namespace("metal", "pod-security.kubernetes.io/enforce", "restricted"), nil},
		{"privileged pods", namespace("metal", "pod-security.kubernetes.io/enforce", "privileged"), refused("pod-security.kubernetes.io/enforce")},
		{"monitoring of the providers' Namespace", namespace("capi", "openshift.io/cluster-monitoring", "true"), nil},
		{"monitoring of another", namespace("metal", "openshift.io/cluster-monitoring", "true"), refused("openshift.io/cluster-monitoring")},
		{"the users of others", namespace("capi", "openshift.io/sa.scc.uid-range", "0/1"), refused("openshift.io/sa.scc.uid-range")},
		{"the labels of others", namespace("capi", "openshift.io/sa.scc.mcs", "s0:c1,c0"), refused("openshift.io/sa.scc.mcs")},
		{"another mark of security", namespace("capi", "security.openshift.io/a", "b"), refused("security.openshift.io/a")},
	})
}
