package compatibility_test

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// listed is a list in YAML of what is made of the numbers below many.
func listed(many int, of func(int) string) string {
	var items []string
	for i := range many {
		items = append(items, of(i))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// numbered makes of a format what listed asks for.
func numbered(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

var _ = Describe("The API of requirements", func() {
	const (
		selection = "spec.compatibilitySchema.requiredVersions"
		excluded  = "spec.compatibilitySchema.excludedFields"
		data      = "spec.compatibilitySchema.customResourceDefinition"
		onCRDs    = "spec.customResourceDefinitionSchemaValidation"
		onObjects = "spec.objectSchemaValidation"
	)
	// attempt writes a requirement in a dry run that has a value in YAML at a path; without one it has nothing there.
	attempt := func(ctx SpecContext, path, value string) error {
		GinkgoHelper()
		k := newKind()
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k.requirement(k.definition(schema, version("v2", schema))))
		Expect(err).NotTo(HaveOccurred())
		r := &unstructured.Unstructured{Object: content}
		r.SetAPIVersion("apiextensions.openshift.io/v1alpha1")
		r.SetKind("CompatibilityRequirement")
		at := strings.Split(path, ".")
		if value == "" {
			unstructured.RemoveNestedField(content, at...)
		} else {
			var parsed any
			Expect(yaml.Unmarshal([]byte(value), &parsed)).To(Succeed())
			Expect(unstructured.SetNestedField(content, parsed, at...)).To(Succeed())
		}
		return env.Client.Create(ctx, r, client.DryRunAll)
	}

	DescribeTable("takes", func(ctx SpecContext, path, value string) {
		shared(ctx)
		Expect(attempt(ctx, path, value)).To(Succeed())
	},
		Entry("the stored version", selection, "{defaultSelection: StorageOnly}"),
		Entry("all that are served", selection, "{defaultSelection: AllServed}"),
		Entry("additional versions beside the stored one", selection, "{defaultSelection: StorageOnly, additionalVersions: [v1, v2]}"),
		Entry("exclusions in several versions", excluded, "[{path: spec.lid, versions: [v1]}, {path: spec.color, versions: [v1]}]"),
		Entry("a block about definitions", onCRDs, "{action: Deny}"),
		Entry("the other action", onCRDs, "{action: Warn}"),
		Entry("a block about objects", onObjects, "{action: Deny, namespaceSelector: {matchLabels: {a: b}}, objectSelector: {matchExpressions: [{key: a, operator: Exists}]}}"),
		Entry("as many conditions as may be", onObjects, "{action: Warn, matchConditions: "+listed(64, numbered(`{name: c%d, expression: "true"}`))+"}"),
	)

	DescribeTable("refuses", func(ctx SpecContext, path, value, text string) {
		shared(ctx)
		err := attempt(ctx, path, value)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(text)))
	},
		Entry("no schema", "spec.compatibilitySchema", "", "spec.compatibilitySchema: Required"),
		Entry("no definition", data, "", data+": Required"),
		Entry("no data", data+".data", "", data+".data: Required"),
		Entry("empty data", data+".data", `""`, data+".data"),
		Entry("no type of data", data+".type", "", data+".type: Required"),
		Entry("another type of data", data+".type", "JSON", data+".type: Unsupported value"),
		Entry("data that are too long", data+".data", strings.Repeat("x", 1572865), data+".data: Too long"),
		Entry("no versions", selection, "", selection+": Required"),
		Entry("no selection", selection, "{additionalVersions: [v1]}", selection+".defaultSelection: Required"),
		Entry("another selection", selection, "{defaultSelection: All}", selection+".defaultSelection: Unsupported value"),
		Entry("additional versions beside all", selection, "{defaultSelection: AllServed, additionalVersions: [v1]}", "additionalVersions may not be defined"),
		Entry("no additional version", selection, "{defaultSelection: StorageOnly, additionalVersions: []}", selection+".additionalVersions"),
		Entry("one twice", selection, "{defaultSelection: StorageOnly, additionalVersions: [v1, v1]}", selection+".additionalVersions[1]: Duplicate"),
		Entry("the name of no version", selection, "{defaultSelection: StorageOnly, additionalVersions: [V1]}", "lower-case alphanumeric"),
		Entry("too many versions", selection, "{defaultSelection: StorageOnly, additionalVersions: "+listed(33, numbered("v%d"))+"}", selection+".additionalVersions: Too many"),
		Entry("no exclusion", excluded, "[]", excluded),
		Entry("an exclusion without versions", excluded, "[{path: spec.lid}]", excluded+"[0].versions: Required"),
		Entry("an exclusion in no version", excluded, "[{path: spec.lid, versions: []}]", excluded+"[0].versions"),
		Entry("an exclusion without path", excluded, "[{versions: [v1]}]", excluded+"[0].path: Required"),
		Entry("a path twice", excluded, "[{path: spec.lid, versions: [v1]}, {path: spec.lid, versions: [v2]}]", "must be unique"),
		Entry("a path that begins with a point", excluded, "[{path: .spec.lid, versions: [v1]}]", "dot-separated field names"),
		Entry("a path into items by number", excluded, `[{path: "spec.slots[0]", versions: [v1]}]`, "dot-separated field names"),
		Entry("a field whose name has 64 characters", excluded, "[{path: spec."+strings.Repeat("a", 64)+", versions: [v1]}]", "not exceeding 63 characters"),
		Entry("a path of 17 fields", excluded, "[{path: a"+strings.Repeat(".a", 16)+", versions: [v1]}]", "at most 16 fields"),
		Entry("too many exclusions", excluded, listed(65, numbered("{path: spec.f%d, versions: [v1]}")), excluded+": Too many"),
		Entry("a block about definitions without action", onCRDs, "{}", onCRDs+".action: Required"),
		Entry("another action", onCRDs, "{action: Audit}", onCRDs+".action: Unsupported value"),
		Entry("a block about objects without action", onObjects, "{namespaceSelector: {matchLabels: {a: b}}}", onObjects+".action: Required"),
		Entry("another action on objects", onObjects, "{action: Audit}", onObjects+".action: Unsupported value"),
		Entry("no condition", onObjects, "{action: Deny, matchConditions: []}", onObjects+".matchConditions"),
		Entry("a condition twice", onObjects, `{action: Deny, matchConditions: [{name: a, expression: "true"}, {name: a, expression: "true"}]}`, onObjects+".matchConditions[1]: Duplicate"),
		Entry("too many conditions", onObjects, "{action: Deny, matchConditions: "+listed(65, numbered(`{name: c%d, expression: "true"}`))+"}", onObjects+".matchConditions: Too many"),
		Entry("a selector of nothing", onObjects, "{action: Deny, namespaceSelector: {}}", "must have at least one of matchLabels or matchExpressions"),
		Entry("a selector of no label and no expression", onObjects, "{action: Deny, namespaceSelector: {matchLabels: {}, matchExpressions: []}}", "must have at least one of matchLabels or matchExpressions"),
	)

	It("takes a path of 16 fields, with names of 63 characters", func(ctx SpecContext) {
		shared(ctx)
		k, name := newKind(), strings.Repeat("a", 63)
		deep := "{type: object, properties: {" + strings.Repeat(name+": {type: object, properties: {", 15) + name + ": {type: string}" + strings.Repeat("}}", 16)
		Expect(env.Client.Create(ctx, k.requirement(k.definition(deep), excludes(name+strings.Repeat("."+name, 15), "v1")), client.DryRunAll)).To(Succeed())
	})

	It("keeps what status once said", func(ctx SpecContext) {
		empty(ctx) // nobody else writes status
		k, uid := newKind(), "01234567-89ab-cdef-0123-456789abcdef"
		r := require(ctx, k.requirement(k.definition(schema)))
		write := func(status map[string]any) error {
			text, err := json.Marshal(map[string]any{"status": status})
			Expect(err).NotTo(HaveOccurred())
			return env.Client.Status().Patch(ctx, r.DeepCopy(), client.RawPatch(types.MergePatchType, text))
		}
		observed := func(uid string, generation int) map[string]any {
			return map[string]any{"observedCRD": map[string]any{"uid": uid, "generation": generation}}
		}
		Expect(write(map[string]any{"crdName": "Boxes"})).To(MatchError(ContainSubstring("RFC 1123")))
		Expect(write(observed(uid, 0))).To(MatchError(ContainSubstring("status.observedCRD.generation")))
		Expect(write(observed("u", 1))).To(MatchError(ContainSubstring("status.observedCRD.uid")))
		Expect(write(map[string]any{"crdName": k.name()})).To(Succeed())
		Expect(write(observed(uid, 2))).To(Succeed())
		Expect(write(map[string]any{"crdName": "lids.example.com"})).To(MatchError(ContainSubstring("crdName cannot be changed once set")))
		Expect(write(map[string]any{"crdName": nil})).To(MatchError(ContainSubstring("crdName cannot be changed once set")))
		Expect(write(observed(uid, 1))).To(MatchError(ContainSubstring("generation may only increase on the same CRD")))
		Expect(write(observed(strings.Replace(uid, "0", "f", 1), 1))).To(Succeed())
	})
})
