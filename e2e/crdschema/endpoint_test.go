package crdschema_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/crds"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
	"github.com/capstan-capi/capstan/phases/crdschema/live"
)

const (
	program = "../../bin/capstan"
	// sent is how many of the creations, and how many of the updates, go through the endpoint, too.
	sent = 30
)

// read are the definitions of what the checker reads.
func read() []*apiextensionsv1.CustomResourceDefinition {
	return slices.DeleteFunc(crds.All(), func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return d.Name != live.RequirementsCRD && d.Name != "apiservers.config.openshift.io"
	})
}

// endpoint is the checker as a process of its own, which an API server asks while the live definition takes anything.
type endpoint struct {
	client  client.Client
	checker *cluster.Process
	hook    *admissionregistrationv1.ValidatingWebhookConfiguration
}

// serve starts the checker, and has objects sent to it for a requirement of judged.
func serve(t *testing.T, c *cluster.Cluster) *endpoint {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{requirementsv1alpha1.Install, admissionregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	writer, err := client.New(c.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{client: writer}
	var address, health string
	if err := c.ReserveAddresses(&address, &health); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key, err := c.Serving("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	e.checker, err = c.Spawn("the webhooks", filepath.Join(dir, "log"), binary, "webhooks", "--kubeconfig="+c.Kubeconfig(),
		"--address="+address, "--cert-dir="+dir, "--metrics-address=0", "--health-address="+health, "--drain=0s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.checker.Kill)
	r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: "judged"}, Spec: specification()}
	r.Spec.ObjectSchemaValidation.Action = requirementsv1alpha1.CRDAdmitActionDeny
	if err := e.client.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Status.CRDName = resource.GroupResource().String()
	if err := e.client.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	e.hook = &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "objects.capstan.openshift.io", FailurePolicy: ptr.To(admissionregistrationv1.Fail), TimeoutSeconds: ptr.To(int32(10)),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL: ptr.To(fmt.Sprintf("https://%s/objects/%s/%s/%d", address, r.Name, r.UID, r.Generation)), CABundle: c.Config().CAData,
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{resource.Group}, APIVersions: []string{resource.Version}, Resources: []string{"judged", "judged/status"}},
			}},
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
	until(t, "the checker to be ready", func(ctx context.Context) bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
	return e
}

// specification is that of a requirement of judged.
func specification() requirementsv1alpha1.CompatibilityRequirementSpec {
	spec := requirementsv1alpha1.CompatibilityRequirementSpec{}
	spec.CompatibilitySchema.CustomResourceDefinition.Type = requirementsv1alpha1.CRDDataTypeYAML
	spec.CompatibilitySchema.CustomResourceDefinition.Data = strings.TrimSpace(judged)
	spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	return spec
}

func until(t *testing.T, what string, is func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) { return is(ctx), nil })
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// verdicts are what the API server answers by the checker, in the order of creations and updates.
type verdicts struct{ creations, updates []error }

// ask sends what the API server is asked once judged is installed.
func (e *endpoint) ask(t *testing.T, c comparison, olds []*unstructured.Unstructured) (v verdicts) {
	t.Helper()
	if err := e.client.Create(t.Context(), e.hook); err != nil {
		t.Fatal(err)
	}
	bad := generate(t, 0).object("bad")
	bad.Object["spec"] = map[string]any{"size": "xl"}
	until(t, "objects to be sent to the checker", func(context.Context) bool { return byChecker(c.tried(t, bad, nil, "")) })
	for i := range sent {
		v.creations = append(v.creations, c.tried(t, creation(t, i), nil, ""))
	}
	for i := range sent {
		object, old, subresource := change(t, i, olds)
		v.updates = append(v.updates, c.tried(t, object, old, subresource))
	}
	if err := e.client.Delete(t.Context(), e.hook); err != nil {
		t.Fatal(err)
	}
	until(t, "objects to be sent to nobody", func(context.Context) bool { return c.tried(t, bad, nil, "") == nil })
	return v
}

// compare asks for the verdicts of the API server that has judged installed.
func (v verdicts) compare(t *testing.T, c comparison, olds []*unstructured.Unstructured) {
	t.Helper()
	asked := 0
	same := func(what string, by, want error) {
		t.Helper()
		if (by == nil) != (want == nil) {
			t.Errorf("%s\nthe checker has the API server say\n\t%v\nand by itself it says\n\t%v", what, by, want)
		}
		if !byChecker(by) || !apierrors.IsInvalid(want) {
			return
		}
		asked++
		if got, want := causes(by), causes(want); !slices.Equal(got, want) {
			t.Errorf("%s\nthe checker says\n\t%s\nthe API server says\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
	for i, by := range v.creations {
		object := creation(t, i)
		same(fmt.Sprintf("creating %v", object), by, c.tried(t, object, nil, ""))
	}
	for i, by := range v.updates {
		object, old, subresource := change(t, i, olds)
		same(fmt.Sprintf("updating %v %s\nwhich was %v", object, subresource, old), by, c.tried(t, object, old, subresource))
	}
	if t.Logf("through the endpoint: %d, refused by it: %d", 2*sent, asked); asked < sent/4 {
		t.Errorf("only %d were refused by the checker: the objects show little", asked)
	}
}

// byChecker says that it was the checker who has refused.
func byChecker(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "CompatibilityRequirement judged: ")
}

// tried is what the API server says of a creation (old is nil) or an update in a dry run.
func (c comparison) tried(t *testing.T, object, old *unstructured.Unstructured, subresource string) error {
	t.Helper()
	var err error
	dry := []string{metav1.DryRunAll}
	switch {
	case old == nil:
		_, err = c.client.Create(t.Context(), object, metav1.CreateOptions{DryRun: dry})
	case subresource == judge.Status:
		_, err = c.client.UpdateStatus(t.Context(), object, metav1.UpdateOptions{DryRun: dry})
	default:
		_, err = c.client.Update(t.Context(), object, metav1.UpdateOptions{DryRun: dry})
	}
	return err
}
