package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// quickly is how soon drift must be put right on a busy machine.
const quickly = 10 * time.Second

const revisionAnnotation = "capi-operator.openshift.io/revision"

// All specs look at one installation: each leaves it as it was.
var _ = Describe("Drift", Ordered, func() {
	var alpha *provider

	BeforeAll(func(ctx SpecContext) {
		alpha = newProvider("alpha").with(custom("alpha", "one"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
	})

	It("of every kind is put right within seconds, whoever made it", func(ctx SpecContext) {
		find := func(kind string) *unstructured.Unstructured {
			i := slices.IndexFunc(alpha.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
			return alpha.objects[i]
		}

		for _, drift := range []struct {
			what   string
			object *unstructured.Unstructured
			patch  string
			path   []string
			want   any
		}{
			{"a value edited", find("ConfigMap"), `{"data":{"setting":"edited"}}`, []string{"data", "setting"}, "one"},
			{"a value removed", find("ConfigMap"), `{"data":{"setting":null}}`, []string{"data", "setting"}, "one"},
			{"a role emptied", find("ClusterRole"), `{"rules":[]}`, []string{"rules"}, find("ClusterRole").Object["rules"]},
			{
				"a pod template edited", find("Deployment"), `{"spec":{"template":{"spec":{"serviceAccountName":"other"}}}}`,
				[]string{"spec", "template", "spec", "serviceAccountName"},
				"alpha",
			},
			{"a webhook switched off", find("ValidatingWebhookConfiguration"), `{"webhooks":[]}`, []string{"webhooks"}, HaveLen(1)},
			{
				"a definition narrowed", find("CustomResourceDefinition"), `{"spec":{"names":{"shortNames":["al"],"singular":"other"}}}`,
				[]string{"spec", "names", "singular"},
				"alpha",
			},
			{"a custom resource edited", custom("alpha", "one"), `{"spec":{"setting":"edited"}}`, []string{"spec", "setting"}, "one"},
			{
				"the label removed", find("Service"), `{"metadata":{"labels":{"` + harness.ManagedByLabel + `":null}}}`,
				[]string{"metadata", "labels", harness.ManagedByLabel},
				"alpha",
			},
			{
				"the label changed", find("ServiceAccount"), `{"metadata":{"labels":{"` + harness.ManagedByLabel + `":"me"}}}`,
				[]string{"metadata", "labels", harness.ManagedByLabel},
				"alpha",
			},
			{
				"the revision raised", find("ConfigMap"), `{"metadata":{"annotations":{"` + revisionAnnotation + `":"9"}}}`,
				[]string{"metadata", "annotations", revisionAnnotation},
				"1",
			},
			{
				"the revision lowered", find("Service"), `{"metadata":{"annotations":{"` + revisionAnnotation + `":"0"}}}`,
				[]string{"metadata", "annotations", revisionAnnotation},
				"1",
			},
			{
				"the revision removed", find("ServiceAccount"), `{"metadata":{"annotations":{"` + revisionAnnotation + `":null}}}`,
				[]string{"metadata", "annotations", revisionAnnotation},
				"1",
			},
			{
				"all marks removed", find("ConfigMap"), `{"metadata":{"labels":null,"annotations":null}}`,
				[]string{"metadata", "labels", harness.ManagedByLabel},
				"alpha",
			},
		} {
			before := fetched(ctx, drift.object)
			Expect(holds(patch(ctx, drift.object, drift.patch), drift.want, drift.path...)).NotTo(Succeed(), drift.what+" is no drift")
			within(ctx, quickly, drift.what, func(ctx context.Context) error { return has(ctx, drift.object, drift.want, drift.path...) })
			Expect(fetched(ctx, drift.object).GetUID()).To(Equal(before.GetUID()), drift.what)
		}
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("by deletion is put right within seconds", func(ctx SpecContext) {
		for _, lost := range alpha.objects {
			// The definition takes the custom resource with it.
			within(ctx, quickly, lost.GetKind()+" to be there", func(ctx context.Context) error {
				_, err := fetch(ctx, lost)
				return err
			})
			before := fetched(ctx, lost).GetUID()
			Expect(env.Client.Delete(ctx, lost.DeepCopy())).To(Succeed())
			within(ctx, quickly, lost.GetKind()+" deleted", func(ctx context.Context) error {
				found, err := fetch(ctx, lost)
				if err == nil && found.GetUID() == before {
					err = fmt.Errorf("%s %s is still the old one", lost.GetKind(), lost.GetName())
				}
				return err
			})
		}
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("by a deletion that a finalizer holds up is put right once the object is gone", func(ctx SpecContext) {
		settings := configMap("alpha", "")
		patch(ctx, settings, `{"metadata":{"finalizers":["test.cluster.x-k8s.io/hold"]}}`)
		before := fetched(ctx, settings).GetUID()
		Expect(env.Client.Delete(ctx, settings.DeepCopy())).To(Succeed())
		until(ctx, "the finalizer to be named", says("InstallerControllerProgressing", "False", "AsExpected", "ConfigMap openshift-cluster-api/alpha", "test.cluster.x-k8s.io/hold"))
		patch(ctx, settings, `{"metadata":{"finalizers":null}}`)
		within(ctx, quickly, "ConfigMap to be created again", func(ctx context.Context) error {
			found, err := fetch(ctx, settings)
			if err == nil && found.GetUID() == before {
				err = errors.New("it is still the old one")
			}
			return err
		})
		until(ctx, "the conditions of a finished installation", finished)
	})

	It("is not what others own: status and fields that no manifest has stay as they are", func(ctx SpecContext) {
		settings, deployment := configMap("alpha", ""), alpha.find("Deployment", "alpha")

		patch(ctx, settings, `{"data":{"foreign":"kept"},"metadata":{"labels":{"team":"a"}}}`)
		patch(ctx, deployment, `{"spec":{"replicas":2,"template":{"metadata":{"annotations":{"restarted":"now"}}}}}`)
		instance := fetched(ctx, custom("alpha", "one"))
		Expect(unstructured.SetNestedField(instance.Object, "Ready", "status", "phase")).To(Succeed())
		Expect(env.Client.Status().Update(ctx, instance, administrator)).To(Succeed())
		since := mark(ctx)
		// When this has been put right, the operator has seen what was done before it.
		for _, bait := range []string{"ConfigMap", "Deployment"} {
			o := alpha.find(bait, "alpha")
			patch(ctx, o, `{"metadata":{"annotations":{"`+revisionAnnotation+`":"0"}}}`)
			within(ctx, quickly, bait+" claimed again", func(ctx context.Context) error {
				return has(ctx, o, "1", "metadata", "annotations", revisionAnnotation)
			})
		}
		patch(ctx, custom("alpha", "one"), `{"spec":{"setting":"edited"}}`)
		within(ctx, quickly, "custom resource put right", func(ctx context.Context) error {
			return has(ctx, custom("alpha", "one"), "one", "spec", "setting")
		})

		Expect(has(ctx, settings, "kept", "data", "foreign")).To(Succeed())
		Expect(has(ctx, settings, "a", "metadata", "labels", "team")).To(Succeed())
		Expect(has(ctx, deployment, int64(2), "spec", "replicas")).To(Succeed())
		Expect(has(ctx, deployment, "now", "spec", "template", "metadata", "annotations", "restarted")).To(Succeed())
		Expect(has(ctx, custom("alpha", "one"), "Ready", "status", "phase")).To(Succeed())
		// The Deployment's own controller writes its status meanwhile: a repair that meets that is refused, and sent again.
		writes := unrecorded(requests(ctx, since)).Writes().Except("config.openshift.io", "clusteroperators").
			Where(func(r cluster.Request) bool { return r.Code != http.StatusConflict })
		Expect(writes).To(HaveLen(3), "one write for each of the three baits:\n"+writes.String())
	})
})

// has is nil when an object of the cluster has a value, or one that matches, at
// a path.
func has(ctx context.Context, o *unstructured.Unstructured, want any, path ...string) error {
	found, err := fetch(ctx, o)
	if err != nil {
		return err
	}
	return holds(found, want, path...)
}

// holds is has of an object at hand.
func holds(found *unstructured.Unstructured, want any, path ...string) error {
	got, _, err := unstructured.NestedFieldNoCopy(found.Object, path...)
	if err != nil {
		return err
	}
	matcher, is := want.(OmegaMatcher)
	if !is {
		matcher = Equal(want)
	}
	matches, err := matcher.Match(got)
	if err == nil && !matches {
		err = fmt.Errorf("%s %s has %v at %v, want %v", found.GetKind(), found.GetName(), got, path, want)
	}
	return err
}
