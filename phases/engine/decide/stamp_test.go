package decide

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
)

func TestPayloadOf(t *testing.T) {
	rows := []struct{ name, manifest, payload string }{
		{
			"stamps, and drops status, nulls and timestamps",
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, creationTimestamp: null}, spec: {template: {metadata: {creationTimestamp: null}, spec: {list: [{a: null, b: 1}, null]}}}, status: {x: y}}`,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {metadata: {}, spec: {list: [{b: 1}, null]}}}}`,
		},
		{
			"keeps the label and the annotations of the manifest",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {capi-operator.openshift.io/managed-by: core, a: b}, annotations: {c: d}}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {a: b}, annotations: {c: d}}}`,
		},
		{
			"leaves the CA bundle of a ConfigMap to the network operator",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {config.openshift.io/inject-trusted-cabundle: "true"}}, data: {ca-bundle.crt: "", a: b}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {config.openshift.io/inject-trusted-cabundle: "true"}}, data: {a: b}}`,
		},
		{
			"leaves the data of a ConfigMap to service CA",
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}, data: {a: b}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}}`,
		},
		{
			"drops the signature of service CA",
			`{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {service.beta.openshift.io/serving-cert-signed-by: x, b: c}}}`,
			`{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {b: c}}}`,
		},
		{
			"encodes the text of a Secret",
			`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: eA==, b: eQ==}, stringData: {a: z}}`,
			`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: eg==, b: eQ==}}`,
		},
		{
			"leaves it to the API server to refuse a text of a Secret that is none",
			`{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {a: z, b: 5}}`,
			`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: eg==}, stringData: {b: 5}}`,
		},
		{
			"leaves the rules of an aggregated ClusterRole to the one who adds them up",
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, aggregationRule: {x: y}, rules: []}`,
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}, aggregationRule: {x: y}}`,
		},
		{
			"keeps a CA bundle that nobody else injects",
			`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{clientConfig: {caBundle: x}}]}`,
			`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{clientConfig: {caBundle: x}}]}`,
		},
		{
			"drops the CA bundles of webhooks that are injected",
			`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}, webhooks: [{clientConfig: {caBundle: x, service: y}}, {clientConfig: {}}]}`,
			`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}, webhooks: [{clientConfig: {service: y}}, {clientConfig: {}}]}`,
		},
		{
			"drops the CA bundle of a CRD that is injected",
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a, annotations: {cert-manager.io/inject-ca-from: x/y}}, spec: {conversion: {webhook: {clientConfig: {caBundle: x, service: s}}}}}`,
			`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a, annotations: {cert-manager.io/inject-ca-from: x/y}}, spec: {conversion: {webhook: {clientConfig: {service: s}}}}}`,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			manifest := objects.Parse(t, row.manifest)
			before := manifest.DeepCopy()
			want := objects.Parse(t, row.payload)
			annotated(RevisionAnnotation, "3")(want)
			annotated(OwnerAnnotation, testOwner)(want)
			if err := unstructured.SetNestedField(want.Object, "core", "metadata", "labels", ManagedByLabel); err != nil {
				t.Fatal(err)
			}
			got := payloadOf(&unstructured.Unstructured{Object: cleaned(manifest.Object)}, testUs.Stamp("core", 3))
			if !equalObjects(got, want) {
				t.Errorf("got  %v\nwant %v", got.Object, want.Object)
			}
			if !equalObjects(before, manifest) {
				t.Error("the manifest was changed")
			}
		})
	}
}
