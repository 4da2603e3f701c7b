package privatecrds_test

// rows are upstream objects and the private ones that stand for them; none where there is none.
var rows = map[string]struct{ upstream, private string }{
	"a definition of several versions is converted by the shim, and keeps its contract": {
		upstream: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: machines.cluster.x-k8s.io
  annotations: {cert-manager.io/inject-ca-from: capi-system/serving-cert, controller-gen.kubebuilder.io/version: v0.19.0}
  labels: {cluster.x-k8s.io/provider: cluster-api, clusterctl.cluster.x-k8s.io: "", clusterctl.cluster.x-k8s.io/core: "", cluster.x-k8s.io/v1beta1: v1beta1, cluster.x-k8s.io/v1beta2: v1beta2}
spec:
  group: cluster.x-k8s.io
  names: {kind: Machine, listKind: MachineList, plural: machines, singular: machine, shortNames: [ma], categories: [cluster-api, all]}
  scope: Namespaced
  conversion: {strategy: Webhook, webhook: {clientConfig: {caBundle: x, service: {name: s, namespace: n, path: /convert}}, conversionReviewVersions: [v1, v1beta1]}}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {description: of cluster.x-k8s.io/v1beta1, type: object}}}
  - {name: v1beta2, served: true, storage: true}
`,
		private: `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: machines.cluster.hypershift.openshift.io
  annotations: {service.beta.openshift.io/inject-cabundle: "true", controller-gen.kubebuilder.io/version: v0.19.0}
  labels: {cluster.x-k8s.io/v1beta1: v1beta1, cluster.x-k8s.io/v1beta2: v1beta2}
spec:
  group: cluster.hypershift.openshift.io
  names: {kind: Machine, listKind: MachineList, plural: machines, singular: machine, categories: [all]}
  scope: Namespaced
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: capi-shim, namespace: capstan, path: /convert, port: 443}}, conversionReviewVersions: [v1]}}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {description: of cluster.x-k8s.io/v1beta1, type: object}}}
  - {name: v1beta2, served: true, storage: true}
`,
	},
	"a definition of a provider is converted by the provider, by way of the shim": {
		upstream: `{kind: CustomResourceDefinition, metadata: {name: awsmachines.infrastructure.cluster.x-k8s.io}, spec: {group: infrastructure.cluster.x-k8s.io, names: {kind: AWSMachine, categories: [cluster-api]},
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {path: /convert}}}}, versions: [{name: v1beta1}, {name: v1beta2}]}}`,
		private: `{kind: CustomResourceDefinition, metadata: {name: awsmachines.infrastructure.cluster.hypershift.openshift.io, annotations: {service.beta.openshift.io/inject-cabundle: "true"}},
  spec: {group: infrastructure.cluster.hypershift.openshift.io, names: {kind: AWSMachine},
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: capi-shim, namespace: capstan, path: /convert/aws/convert, port: 443}}, conversionReviewVersions: [v1]}}, versions: [{name: v1beta1}, {name: v1beta2}]}}`,
	},
	"a definition of one version converts nothing": {
		upstream: `{kind: CustomResourceDefinition, metadata: {name: machines.cluster.x-k8s.io, annotations: {cert-manager.io/inject-ca-from: a/b}}, spec: {group: cluster.x-k8s.io, names: {kind: Machine},
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {path: /convert}}}}, versions: [{name: v1beta2}]}}`,
		private: `{kind: CustomResourceDefinition, metadata: {name: machines.cluster.hypershift.openshift.io}, spec: {group: cluster.hypershift.openshift.io, names: {kind: Machine},
  conversion: {strategy: None}, versions: [{name: v1beta2}]}}`,
	},
	"versions of a provider between which nothing is converted stay so": {
		upstream: `{kind: CustomResourceDefinition, metadata: {name: as.infrastructure.cluster.x-k8s.io}, spec: {group: infrastructure.cluster.x-k8s.io, names: {kind: A}, versions: [{name: v1}, {name: v2}]}}`,
		private: `{kind: CustomResourceDefinition, metadata: {name: as.infrastructure.cluster.hypershift.openshift.io}, spec: {group: infrastructure.cluster.hypershift.openshift.io, names: {kind: A},
  conversion: {strategy: None}, versions: [{name: v1}, {name: v2}]}}`,
	},
	"the key of a label in a rule is no group, and a property may be called default": {
		upstream: `{kind: CustomResourceDefinition, metadata: {name: as.cluster.x-k8s.io}, spec: {group: cluster.x-k8s.io, names: {kind: A}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {default: {description: cluster.x-k8s.io, example: cluster.x-k8s.io/v1beta1}},
  x-kubernetes-validations: [{rule: "self.metadata.labels['cluster.x-k8s.io/cluster-name'] == 'a' || 'infrastructure.cluster.x-k8s.io/b' in self.metadata.annotations"}]}}}]}}`,
		private: `{kind: CustomResourceDefinition, metadata: {name: as.cluster.hypershift.openshift.io}, spec: {group: cluster.hypershift.openshift.io, names: {kind: A}, conversion: {strategy: None}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {default: {description: cluster.x-k8s.io, example: cluster.x-k8s.io/v1beta1}},
  x-kubernetes-validations: [{rule: "self.metadata.labels['cluster.x-k8s.io/cluster-name'] == 'a' || 'infrastructure.cluster.x-k8s.io/b' in self.metadata.annotations"}]}}}]}}`,
	},
	"a definition of another group is left out": {
		upstream: `{kind: CustomResourceDefinition, metadata: {name: as.example.com}, spec: {group: example.com}}`,
	},
	"a group under another prefix is left out": {
		upstream: `{kind: CustomResourceDefinition, metadata: {name: as.other.cluster.x-k8s.io}, spec: {group: other.cluster.x-k8s.io}}`,
	},
	"the rules of a role move, and names of definitions with them": {
		upstream: `{kind: ClusterRole, metadata: {name: capi-manager-role, labels: {cluster.x-k8s.io/provider: cluster-api, cluster.x-k8s.io/aggregate-to-manager: "true"}}, rules: [
  {apiGroups: ["", cluster.x-k8s.io, infrastructure.cluster.x-k8s.io], resources: ["*"], verbs: [get]},
  {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [machines.cluster.x-k8s.io, as.example.com], verbs: [patch]}]}`,
		private: `{kind: ClusterRole, metadata: {name: private-capi-manager-role, labels: {cluster.hypershift.openshift.io/aggregate-to-manager: "true"}}, rules: [
  {apiGroups: ["", cluster.hypershift.openshift.io, infrastructure.cluster.hypershift.openshift.io], resources: ["*"], verbs: [get]},
  {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [machines.cluster.hypershift.openshift.io, as.example.com], verbs: [patch]}]}`,
	},
	"a role that gathers others gathers the private ones": {
		upstream: `{kind: ClusterRole, metadata: {name: capi-aggregated}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {cluster.x-k8s.io/aggregate-to-manager: "true", team: a}}]}}`,
		private:  `{kind: ClusterRole, metadata: {name: private-capi-aggregated}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {cluster.hypershift.openshift.io/aggregate-to-manager: "true", team: a}}]}}`,
	},
	"a role that gathers a provider's others gathers the private ones": {
		upstream: `{kind: ClusterRole, metadata: {name: r, labels: {rbac.authorization.k8s.io/aggregate-to-admin: "true"}}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {capv.infrastructure.cluster.x-k8s.io/aggregate-to-manager: "true"}}]}}`,
		private:  `{kind: ClusterRole, metadata: {name: private-r, labels: {rbac.authorization.k8s.io/aggregate-to-admin: "true"}}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {capv.infrastructure.cluster.hypershift.openshift.io/aggregate-to-manager: "true"}}]}}`,
	},
	"a role that gathers others by an expression gathers the private ones": {
		upstream: `{kind: ClusterRole, metadata: {name: r}, aggregationRule: {clusterRoleSelectors: [{matchExpressions: [{key: cluster.x-k8s.io/aggregate-to-manager, operator: Exists}, {key: team, operator: Exists}]}]}}`,
		private:  `{kind: ClusterRole, metadata: {name: private-r}, aggregationRule: {clusterRoleSelectors: [{matchExpressions: [{key: cluster.hypershift.openshift.io/aggregate-to-manager, operator: Exists}, {key: team, operator: Exists}]}]}}`,
	},
	"a role about other things is gathered with the private ones where it is gathered": {
		upstream: `{kind: ClusterRole, metadata: {name: agent, labels: {cluster.x-k8s.io/aggregate-to-manager: "true"}}, rules: [{apiGroups: [capi-provider.example.com], resources: [agentmachines], verbs: [get]}]}`,
		private:  `{kind: ClusterRole, metadata: {name: private-agent, labels: {cluster.hypershift.openshift.io/aggregate-to-manager: "true"}}, rules: [{apiGroups: [capi-provider.example.com], resources: [agentmachines], verbs: [get]}]}`,
	},
	"the name of a Lease is no definition's": {
		upstream: `{kind: Role, metadata: {name: leader, namespace: n}, rules: [{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [faf2b2ca.cluster.x-k8s.io], verbs: [update]}]}`,
	},
	"a role about everything, and not about Cluster API, is left out": {
		upstream: `{kind: ClusterRole, metadata: {name: admin}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`,
	},
	"a role about other things is left out": {
		upstream: `{kind: Role, metadata: {name: leader-election, namespace: n}, rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get]}]}`,
	},
	"webhooks are asked by way of the shim, and not about the migration": {
		upstream: `{kind: MutatingWebhookConfiguration, metadata: {name: capa, annotations: {cert-manager.io/inject-ca-from: a/b}}, webhooks: [
  {name: default.a.x-k8s.io, admissionReviewVersions: [v1, v1beta1], failurePolicy: Fail, sideEffects: None, clientConfig: {caBundle: x, service: {name: s, namespace: n, path: /mutate-a}},
   matchConditions: [{name: mine, expression: "true"}],
   rules: [{apiGroups: [infrastructure.cluster.x-k8s.io, example.com], apiVersions: [v1], operations: [CREATE], resources: [as]}, {apiGroups: [example.com], resources: [bs]}]},
  {name: foreign, clientConfig: {service: {path: /b}}, rules: [{apiGroups: [example.com], resources: [bs]}]}]}`,
		private: `{kind: MutatingWebhookConfiguration, metadata: {name: private-capa, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}, webhooks: [
  {name: default.a.x-k8s.io, admissionReviewVersions: [v1], failurePolicy: Fail, sideEffects: None, clientConfig: {service: {name: capi-shim, namespace: capstan, path: /admit/aws/mutate-a, port: 443}},
   matchConditions: [{name: mine, expression: "true"}, {name: not-the-migration, expression: 'request.userInfo.username != "system:serviceaccount:capstan:capstan"'}],
   rules: [{apiGroups: [infrastructure.cluster.hypershift.openshift.io], apiVersions: [v1], operations: [CREATE], resources: [as]}]}]}`,
	},
	"a webhook at a URL is asked by the path of it": {
		upstream: `{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {url: "https://host:9443/validate"}}]}`,
		private: `{kind: ValidatingWebhookConfiguration, metadata: {name: private-v, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}, webhooks: [
  {admissionReviewVersions: [v1], rules: [{apiGroups: [cluster.hypershift.openshift.io]}], clientConfig: {service: {name: capi-shim, namespace: capstan, path: /admit/aws/validate, port: 443}},
   matchConditions: [{name: not-the-migration, expression: 'request.userInfo.username != "system:serviceaccount:capstan:capstan"'}]}]}`,
	},
	"webhooks of other groups are left out": {
		upstream: `{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{rules: [{apiGroups: [example.com]}], clientConfig: {service: {path: /v}}}]}`,
	},
}

const schemaOf = `{kind: CustomResourceDefinition, metadata: {name: as.cluster.x-k8s.io}, spec: {group: cluster.x-k8s.io, names: {kind: A}, versions: [{name: v1}, {name: v2, schema: {openAPIV3Schema: `

// refusals are objects of which there is no private form, and what the error says.
var refusals = map[string]struct {
	upstream string
	says     []string
}{
	"a group in a default":                 {schemaOf + `{properties: {spec: {default: {ref: {apiVersion: cluster.x-k8s.io/v1beta1}}}}}}}]}}`, []string{"CustomResourceDefinition as.cluster.x-k8s.io", "spec.versions[v2].schema.openAPIV3Schema.properties.spec.default.ref.apiVersion", `"cluster.x-k8s.io/v1beta1"`}},
	"a group in an enum":                   {schemaOf + `{properties: {a: {items: {enum: [x, infrastructure.cluster.x-k8s.io]}}}}}}]}}`, []string{"properties.a.items.enum[1]", "infrastructure.cluster.x-k8s.io"}},
	"a group in a pattern":                 {schemaOf + `{properties: {a: {pattern: '^cluster\.x-k8s\.io/v1.*$'}}}}}]}}`, []string{"properties.a.pattern", `names the standard group cluster.x-k8s.io`}},
	"a group in a rule":                    {schemaOf + `{x-kubernetes-validations: [{rule: "self.ref.apiVersion.startsWith('controlplane.cluster.x-k8s.io/')"}]}}}]}}`, []string{"openAPIV3Schema.x-kubernetes-validations[0].rule", "controlplane.cluster.x-k8s.io"}},
	"a group in the message of a rule":     {schemaOf + `{anyOf: [{x-kubernetes-validations: [{rule: "true", messageExpression: "'cluster.x-k8s.io'"}]}]}}}]}}`, []string{"anyOf[0].x-kubernetes-validations[0].messageExpression"}},
	"a group in the pattern of a name":     {schemaOf + `{patternProperties: {'^cluster[.]x-k8s[.]io$': {}}}}}]}}`, []string{"patternProperties"}},
	"a group as an end in a rule":          {schemaOf + `{x-kubernetes-validations: [{rule: "self.apiGroup.endsWith('.cluster.x-k8s.io')"}]}}}]}}`, []string{"x-kubernetes-validations[0].rule", "group cluster.x-k8s.io"}},
	"groups of several prefixes":           {schemaOf + `{pattern: '^(infrastructure|bootstrap)\.cluster\.x-k8s\.io/v1beta1$'}}}]}}`, []string{"openAPIV3Schema.pattern", "group cluster.x-k8s.io"}},
	"groups of any prefix":                 {schemaOf + `{pattern: '^[a-z]+\.cluster\.x-k8s\.io$'}}}]}}`, []string{"openAPIV3Schema.pattern", "group cluster.x-k8s.io"}},
	"a group whose hyphen is escaped":      {schemaOf + `{pattern: '^cluster\.x\-k8s\.io$'}}}]}}`, []string{"openAPIV3Schema.pattern", "group cluster.x-k8s.io"}},
	"a group whose slash is escaped":       {schemaOf + `{pattern: '^infrastructure\.cluster\.x-k8s\.io\/v1beta1$'}}}]}}`, []string{"openAPIV3Schema.pattern", "infrastructure.cluster.x-k8s.io"}},
	"a group before a kind":                {schemaOf + `{x-kubernetes-validations: [{rule: "self.kind == 'infrastructure.cluster.x-k8s.io/AWSMachine'"}]}}}]}}`, []string{"infrastructure.cluster.x-k8s.io"}},
	"a group as an end in a webhook":       {`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{matchConditions: [{name: a, expression: "request.kind.group.endsWith('.cluster.x-k8s.io')"}], rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {service: {path: /v}}}]}`, []string{"webhooks[0].matchConditions[0].expression"}},
	"the name of a definition in a rule":   {schemaOf + `{x-kubernetes-validations: [{rule: "self.a == 'machines.cluster.x-k8s.io'"}]}}}]}}`, []string{"machines.cluster.x-k8s.io"}},
	"a name that is not plural.group":      {`{kind: CustomResourceDefinition, metadata: {name: as}, spec: {group: cluster.x-k8s.io, names: {kind: A}, versions: [{name: v1}]}}`, []string{"metadata.name", "plural.group"}},
	"a version without a name":             {`{kind: CustomResourceDefinition, metadata: {name: as.cluster.x-k8s.io}, spec: {group: cluster.x-k8s.io, names: {kind: A}, versions: [{served: true}]}}`, []string{"spec.versions[0]"}},
	"a conversion that nobody makes":       {`{kind: CustomResourceDefinition, metadata: {name: as.infrastructure.cluster.x-k8s.io}, spec: {group: infrastructure.cluster.x-k8s.io, names: {kind: A}, conversion: {strategy: Webhook}, versions: [{name: v1}, {name: v2}]}}`, []string{"spec.conversion.webhook.clientConfig", "neither a Service nor a URL"}},
	"a webhook that is asked of all":       {`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{rules: [{apiGroups: ["*"]}], clientConfig: {service: {path: /v}}}]}`, []string{"webhooks[0].rules[0].apiGroups"}},
	"a webhook with a group in a rule":     {`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{matchConditions: [{name: a, expression: "request.kind.group == 'cluster.x-k8s.io'"}], rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {service: {path: /v}}}]}`, []string{"webhooks[0].matchConditions[0].expression"}},
	"a webhook whose path is two paths":    {`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {service: {path: /../convert}}}]}`, []string{"webhooks[0].clientConfig", "not clean"}},
	"a webhook at a URL with a query":      {`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {url: "https://host/v?a=b"}}]}`, []string{"has a query"}},
	"a role about every group":             {`{kind: ClusterRole, metadata: {name: r}, rules: [{apiGroups: [cluster.x-k8s.io]}, {apiGroups: ["*"], resources: ["*"]}]}`, []string{"rules[1].apiGroups", "every group"}},
	"a gathered role about every group":    {`{kind: ClusterRole, metadata: {name: r, labels: {cluster.x-k8s.io/aggregate-to-manager: "true"}}, rules: [{apiGroups: ["*"]}]}`, []string{"rules[0].apiGroups", "every group"}},
	"rules of a role that are no list":     {`{kind: ClusterRole, metadata: {name: r}, rules: 3}`, []string{"rules"}},
	"webhooks that are no list":            {`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: 3}`, []string{"webhooks"}},
	"a definition whose spec is no map":    {`{kind: CustomResourceDefinition, metadata: {name: a}, spec: 3}`, []string{"spec"}},
	"an aggregation that cannot be read":   {`{kind: ClusterRole, metadata: {name: r}, aggregationRule: {clusterRoleSelectors: 3}}`, []string{"aggregationRule"}},
	"a webhook that nobody could be asked": {`{kind: ValidatingWebhookConfiguration, metadata: {name: v}, webhooks: [{rules: [{apiGroups: [cluster.x-k8s.io]}], clientConfig: {}}]}`, []string{"neither a Service nor a URL"}},
}
