package packaging

var webhookRows = map[string]struct{ in, want string }{
	"webhooks see only the namespace, get their CA from Service CA and call their service there": {
		in: `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating, annotations: {cert-manager.io/inject-ca-from: capa-system/serving-cert}}
webhooks:
- name: one
  clientConfig: {service: {name: hook, namespace: capa-system, path: /mutate}}
- name: two
  clientConfig: {url: "https://example.com", caBundle: Cg==}`,
		want: `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}
webhooks:
- name: one
  clientConfig: {service: {name: hook, namespace: openshift-cluster-api, path: /mutate}}
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [openshift-cluster-api]}]}
- name: two
  clientConfig: {url: "https://example.com"}
  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [openshift-cluster-api]}]}`,
	},
	"a webhook that is limited already stays as it is": {
		in: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
webhooks: [{name: one, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-cluster-api}}}]`,
		want: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
webhooks: [{name: one, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: openshift-cluster-api}}}]`,
	},
	"a webhook's own selector is kept beside the limit": {
		in: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
webhooks:
- name: one
  namespaceSelector:
    matchLabels: {watched: "yes"}
    matchExpressions: [{key: ignored, operator: DoesNotExist}]`,
		want: `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
webhooks:
- name: one
  namespaceSelector:
    matchLabels: {watched: "yes"}
    matchExpressions:
    - {key: ignored, operator: DoesNotExist}
    - {key: kubernetes.io/metadata.name, operator: In, values: [openshift-cluster-api]}`,
	},
}

var workloadRows = map[string]struct{ in, want string }{
	"a Deployment gets requests, priority, annotations and policies, and loses limits": {
		in: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: capa-system, annotations: {kept: as-it-is}}
spec:
  template:
    metadata: {creationTimestamp: null, annotations: {role: "${ROLE:=none}"}}
    spec:
      priorityClassName: low
      initContainers:
      - {name: first, image: registry.ci.openshift.org/openshift:first}
      containers:
      - name: manager
        image: registry.ci.openshift.org/openshift:manager
        imagePullPolicy: Always
        args: [--namespace=capa-system]
        terminationMessagePolicy: File
        resources: {limits: {cpu: 300m, memory: 100Mi}, requests: {cpu: 100m, ephemeral-storage: 1Gi}}
      - {name: proxy, image: registry.ci.openshift.org/openshift:proxy}
status: {}`,
		want: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: openshift-cluster-api, annotations: {kept: as-it-is}}
spec:
  template:
    metadata:
      annotations:
        role: "${ROLE:=none}"
        openshift.io/required-scc: restricted-v2
        target.workload.openshift.io/management: '{"effect": "PreferredDuringScheduling"}'
    spec:
      priorityClassName: system-cluster-critical
      initContainers:
      - {name: first, image: registry.ci.openshift.org/openshift:first, imagePullPolicy: IfNotPresent, terminationMessagePolicy: FallbackToLogsOnError, resources: {requests: {cpu: 10m, memory: 50Mi}}}
      containers:
      - {name: manager, image: registry.ci.openshift.org/openshift:manager, args: [--namespace=openshift-cluster-api], imagePullPolicy: IfNotPresent, terminationMessagePolicy: FallbackToLogsOnError, resources: {requests: {cpu: 10m, memory: 50Mi}}}
      - {name: proxy, image: registry.ci.openshift.org/openshift:proxy, imagePullPolicy: IfNotPresent, terminationMessagePolicy: FallbackToLogsOnError, resources: {requests: {cpu: 10m, memory: 50Mi}}}`,
	},
}

var userRows = map[string]struct{ in, want string }{
	"pods of every workload lose fixed users and groups, and keep what else protects them": {
		in: `
apiVersion: batch/v1
kind: CronJob
metadata: {name: sweep, namespace: capa-system}
spec:
  jobTemplate:
    spec:
      template:
        spec:
          securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 1000, seLinuxOptions: {level: s0}, seccompProfile: {type: RuntimeDefault}}
          initContainers:
          - {name: first, image: registry.ci.openshift.org/openshift:first, securityContext: {runAsUser: 1}}
          containers:
          - {name: sweep, image: registry.ci.openshift.org/openshift:sweep, securityContext: {runAsUser: 65532, runAsGroup: 65532, privileged: false, capabilities: {drop: [ALL]}}}
          - {name: plain, image: registry.ci.openshift.org/openshift:plain}`,
		want: `
apiVersion: batch/v1
kind: CronJob
metadata: {name: sweep, namespace: openshift-cluster-api}
spec:
  jobTemplate:
    spec:
      template:
        spec:
          securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
          initContainers:
          - {name: first, image: registry.ci.openshift.org/openshift:first, securityContext: {}}
          containers:
          - {name: sweep, image: registry.ci.openshift.org/openshift:sweep, securityContext: {privileged: false, capabilities: {drop: [ALL]}}}
          - {name: plain, image: registry.ci.openshift.org/openshift:plain}`,
	},
}

const manager = `
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: manager, namespace: capa-system}
spec: {template: {spec: {volumes: [{name: a, secret: {secretName: cert-a}}, {name: b, secret: {secretName: cert-b}}]}}}`

var errorRows = map[string]struct{ in, object, field, reason string }{
	"a Certificate for no Service": {
		in:     `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: capa-system}, spec: {secretName: cert-a, dnsNames: [hook.capa-system.svc]}}` + manager,
		object: "Certificate capa-system/c", field: "spec.dnsNames", reason: "[hook.capa-system.svc] names no Service",
	},
	"a Certificate without DNS names": {
		in:     `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: capa-system}, spec: {secretName: cert-a}}` + manager,
		object: "Certificate capa-system/c", field: "spec.dnsNames", reason: "is empty: it must name a Service",
	},
	"a Certificate whose Secret nothing mounts": {
		in: `
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: capa-system}, spec: {secretName: other, dnsNames: [hook.capa-system.svc]}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: capa-system}}` + manager,
		object: "Certificate capa-system/c", field: "spec.secretName", reason: `is "other", but no workload mounts`,
	},
	"two Certificates for one Service": {
		in: `
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, namespace: capa-system}, spec: {secretName: cert-a, dnsNames: [hook.capa-system.svc]}}
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: b, namespace: capa-system}, spec: {secretName: cert-b, dnsNames: [hook.capa-system.svc]}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: capa-system}}` + manager,
		object: "Certificate capa-system/b", field: "spec.secretName", reason: `Service capa-system/hook already serves with Secret "cert-a"`,
	},
	"a security context that is no mapping": {
		in:     `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: capa-system}, spec: {securityContext: [], containers: [{name: c, image: "registry.ci.openshift.org/openshift:c"}]}}`,
		object: "Pod openshift-cluster-api/p", field: "spec.securityContext", reason: "is a list, not a mapping",
	},
	"a Deployment without containers": {
		in:     `{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: capa-system}}`,
		object: "Deployment openshift-cluster-api/manager", field: "spec.template.spec.containers", reason: "is empty",
	},
	"an image of another registry": {
		in:     `{apiVersion: batch/v1, kind: CronJob, metadata: {name: j}, spec: {jobTemplate: {spec: {template: {spec: {initContainers: [{name: first, image: "registry.ci.openshift.org/openshift:first"}], containers: [{name: proxy, image: "registry.ci.openshift.org.example.com/proxy"}]}}}}}}`,
		object: "CronJob openshift-cluster-api/j", field: "spec.jobTemplate.spec.template.spec.containers[0].image",
		reason: `is "registry.ci.openshift.org.example.com/proxy": the image of container "proxy" must be in registry.ci.openshift.org`,
	},
	"a container without an image": {
		in:     `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}`,
		object: "Pod openshift-cluster-api/p", field: "spec.containers[0].image", reason: `is "": the image of container "c"`,
	},
	"a list of containers that is none": {
		in:     `{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: capa-system}, spec: {template: {spec: {containers: {name: manager}}}}}`,
		object: "Deployment openshift-cluster-api/manager", field: "spec.template.spec.containers", reason: "is a mapping, not a list",
	},
	"a webhook that is none": {
		in:     `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: m}, webhooks: [{name: one}, two]}`,
		object: "MutatingWebhookConfiguration m", field: "webhooks[1]", reason: "is a string, not a mapping",
	},
	"a selector that is none": {
		in:     `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: m}, webhooks: [{namespaceSelector: all}]}`,
		object: "MutatingWebhookConfiguration m", field: "webhooks[0].namespaceSelector", reason: "is a string, not a mapping",
	},
	"two objects that become one in the namespace": {
		in: `
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: b}}`,
		object: "ConfigMap openshift-cluster-api/settings", field: "metadata.name", reason: "used by two objects",
	},
	"the same object in two versions": {
		in: `
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget, namespace: a}}
---
{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: budget, namespace: a}}`,
		object: "PodDisruptionBudget openshift-cluster-api/budget", field: "metadata.name", reason: "policy/v1 and policy/v1beta1",
	},
}
