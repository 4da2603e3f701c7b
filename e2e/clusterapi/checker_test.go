package clusterapi_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// checker is between API server and webhooks while a spec has them; nil without.
var checker *harness.Service

// judge has the checker's webhooks answer until the spec ends, for the operators that are started from now on.
func judge(ctx context.Context) {
	GinkgoHelper()
	service, err := env.NewService(ctx)
	Expect(err).NotTo(HaveOccurred())
	webhooks, err := env.NewWebhooks()
	Expect(err).NotTo(HaveOccurred())
	checker = service
	DeferCleanup(func(ctx SpecContext) {
		checker = nil
		for _, operator := range started {
			Expect(operator.Stop()).To(Succeed()) // or it would put the configurations back
		}
		of := client.MatchingLabels{"capstan.openshift.io/checker": "true"}
		Expect(env.Client.DeleteAllOf(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{}, of)).To(Succeed())
		Expect(env.Client.DeleteAllOf(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{}, of)).To(Succeed())
		Expect(errors.Join(webhooks.Stop(), service.Close(ctx))).To(Succeed())
	})
	service.Add(webhooks)
	Expect(webhooks.Start()).To(Succeed())
}

// advancing lets the operator's clock go ten times as fast as that of the spec, until stop is called.
func advancing(operator *harness.Operator) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-end:
				tick.Stop()
				return
			case <-tick.C:
				Expect(operator.Advance(time.Second)).To(Succeed())
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-done
	})
}

// past changes something while no API server reaches the checker, and an administrator has had its webhooks let everything
// through. The API server learns of that by a watch, so what it still refuses is tried again.
func past(ctx context.Context, change func(context.Context) error) {
	GinkgoHelper()
	checker.Sever(true)
	hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	eventually(ctx, "the webhooks to be opened, and the change to get past them", func(ctx context.Context) error {
		if err := env.Client.Get(ctx, client.ObjectKey{Name: "capstan-crds"}, hooks); err != nil {
			return err
		}
		for i := range hooks.Webhooks {
			hooks.Webhooks[i].FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
		}
		if err := env.Client.Update(ctx, hooks); err != nil {
			return err
		}
		return change(ctx)
	})
	checker.Sever(false)
}

// requirements are the names of those that there are, sorted.
func requirements(ctx context.Context) []string {
	GinkgoHelper()
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(requirementsv1alpha1.GroupVersion.WithKind("CompatibilityRequirementList"))
	Expect(env.Client.List(ctx, all)).To(Succeed())
	names := []string{}
	for _, o := range all.Items {
		names = append(names, o.GetName())
	}
	slices.Sort(names)
	return names
}

// withField gives the definition of a provider one more field of spec.
func (p *provider) withField(name string) *provider {
	GinkgoHelper()
	return p.set("CustomResourceDefinition", p.name+"s.test.cluster.x-k8s.io", fieldsOf(name), "spec", "versions")
}

// fieldsOf is the stored version of a definition whose spec has these fields.
func fieldsOf(names ...string) any {
	fields := map[string]any{}
	for _, name := range names {
		fields[name] = map[string]any{"type": "string"}
	}
	return []any{map[string]any{
		"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
			"spec": map[string]any{"type": "object", "properties": fields},
		}}},
	}}
}
