package compatibility_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

type (
	requirement = requirementsv1alpha1.CompatibilityRequirement
	definition  = apiextensionsv1.CustomResourceDefinition
)

const (
	deny = requirementsv1alpha1.CRDAdmitActionDeny
	warn = requirementsv1alpha1.CRDAdmitActionWarn
)

// schema is one of a box, in which a spec may change what it likes.
const schema = `
type: object
required: [spec]
properties:
  spec:
    type: object
    required: [size]
    properties:
      size: {type: integer, maximum: 9}
      color: {type: string, enum: [red, blue]}
      lid: {type: object, properties: {hinge: {type: string}}}
      slots: {type: array, items: {type: object, properties: {label: {type: string}}}}
      tags: {type: object, additionalProperties: {type: object, properties: {text: {type: string}}}}
  status:
    type: object
    properties:
      weight: {type: integer, maximum: 9}
`

// without is the schema without a line, by what it begins with.
func without(begins string) string {
	var kept []string
	for line := range strings.Lines(schema) {
		if !strings.HasPrefix(strings.TrimSpace(line), begins) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// kind is an API of boxes.
type kind struct{ group string }

// newKind is one that no other spec has.
func newKind() kind { return kind{"g" + rand.String(8) + ".example.com"} }

// name is that of its definition.
func (k kind) name() string { return "boxes." + k.group }

// definition is one with a version v1, changed.
func (k kind) definition(schema string, changes ...func(*definition)) *definition {
	GinkgoHelper()
	d := &definition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}}
	d.Name = k.name()
	d.Spec.Group, d.Spec.Scope = k.group, apiextensionsv1.NamespaceScoped
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Box", Plural: "boxes"}
	version("v1", schema)(d)
	d.Spec.Versions[0].Storage = true
	for _, change := range changes {
		change(d)
	}
	return d
}

// version adds a version that is served, and not stored.
func version(name, schema string) func(*definition) {
	GinkgoHelper()
	v := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{}},
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
	}
	Expect(yaml.UnmarshalStrict([]byte(schema), v.Schema.OpenAPIV3Schema)).To(Succeed())
	return func(d *definition) { d.Spec.Versions = append(d.Spec.Versions, v) }
}

// establish makes a definition and waits until its API is served; both go with the spec.
func (k kind) establish(ctx context.Context, d *definition) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, d.DeepCopy())).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, d.DeepCopy()))).To(Succeed())
	})
	eventually(ctx, d.Name+" to be served", func(ctx context.Context) error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(k.group + "/" + d.Spec.Versions[0].Name)
		list.SetKind("BoxList")
		return env.Client.List(ctx, list)
	})
}

// live is the definition as it is now.
func (k kind) live(ctx context.Context) *definition {
	GinkgoHelper()
	d := &definition{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Name: k.name()}, d)).To(Succeed())
	return d
}

// write gives the live definition the spec of another one.
func (k kind) write(ctx context.Context, as client.Writer, wanted *definition, options ...client.UpdateOption) error {
	GinkgoHelper()
	live := k.live(ctx)
	names := wanted.Spec.Names
	wanted.Spec.DeepCopyInto(&live.Spec)
	if names.Singular == "" {
		names.Singular, names.ListKind = "box", "BoxList"
	}
	live.Spec.Names = names
	return as.Update(ctx, live, options...)
}

// box is an object of the kind, with the fields of its spec.
func (k kind) box(name, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	made := &unstructured.Unstructured{}
	made.SetAPIVersion(k.group + "/v1")
	made.SetKind("Box")
	made.SetNamespace(metav1.NamespaceDefault)
	made.SetName(name)
	var fields map[string]any
	Expect(yaml.Unmarshal([]byte(spec), &fields)).To(Succeed())
	made.Object["spec"] = fields
	return made
}

// ask is something that a requirement asks for.
type ask func(*requirement)

// requirement is one that needs a definition's stored version, and enforces nothing but what it is asked for.
func (k kind) requirement(needs *definition, asks ...ask) *requirement {
	GinkgoHelper()
	data, err := yaml.Marshal(needs)
	Expect(err).NotTo(HaveOccurred())
	r := &requirement{}
	r.Name = "need-" + rand.String(8)
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: string(data)}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	for _, a := range asks {
		a(r)
	}
	return r
}

// crds says what is done about writes of the definition.
func crds(action requirementsv1alpha1.CRDAdmitAction) ask {
	return func(r *requirement) { r.Spec.CustomResourceDefinitionSchemaValidation.Action = action }
}

// objects says what is done about writes of objects.
func objects(action requirementsv1alpha1.CRDAdmitAction) ask {
	return func(r *requirement) { r.Spec.ObjectSchemaValidation.Action = action }
}

// allServed selects all versions that are served.
func allServed(r *requirement) {
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeAllServed
}

// also selects versions beside.
func also(versions ...requirementsv1alpha1.APIVersionString) ask {
	return func(r *requirement) { r.Spec.CompatibilitySchema.RequiredVersions.AdditionalVersions = versions }
}

// excludes leaves a field out.
func excludes(path string, versions ...requirementsv1alpha1.APIVersionString) ask {
	return func(r *requirement) {
		r.Spec.CompatibilitySchema.ExcludedFields = append(r.Spec.CompatibilitySchema.ExcludedFields, requirementsv1alpha1.APIExcludedField{Path: path, Versions: versions})
	}
}

// require makes a requirement, which goes with the spec.
func require(ctx context.Context, r *requirement) *requirement {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, r)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, r.DeepCopy()))).To(Succeed())
	})
	return r
}

// inForce makes requirements, and waits until all are in force. It returns the first one.
func inForce(ctx context.Context, first *requirement, others ...*requirement) *requirement {
	GinkgoHelper()
	require(ctx, first)
	for _, r := range others {
		require(ctx, r)
	}
	admitted(ctx, first)
	for _, r := range others {
		told(ctx, r, "Admitted", "True", "Admitted")
	}
	return first
}

// hurry is how much of the two seconds, for which configurations have to stand before a requirement is admitted, the operator's
// clock skips. API servers take them over meanwhile: the only one here, on this machine, still gets half a second.
const hurry = 1500 * time.Millisecond

// admitted waits until a requirement is in force, with the operator's clock going ahead once its configurations stand. That these
// stand for two seconds is measured by specs that wait with told.
func admitted(ctx context.Context, r *requirement) {
	GinkgoHelper()
	generation, hurried, is := r.Generation, false, says(r, "Admitted", "True", "Admitted")
	eventually(ctx, r.Name+" to be admitted", func(ctx context.Context) error {
		err := is(ctx)
		if err != nil && !hurried && stands(r, generation) {
			hurried = true
			Expect(operating.Advance(hurry)).To(Succeed())
		}
		return err
	})
}

// stands says that the configurations of a requirement stand, as its record tells, so that only time has to go by.
func stands(r *requirement, generation int64) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, "Record")
	return c != nil && c.ObservedGeneration >= generation &&
		(strings.Contains(c.Message, `"RequirementMet":"`) || strings.Contains(c.Message, `"RequirementUnmet":"`))
}

// told waits until a requirement, of no older generation than it is given, has a condition, with texts in its message. It
// fills the requirement with what it has seen.
func told(ctx context.Context, r *requirement, kind, is, reason string, texts ...string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%s to say %s=%s/%s %q", r.Name, kind, is, reason, texts), says(r, kind, is, reason, texts...))
}

// says is what told repeats.
func says(r *requirement, kind, is, reason string, texts ...string) func(context.Context) error {
	generation := r.Generation
	return func(ctx context.Context) error {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		c := meta.FindStatusCondition(r.Status.Conditions, kind)
		switch {
		case c == nil:
			return fmt.Errorf("there is no such condition in %v", r.Status.Conditions)
		case c.ObservedGeneration < generation || string(c.Status) != is || c.Reason != reason:
			return fmt.Errorf("of generation %d it says %s/%s: %s", c.ObservedGeneration, c.Status, c.Reason, c.Message)
		}
		for _, text := range texts {
			if !strings.Contains(c.Message, text) {
				return fmt.Errorf("it says %s", c.Message)
			}
		}
		return nil
	}
}

// change changes a requirement's spec, as its author does who looks again when somebody else has written.
func change(ctx context.Context, r *requirement, changes ...ask) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		for _, a := range changes {
			a(r)
		}
		return env.Client.Update(ctx, r)
	})
}

// field is what an object has at a path, nil for nothing.
func field(object *unstructured.Unstructured, path ...string) any {
	GinkgoHelper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	Expect(err).NotTo(HaveOccurred())
	return value
}
