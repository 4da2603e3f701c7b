package engine_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/engine"
)

// revision is a revision of one content; the same components under the same number are the same content.
func revision(number int64, components ...engine.Component) *engine.Revision {
	text, err := json.Marshal(components)
	if err != nil {
		panic(err)
	}
	return &engine.Revision{
		Name: fmt.Sprintf("r%d", number), Number: number, ContentID: fmt.Sprintf("%x", sha256.Sum256(text)), Components: components,
	}
}

// component is a component of these objects.
func component(name string, objects ...*unstructured.Unstructured) engine.Component {
	return engine.Component{Name: name, Objects: objects}
}

// of is a revision of one component.
func of(number int64, objects ...*unstructured.Unstructured) *engine.Revision {
	return revision(number, component("core", objects...))
}

// object reads a manifest, which may refer to the world: $NS is its namespace, $GROUP its API group, and $NAME- the
// beginning of a cluster-scoped name.
func (w *world) object(manifest string) *unstructured.Unstructured {
	manifest = strings.NewReplacer("$NS", w.namespace, "$GROUP", w.group, "$NAME-", w.prefix).Replace(manifest)
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		panic(fmt.Sprintf("%v in\n%s", err, manifest))
	}
	return u
}

// with is a copy of an object with one field set.
func with(o *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	o = o.DeepCopy()
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		panic(err)
	}
	return o
}

// without is a copy of an object with one field removed.
func without(o *unstructured.Unstructured, path ...string) *unstructured.Unstructured {
	o = o.DeepCopy()
	unstructured.RemoveNestedField(o.Object, path...)
	return o
}

// annotated is a copy of an object with one more annotation.
func annotated(o *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	return with(o, value, "metadata", "annotations", key)
}

// configMap has data of keys and values in turn.
func (w *world) configMap(name string, data ...string) *unstructured.Unstructured {
	o := w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $NS, name: ` + name + `}}`)
	for i := 0; i < len(data); i += 2 {
		o = with(o, data[i+1], "data", data[i])
	}
	return o
}

func (w *world) serviceAccount(name string) *unstructured.Unstructured {
	return w.object(`{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $NS, name: ` + name + `}}`)
}

// deployment has one pod with the label app, whose value is the world's name of it (see pods), and the image image:v1.
func (w *world) deployment(name string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: $NS, name: %[1]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: $NAME-%[1]s}}
  template:
    metadata: {labels: {app: $NAME-%[1]s, version: v1}}
    spec:
      containers: [{name: manager, image: "image:v1"}]
`, name))
}

// atVersion is a copy of a Deployment with other pods: of another image, and with another label version.
func atVersion(deployment *unstructured.Unstructured, version string) *unstructured.Unstructured {
	containers := []any{map[string]any{"name": "manager", "image": "image:" + version}}
	return with(with(deployment, containers, "spec", "template", "spec", "containers"), version, "spec", "template", "metadata", "labels", "version")
}

// pods are labels that select the pods of one version of a world's Deployment, of all versions if it is empty.
func (w *world) pods(deployment, version string) map[string]string {
	labels := map[string]string{"app": w.name(deployment)}
	if version != "" {
		labels["version"] = version
	}
	return labels
}

func (w *world) service(name string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {namespace: $NS, name: %[1]s}
spec:
  selector: {app: $NAME-%[1]s}
  ports: [{port: 443, targetPort: 9443, protocol: TCP}]
`, name))
}

// crd defines a namespaced kind in the world's group, with a version v1 that has spec.size and spec.note.
func (w *world) crd(singular string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.$GROUP}
spec:
  group: $GROUP
  names: {kind: %[2]s, listKind: %[2]sList, plural: %[1]ss, singular: %[1]s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {size: {type: integer}, note: {type: string}}
`, singular, kindOf(singular)))
}

// instance is an object of the kind that crd defines.
func (w *world) instance(singular, name string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`{apiVersion: $GROUP/v1, kind: %s, metadata: {namespace: $NS, name: %s}, spec: {size: 1}}`, kindOf(singular), name))
}

func kindOf(singular string) string { return strings.ToUpper(singular[:1]) + singular[1:] }

// webhook is a validating webhook that nobody answers, for instances of the world's CRDs.
func (w *world) webhook(name string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NAME-%[1]s}
webhooks:
- name: %[1]s.$GROUP
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "https://127.0.0.1:1/validate"}
  rules: [{apiGroups: [$GROUP], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
`, name))
}

// webhookBehind is the same, behind a Service of the world, and asks service CA for its CA bundle.
func (w *world) webhookBehind(service, name string) *unstructured.Unstructured {
	hook := annotated(w.webhook(name), "service.beta.openshift.io/inject-cabundle", "true")
	hooks := field(hook, "webhooks").([]any)
	hooks[0].(map[string]any)["clientConfig"] = map[string]any{"service": map[string]any{"namespace": w.namespace, "name": service, "path": "/validate"}}
	return with(hook, hooks, "webhooks")
}

// newNamespace is a Namespace beside the world's own.
func (w *world) newNamespace(name string) *unstructured.Unstructured {
	return w.object(`{apiVersion: v1, kind: Namespace, metadata: {name: $NAME-` + name + `}}`)
}

// clusterRole may read ConfigMaps.
func (w *world) clusterRole(name string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NAME-%s}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
`, name))
}

// clusterRoleBinding gives a ClusterRole of the world to a ServiceAccount of the world.
func (w *world) clusterRoleBinding(name, role, account string) *unstructured.Unstructured {
	return w.object(fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NAME-%s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NAME-%s}
subjects: [{kind: ServiceAccount, namespace: $NS, name: %s}]
`, name, role, account))
}
