package crdschema_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

const head = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: judged.example.com}
spec:
  group: example.com
  names: {kind: Judged, plural: judged}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}
`

// lenient takes whatever is stored before judged is there.
const lenient = head + `    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// judged has every kind of validation that an API server knows.
const judged = head + `    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        x-kubernetes-validations:
        - {rule: "!has(self.status) || !has(self.status.phase) || self.status.phase != 'Down' || self.spec.size == 's'", message: only what is small may be down}
        properties:
          spec:
            type: object
            required: [size]
            maxProperties: 14
            anyOf: [{required: [low]}, {required: [size]}]
            not: {required: [either, or]}
            x-kubernetes-validations:
            - {rule: "!has(self.low) || !has(self.high) || self.low <= self.high", messageExpression: "self.low == 8 ? 'low is 8' : 'low is less'", fieldPath: .low, reason: FieldValueForbidden}
            - {rule: "!has(oldSelf.fixed) || (has(self.fixed) && self.fixed == oldSelf.fixed)", message: fixed stays}
            properties:
              size: {type: string, enum: [s, m]}
              low: {type: integer, minimum: 0}
              high: {type: integer, maximum: 9, exclusiveMaximum: true}
              either: {type: string}
              or: {type: string}
              fixed: {type: string, maxLength: 5}
              grows: {type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf", message: it only grows}]}
              born: {type: string, x-kubernetes-validations: [{rule: "oldSelf.hasValue() || self == 'new'", optionalOldSelf: true, message: born new}]}
              replicas: {type: integer}
              when: {type: string, format: date-time}
              pattern: {type: string, pattern: '^[a-z]+$'}
              amount: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: '^[0-9]+%?$'}
              defaulted: {type: object, default: {x: q}, required: [x], properties: {x: {type: string, default: d}, n: {type: string, nullable: true, default: z}}}
              names: {type: array, maxItems: 3, x-kubernetes-list-type: set, items: {type: string, minLength: 1}}
              ports:
                type: array
                maxItems: 9
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer, minimum: 1}, kept: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf}]}}}
              plain: {type: array, items: {type: object, required: [a], properties: {a: {type: string, maxLength: 2}}}}
              labels: {type: object, additionalProperties: {type: string, maxLength: 3}}
              nested: {type: object, oneOf: [{required: [a]}, {required: [b]}], allOf: [{required: [a]}, {properties: {a: {minLength: 2}}}], properties: {a: {type: string}, b: {type: string}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: integer}}}
              template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              phase: {type: string, enum: [Up, Down]}
              replicas: {type: integer, maximum: 5}
              selector: {type: string}
              steps: {type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf"}]}
              list: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
`

func definition(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func compiled(t *testing.T) *judge.Judge {
	t.Helper()
	spec := specification()
	need, err := crdschema.Decode(&spec)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := judge.Compile(need, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}
