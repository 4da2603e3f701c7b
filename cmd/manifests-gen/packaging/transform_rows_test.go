package packaging

var selectionRows = map[string]struct{ in, want string }{
	"namespaces, secrets and cert-manager objects are dropped, other kinds stay": {
		in: `
{apiVersion: v1, kind: Namespace, metadata: {name: capa-system}}
---
{apiVersion: v1, kind: Secret, metadata: {name: credentials, namespace: capa-system}}
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: selfsigned, namespace: capa-system}}
---
{apiVersion: cert-manager.io/v1alpha2, kind: Certificate, metadata: {name: ca, namespace: capa-system}, spec: {isCA: true}}
---
{apiVersion: acme.cert-manager.io/v1, kind: Order, metadata: {name: order, namespace: capa-system}}
---
{apiVersion: bitnami.com/v1, kind: Secret, metadata: {name: foreign, namespace: capa-system}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: capa-system}}`,
		want: `
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: openshift-cluster-api}}
---
{apiVersion: bitnami.com/v1, kind: Secret, metadata: {name: foreign, namespace: openshift-cluster-api}}`,
	},
	"objects of one kind come in the order of their names": {
		in: `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bs.x.io}}`,
		want: `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bs.x.io}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}}`,
	},
	"what only a running cluster knows is removed": {
		in: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, creationTimestamp: null}
spec:
  versions:
  - name: v1
    schema: {openAPIV3Schema: {properties: {status: {type: object}, creationTimestamp: {type: string}}}}
status: {conditions: [], storedVersions: [v1]}`,
		want: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  versions:
  - name: v1
    schema: {openAPIV3Schema: {properties: {status: {type: object}, creationTimestamp: {type: string}}}}`,
	},
}

var namespaceRows = map[string]struct{ in, want string }{
	"cluster-scoped objects lose the namespace that kustomize gave them": {
		in: `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p, namespace: capa-system}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: p, namespace: capa-system}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: cs.z.io}, spec: {group: z.io, scope: Cluster, names: {kind: C}}}
---
{apiVersion: z.io/v1, kind: C, metadata: {name: c, namespace: capa-system}}
---
{apiVersion: zz.io/v1, kind: Foreign, metadata: {name: f, namespace: capa-system}}`,
		want: `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: p}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: cs.z.io}, spec: {group: z.io, scope: Cluster, names: {kind: C}}}
---
{apiVersion: z.io/v1, kind: C, metadata: {name: c}}
---
{apiVersion: zz.io/v1, kind: Foreign, metadata: {name: f, namespace: openshift-cluster-api}}`,
	},
	"namespaced objects move, also those without a namespace": {
		in: `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: with, namespace: capa-system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: without}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget}}`,
		want: `
{apiVersion: v1, kind: ServiceAccount, metadata: {name: with, namespace: openshift-cluster-api}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: without, namespace: openshift-cluster-api}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget, namespace: openshift-cluster-api}}`,
	},
	"objects of a type that the provider defines follow its scope": {
		in: `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.io}, spec: {group: x.io, scope: Namespaced, names: {kind: A}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bs.x.io}, spec: {group: x.io, scope: Cluster, names: {kind: B}}}
---
{apiVersion: x.io/v1, kind: A, metadata: {name: a}}
---
{apiVersion: x.io/v1, kind: B, metadata: {name: b}}`,
		want: `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.x.io}, spec: {group: x.io, scope: Namespaced, names: {kind: A}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: bs.x.io}, spec: {group: x.io, scope: Cluster, names: {kind: B}}}
---
{apiVersion: x.io/v1, kind: A, metadata: {name: a, namespace: openshift-cluster-api}}
---
{apiVersion: x.io/v1, kind: B, metadata: {name: b}}`,
	},
	"service accounts among subjects move, users and groups do not": {
		in: `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
subjects:
- {kind: ServiceAccount, name: manager, namespace: capa-system}
- {kind: Group, name: system:masters, apiGroup: rbac.authorization.k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader, namespace: capa-system}
subjects:
- {kind: ServiceAccount, name: manager}`,
		want: `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
subjects:
- {kind: ServiceAccount, name: manager, namespace: openshift-cluster-api}
- {kind: Group, name: system:masters, apiGroup: rbac.authorization.k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader, namespace: openshift-cluster-api}
subjects:
- {kind: ServiceAccount, name: manager, namespace: openshift-cluster-api}`,
	},
	"the services of conversion webhooks and aggregated APIs move": {
		in: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hook, namespace: capa-system, path: /convert}}}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com}
spec: {service: {name: api, namespace: capa-system}}`,
		want: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hook, namespace: openshift-cluster-api, path: /convert}}}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com}
spec: {service: {name: api, namespace: openshift-cluster-api}}`,
	},
	"the provider's namespace in arguments and environment is renamed, similar words are not": {
		in: `
{apiVersion: v1, kind: Namespace, metadata: {name: capa-system}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: capa-system}
spec:
  template:
    spec:
      containers:
      - name: agent
        image: registry.ci.openshift.org/openshift:agent
        command: [run, capa-system]
        args: [--leader-election-namespace=capa-system, "--peers=a.capa-system.svc,b.capa-system.svc", --cache=/var/capa-system-cache, "--ns=${NS:=capa-system}"]
        env:
        - {name: WHERE, value: capa-system}
        - {name: ELSEWHERE, value: kube-system}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}`,
		want: `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: openshift-cluster-api}
spec:
  template:
    spec:
      containers:
      - name: agent
        image: registry.ci.openshift.org/openshift:agent
        command: [run, openshift-cluster-api]
        args: [--leader-election-namespace=openshift-cluster-api, "--peers=a.openshift-cluster-api.svc,b.openshift-cluster-api.svc", --cache=/var/capa-system-cache, "--ns=${NS:=openshift-cluster-api}"]
        env:
        - {name: WHERE, value: openshift-cluster-api}
        - {name: ELSEWHERE, value: kube-system}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}`,
	},
}

var serviceCARows = map[string]struct{ in, want string }{
	"a Certificate becomes an annotation of the Service that it is for": {
		in: `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving-cert, namespace: capa-system}
spec: {secretName: hook-cert, dnsNames: [localhost, hook.capa-system.svc, hook.capa-system.svc.cluster.local]}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: capa-system}}
---
{apiVersion: v1, kind: Service, metadata: {name: metrics, namespace: capa-system}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: manager, namespace: capa-system}
spec: {template: {spec: {volumes: [{name: tmp, emptyDir: {}}, {name: cert, secret: {secretName: hook-cert}}]}}}`,
		want: `
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: openshift-cluster-api, annotations: {service.beta.openshift.io/serving-cert-secret-name: hook-cert}}}
---
{apiVersion: v1, kind: Service, metadata: {name: metrics, namespace: openshift-cluster-api}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: manager, namespace: openshift-cluster-api}
spec: {template: {spec: {volumes: [{name: tmp, emptyDir: {}}, {name: cert, secret: {secretName: hook-cert}}]}}}`,
	},
	"CA injection of a CRD becomes the annotation of Service CA, its placeholder goes": {
		in: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, annotations: {cert-manager.io/inject-ca-from: capa-system/serving-cert, tool: v1}}
spec: {conversion: {webhook: {clientConfig: {caBundle: Cg==, url: "https://example.com"}}}}`,
		want: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, annotations: {service.beta.openshift.io/inject-cabundle: "true", tool: v1}}
spec: {conversion: {webhook: {clientConfig: {url: "https://example.com"}}}}`,
	},
	"without CA injection a CA bundle stays and nothing is annotated": {
		in: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {conversion: {webhook: {clientConfig: {caBundle: Q0E=, url: "https://example.com"}}}}`,
		want: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {conversion: {webhook: {clientConfig: {caBundle: Q0E=, url: "https://example.com"}}}}`,
	},
	"other annotations of cert-manager are removed from everything": {
		in:   `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n, annotations: {cert-manager.io/issuer: i}}}`,
		want: `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: openshift-cluster-api}}`,
	},
}
