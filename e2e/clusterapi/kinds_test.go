package clusterapi_test

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// builtin is one object of each kind that an image may bring besides those of Cluster API's groups, in the order in which
// they can be created. Nothing has to run for any of them.
const builtin = `
{apiVersion: v1, kind: Namespace, metadata: {name: every-kind}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: every-kind, namespace: openshift-cluster-api}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: every-kind, namespace: openshift-cluster-api}}
---
{apiVersion: v1, kind: Secret, metadata: {name: every-kind, namespace: openshift-cluster-api}}
---
{apiVersion: v1, kind: Service, metadata: {name: every-kind, namespace: openshift-cluster-api}, spec: {ports: [{port: 443}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: every-kind, namespace: openshift-cluster-api}
spec: {replicas: 0, selector: {matchLabels: {app: every}}, template: {metadata: {labels: {app: every}}, spec: {containers: [{name: c, image: c}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: every-kind, namespace: openshift-cluster-api}
spec: {serviceName: none, replicas: 0, selector: {matchLabels: {app: every}}, template: {metadata: {labels: {app: every}}, spec: {containers: [{name: c, image: c}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: every-kind, namespace: openshift-cluster-api}
spec: {selector: {matchLabels: {app: every}}, template: {metadata: {labels: {app: every}}, spec: {nodeSelector: {nobody: here}, containers: [{name: c, image: c}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: every-kind, namespace: openshift-cluster-api}
spec: {suspend: true, schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: every-kind, namespace: openshift-cluster-api}
spec: {completions: 0, template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: every-kind, namespace: openshift-cluster-api}, spec: {podSelector: {matchLabels: {app: every}}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: every-kind, namespace: openshift-cluster-api}, spec: {selector: {matchLabels: {app: every}}}}
---
{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: one, namespace: openshift-cluster-api}}
---
{apiVersion: monitoring.coreos.com/v1, kind: PrometheusRule, metadata: {name: one, namespace: openshift-cluster-api}}
---
{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: one, namespace: openshift-cluster-api}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: every-kind}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: every-kind}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: every-kind}
subjects: [{kind: ServiceAccount, name: every-kind, namespace: openshift-cluster-api}]
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: every-kind, namespace: openshift-cluster-api}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: every-kind, namespace: openshift-cluster-api}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: every-kind}
subjects: [{kind: ServiceAccount, name: every-kind, namespace: openshift-cluster-api}]
---
apiVersion: apiextensions.openshift.io/v1alpha1
kind: CompatibilityRequirement
metadata: {name: every-kind}
spec: {compatibilitySchema: {customResourceDefinition: {type: YAML, data: "{metadata: {name: nothings.nothing.cluster.x-k8s.io}, spec: {group: nothing.cluster.x-k8s.io}}"}, requiredVersions: {defaultSelection: StorageOnly}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: every-kind}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: every-kind}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: every-kind}
spec:
  paramKind: {apiVersion: config.openshift.io/v1, kind: Infrastructure}
  matchConstraints: {resourceRules: [{apiGroups: [nothing.cluster.x-k8s.io], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]}
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: every-kind}
spec: {policyName: every-kind, validationActions: [Deny], paramRef: {name: cluster, parameterNotFoundAction: Deny}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: every-kind}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [nothing.cluster.x-k8s.io], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]}
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "test", path: "/kind", value: object.kind}]'}}]
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: every-kind}, spec: {policyName: every-kind}}
`

// clusterAPIGroups are the groups of Cluster API that the operator has rights on.
var clusterAPIGroups = []string{
	"addons.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io", "cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io",
	"ipam.cluster.x-k8s.io", "runtime.cluster.x-k8s.io",
}

const adopting = "capi-operator.openshift.io/adopt-existing"

// everyKind is one object of each kind that an image may bring, to be adopted from whoever has it where an image may do that.
func everyKind() (objects []*unstructured.Unstructured) {
	for _, document := range strings.Split(builtin, "\n---\n") {
		o := object(document)
		if o.GetNamespace() == harness.CAPINamespace {
			o.SetAnnotations(map[string]string{adopting: "always"})
		}
		objects = append(objects, o)
	}
	for _, name := range clusterAPIGroups {
		objects = append(objects, group(name, "everykinds", "EveryKind")...)
	}
	return objects
}

// monitoringDefinitions define the kinds of OpenShift's monitoring, which the control plane lacks.
func monitoringDefinitions() (definitions []*unstructured.Unstructured) {
	for plural, kind := range map[string]string{"podmonitors": "PodMonitor", "prometheusrules": "PrometheusRule", "servicemonitors": "ServiceMonitor"} {
		definitions = append(definitions, group("monitoring.coreos.com", plural, kind)[0])
	}
	return definitions
}
