package clusterapi_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// provider is a small synthetic provider. Each method changes it and returns it,
// so that a spec reads: newProvider("alpha").at(30).on("AWS").with(configMap("more", "one")).
type provider struct {
	name         string
	installOrder int
	platform     string
	version      string
	objects      []*unstructured.Unstructured
}

// template is one object of each kind that real providers are made of. Its
// webhook asks about a resource that nobody has, and its ClusterRole lets the
// operator write the provider's custom resources, as a real one's must.
const template = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAMEs.test.cluster.x-k8s.io}
spec:
  group: test.cluster.x-k8s.io
  scope: Namespaced
  names: {plural: NAMEs, singular: NAME, kind: KIND, listKind: KINDList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: NAME, namespace: openshift-cluster-api}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: NAME
  labels: {capi-operator.openshift.io/aggregate-to-installer: "true"}
rules:
- apiGroups: [test.cluster.x-k8s.io]
  resources: [NAMEs]
  verbs: [get, list, watch, create, update, patch, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{kind: ServiceAccount, name: NAME, namespace: openshift-cluster-api}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: openshift-cluster-api}
data: {setting: one}
---
apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: openshift-cluster-api}
spec:
  selector: {app: NAME}
  ports: [{port: 443, targetPort: 9443}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: openshift-cluster-api}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      serviceAccountName: NAME
      containers: [{name: manager, image: "registry.example/self:NAME"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAME, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}
webhooks:
- name: nothings.NAME.test.cluster.x-k8s.io
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: openshift-cluster-api, name: NAME}}
  rules: [{apiGroups: [nothing.cluster.x-k8s.io], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]
`

// newProvider is a provider with one object of each kind, all called by its
// name; its CRD defines <name>s.test.cluster.x-k8s.io. It is installed at order 20 on
// every platform.
func newProvider(name string) *provider {
	p := &provider{name: name, installOrder: 20, version: "v1.0.0"}
	text := strings.NewReplacer("NAME", name, "KIND", kindOf(name)).Replace(template)
	for _, document := range strings.Split(text, "\n---\n") {
		p.objects = append(p.objects, object(document))
	}
	return p
}

// emptyProvider has no objects yet.
func emptyProvider(name string) *provider {
	return &provider{name: name, installOrder: 20, version: "v1.0.0"}
}

// kindOf is the kind that the provider of this name defines.
func kindOf(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// object parses one YAML document.
func object(document string) *unstructured.Unstructured {
	GinkgoHelper()
	o := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(document), &o.Object)).To(Succeed())
	return o
}

// configMap is one in the namespace of Cluster API, with one key.
func configMap(name, setting string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}, data: {setting: %q}}",
		name, harness.CAPINamespace, setting))
}

// custom is an object of the kind that the provider of this name defines.
func custom(providerName, name string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: test.cluster.x-k8s.io/v1, kind: %s, metadata: {name: %s, namespace: %s}, spec: {setting: one}}",
		kindOf(providerName), name, harness.CAPINamespace))
}

func (p *provider) at(installOrder int) *provider {
	p.installOrder = installOrder
	return p
}

func (p *provider) on(platform string) *provider {
	p.platform = platform
	return p
}

func (p *provider) of(version string) *provider {
	p.version = version
	return p
}

func (p *provider) with(objects ...*unstructured.Unstructured) *provider {
	p.objects = append(p.objects, objects...)
	return p
}

// set changes one field, named by its path, of the object of this kind and name.
func (p *provider) set(kind, name string, value any, path ...string) *provider {
	GinkgoHelper()
	Expect(unstructured.SetNestedField(p.find(kind, name).Object, value, path...)).To(Succeed())
	return p
}

func (p *provider) find(kind, name string) *unstructured.Unstructured {
	GinkgoHelper()
	for _, o := range p.objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	Fail(fmt.Sprintf("provider %s has no %s %s", p.name, kind, name))
	return nil
}

// files are the contents of the provider's image. A spec about bad images takes
// them and breaks one before push.
func (p *provider) files() map[string][]byte {
	GinkgoHelper()
	metadata := map[string]any{
		"name": p.name, "installOrder": p.installOrder, "selfImageRef": "registry.example/self:" + p.name,
		"attributes": map[string]string{"type": "synthetic", "version": p.version},
	}
	if p.platform != "" {
		metadata["ocpPlatform"] = p.platform
	}
	head, err := yaml.Marshal(metadata)
	Expect(err).NotTo(HaveOccurred())
	var manifests []string
	for _, o := range p.objects {
		document, err := yaml.Marshal(o.Object)
		Expect(err).NotTo(HaveOccurred())
		manifests = append(manifests, string(document))
	}
	return map[string][]byte{
		providers.ManifestsDir + "/default/metadata.yaml":  head,
		providers.ManifestsDir + "/default/manifests.yaml": []byte(strings.Join(manifests, "---\n")),
	}
}

// pushFiles makes an image of the files, whatever they are, and returns its
// reference by digest.
func pushFiles(ctx context.Context, name string, files map[string][]byte) string {
	GinkgoHelper()
	reference, err := env.PushFiles(ctx, "synthetic/"+name, files)
	Expect(err).NotTo(HaveOccurred())
	return reference
}

// push makes an image of each provider and returns the references by name, as
// harness.World and SetImages take them.
func push(ctx context.Context, all ...*provider) map[string]string {
	GinkgoHelper()
	references := map[string]string{}
	for _, p := range all {
		references[p.name] = pushFiles(ctx, p.name, p.files())
	}
	return references
}

// release makes the ConfigMap list exactly these providers, as an upgrade does.
func release(ctx context.Context, all ...*provider) {
	GinkgoHelper()
	Expect(env.SetImages(ctx, push(ctx, all...))).To(Succeed())
}
