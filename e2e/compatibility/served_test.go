package compatibility_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
)

type (
	requirement = requirementsv1alpha1.CompatibilityRequirement
	definition  = apiextensionsv1.CustomResourceDefinition
)

const (
	deny = requirementsv1alpha1.CRDAdmitActionDeny
	warn = requirementsv1alpha1.CRDAdmitActionWarn

	boxes = "boxes.example.com"
)

// checker is what a spec has: webhooks, and a client that keeps what it is warned of.
type checker struct {
	*harness.Webhooks
	client client.Client

	mu       sync.Mutex
	warnings []string
}

// HandleWarningHeader is a warning of an API server.
func (c *checker) HandleWarningHeader(_ int, _, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warnings = append(c.warnings, text)
}

// warned are the warnings since it was asked last.
func (c *checker) warned() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.warnings
	c.warnings = nil
	return told
}

// served begins with an empty cluster and webhooks that take requests.
func served(ctx context.Context) *checker {
	GinkgoHelper()
	c := placed(ctx)
	Expect(c.Start()).To(Succeed())
	eventually(ctx, "the webhooks to be ready", c.Ready)
	return c
}

// placed is served without the start.
func placed(ctx context.Context) *checker {
	GinkgoHelper()
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(env.Begin(bounded, harness.World{})).To(Succeed())
	webhooks, err := env.NewWebhooks(ctx)
	Expect(err).NotTo(HaveOccurred())
	c := &checker{Webhooks: webhooks}
	config := env.Cluster.Config()
	config.WarningHandler = c
	c.client, err = harness.NewClient(config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			log, err := os.ReadFile(c.Log)
			GinkgoWriter.Println(string(log), err)
		}
		Expect(client.IgnoreNotFound(env.Client.DeleteAllOf(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, ours))).To(Succeed())
		Expect(client.IgnoreNotFound(env.Client.DeleteAllOf(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{}, ours))).To(Succeed())
		Expect(c.Stop()).To(Succeed())
	})
	return c
}

// ours is the label of the checker's configurations.
var ours = client.MatchingLabels{"capstan.openshift.io/checker": "true"}

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

// boxDefinition is a definition of boxes with a schema.
func boxDefinition(schema string) *definition {
	GinkgoHelper()
	found := &definition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}}
	found.Name = boxes
	found.Spec.Group, found.Spec.Scope = "example.com", apiextensionsv1.NamespaceScoped
	found.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Box", Plural: "boxes"}
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{}},
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
	}
	Expect(yaml.UnmarshalStrict([]byte(schema), version.Schema.OpenAPIV3Schema)).To(Succeed())
	found.Spec.Versions = append(found.Spec.Versions, version)
	return found
}

// established makes boxes with a schema, and waits until they are served.
func established(ctx context.Context, schema string) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, boxDefinition(schema))).To(Succeed())
	eventually(ctx, "boxes to be served", func(ctx context.Context) error {
		return env.Client.List(ctx, boxList())
	})
}

func boxList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("example.com/v1")
	list.SetKind("BoxList")
	return list
}

// needs is a requirement of boxes with a schema, as the operator leaves it when it is met.
func (c *checker) needs(ctx context.Context, name, schema string, crd, objects requirementsv1alpha1.CRDAdmitAction) *requirement {
	GinkgoHelper()
	data, err := yaml.Marshal(boxDefinition(schema))
	Expect(err).NotTo(HaveOccurred())
	r := &requirement{}
	r.Name = name
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: string(data)}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = crd
	r.Spec.ObjectSchemaValidation.Action = objects
	Expect(env.Client.Create(ctx, r)).To(Succeed())
	r.Status.CRDName = boxes
	Expect(env.Client.Status().Update(ctx, r)).To(Succeed())
	if objects != "" {
		c.configureObjects(ctx, r)
	}
	return r
}

// at is how an API server reaches a path.
func (c *checker) at(path string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{URL: ptr.To(c.URL(path)), CABundle: c.CA()}
}

func rule(group, version string, resources []string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources}}}
}

func (c *checker) hook(name, path string, rules []admissionregistrationv1.RuleWithOperations) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: ours},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "hook.capstan.openshift.io", ClientConfig: c.at(path), Rules: rules, FailurePolicy: ptr.To(admissionregistrationv1.Fail),
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To(int32(10)),
		}},
	}
}

// configureCRDs has writes of definitions sent to the checker, from the moment on at which one is refused.
func (c *checker) configureCRDs(ctx context.Context, path string) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, c.hook("capstan-crds", path, rule("apiextensions.k8s.io", "v1", []string{"customresourcedefinitions"}, "CREATE", "UPDATE", "DELETE")))).To(Succeed())
	eventually(ctx, "definitions to be sent to the checker", func(ctx context.Context) error {
		err := c.update(ctx, without("size:"), client.DryRunAll)
		return unless(err != nil || len(c.warned()) > 0, "a definition passes")
	})
}

// configureRequirements alike.
func (c *checker) configureRequirements(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, c.hook("capstan-requirements", "/requirements", rule("apiextensions.openshift.io", "v1alpha1", []string{"compatibilityrequirements"}, "CREATE", "UPDATE")))).To(Succeed())
}

// configureObjects has boxes sent to the checker, as one requirement needs them. The definition has to have the field extra,
// which the requirement does not know.
func (c *checker) configureObjects(ctx context.Context, r *requirement) {
	GinkgoHelper()
	rules := rule("example.com", "v1", []string{"boxes", "boxes/status"}, "CREATE", "UPDATE")
	suffix := fmt.Sprintf("%s/%s/%d", r.Name, r.UID, r.Generation)
	Expect(env.Client.Create(ctx, c.hook(r.Name, "/objects/"+suffix, rules))).To(Succeed())
	if r.Spec.ObjectSchemaValidation.Action == deny {
		Expect(env.Client.Create(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: r.Name, Labels: ours},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "hook.capstan.openshift.io", ClientConfig: c.at("/prune/" + suffix), Rules: rules, FailurePolicy: ptr.To(admissionregistrationv1.Fail),
				SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To(int32(10)),
			}},
		})).To(Succeed())
	}
	eventually(ctx, "boxes to be sent to the checker", func(ctx context.Context) error {
		probe := box("probe", "{size: 1, color: red, extra: x}")
		err := c.client.Create(ctx, probe, client.DryRunAll)
		warned := c.warned()
		return errors.Join(err, unless(slices.ContainsFunc(warned, func(text string) bool { return strings.Contains(text, "CompatibilityRequirement") }), fmt.Sprint("a box passes: ", warned)))
	})
}

func unless(so bool, what string) error {
	if so {
		return nil
	}
	return errors.New(what)
}

// update gives the live definition a schema.
func (c *checker) update(ctx context.Context, schema string, options ...client.UpdateOption) error {
	live := &definition{}
	if err := env.Client.Get(ctx, client.ObjectKey{Name: boxes}, live); err != nil {
		return err
	}
	live.Spec.Versions = boxDefinition(schema).Spec.Versions
	return c.client.Update(ctx, live, options...)
}

// box is one, with the fields of its spec.
func box(name, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	made := &unstructured.Unstructured{}
	made.SetAPIVersion("example.com/v1")
	made.SetKind("Box")
	made.SetNamespace(metav1.NamespaceDefault)
	made.SetName(name)
	var fields map[string]any
	Expect(yaml.Unmarshal([]byte(spec), &fields)).To(Succeed())
	made.Object["spec"] = fields
	return made
}

func field(object *unstructured.Unstructured, path ...string) any {
	GinkgoHelper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	Expect(err).NotTo(HaveOccurred())
	return value
}

// opens has a requirement say that it is open.
func opens(ctx context.Context, r *requirement) {
	GinkgoHelper()
	meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{Type: "State", Status: metav1.ConditionTrue, Reason: "Open", Message: "a test"})
	Expect(env.Client.Status().Update(ctx, r)).To(Succeed())
}
