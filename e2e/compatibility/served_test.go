package compatibility_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// boxes is the kind of the specs that have the checker without an operator; each begins with an empty cluster.
var boxes = kind{"example.com"}

// checker is what such a spec has: webhooks, and who writes.
type checker struct {
	*harness.Webhooks
	client *author
}

func (c *checker) warned() []string { return c.client.warned() }

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
	empty(ctx)
	webhooks, err := env.NewWebhooks()
	Expect(err).NotTo(HaveOccurred())
	c := &checker{webhooks, newAuthor()}
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			log, err := os.ReadFile(c.Log)
			GinkgoWriter.Println(string(log), err)
		}
		unhook(ctx)
		Expect(c.Stop()).To(Succeed())
	})
	return c
}

// established makes boxes with a schema, and waits until they are served.
func established(ctx context.Context, schema string) {
	GinkgoHelper()
	boxes.establish(ctx, boxes.definition(schema))
	DeferCleanup(func(ctx SpecContext) { unhook(ctx) })
}

// unhook has nothing sent to the checker any more.
func unhook(ctx context.Context) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(env.Client.DeleteAllOf(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, ours))).To(Succeed())
	Expect(client.IgnoreNotFound(env.Client.DeleteAllOf(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{}, ours))).To(Succeed())
}

func box(name, spec string) *unstructured.Unstructured { return boxes.box(name, spec) }

// needs is a requirement of boxes with a schema, as the operator leaves it when it is met.
func (c *checker) needs(ctx context.Context, name, schema string, crd, objectAction requirementsv1alpha1.CRDAdmitAction) *requirement {
	GinkgoHelper()
	r := boxes.requirement(boxes.definition(schema), crds(crd), objects(objectAction))
	r.Name = name
	require(ctx, r)
	r.Status.CRDName = boxes.name()
	Expect(env.Client.Status().Update(ctx, r)).To(Succeed())
	if objectAction != "" {
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

// update gives the live definition a schema.
func (c *checker) update(ctx context.Context, schema string, options ...client.UpdateOption) error {
	return boxes.write(ctx, c.client, boxes.definition(schema), options...)
}

// opens has a requirement say that it is open.
func opens(ctx context.Context, r *requirement) {
	GinkgoHelper()
	meta.SetStatusCondition(&r.Status.Conditions, metav1.Condition{Type: "State", Status: metav1.ConditionTrue, Reason: "Open", Message: "a test"})
	Expect(env.Client.Status().Update(ctx, r)).To(Succeed())
}
