package clusterapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// gammas is the definition that is left to its adopter, shapeOf and objectsOf what is required of it.
const (
	gammas    = "gammas.test.cluster.x-k8s.io"
	shapeOf   = "capstan-shape." + gammas + "."
	objectsOf = "capstan-objects." + gammas
)

// adopt has the adopter install a definition.
func adopt(ctx context.Context, o *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, o.DeepCopy(), administrator)).To(Succeed())
}

// setFields gives a definition other fields of spec.
func setFields(ctx context.Context, crd *unstructured.Unstructured, names ...string) {
	GinkgoHelper()
	Expect(withFields(crd, names...)(ctx)).To(Succeed())
}

// withFields tries to give a definition other fields of spec.
func withFields(crd *unstructured.Unstructured, names ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		text, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": fieldsOf(names...)}})
		if err != nil {
			return err
		}
		return env.Client.Patch(ctx, crd.DeepCopy(), client.RawPatch(types.MergePatchType, text), administrator)
	}
}

// untouched says that nothing of ours is on an object.
func untouched(o *unstructured.Unstructured) error {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager == "capstan" {
			return fmt.Errorf("%s has fields of capstan's: %s", o.GetName(), entry.FieldsV1)
		}
	}
	for key := range o.GetLabels() {
		if strings.HasPrefix(key, "capi-operator.openshift.io/") {
			return fmt.Errorf("%s has label %s", o.GetName(), key)
		}
	}
	for key := range o.GetAnnotations() {
		if strings.HasPrefix(key, "capi-operator.openshift.io/") {
			return fmt.Errorf("%s has annotation %s", o.GetName(), key)
		}
	}
	return nil
}

// inForce waits until a requirement is.
func inForce(ctx context.Context, name string) {
	GinkgoHelper()
	eventually(ctx, name+" to be in force", func(ctx context.Context) error {
		r := &requirementsv1alpha1.CompatibilityRequirement{}
		if err := env.Client.Get(ctx, client.ObjectKey{Name: name}, r); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(r.Status.Conditions, "Admitted") {
			return fmt.Errorf("it says %v", r.Status.Conditions)
		}
		return nil
	})
}

func shapes(ctx context.Context) (names []string) {
	GinkgoHelper()
	return slices.DeleteFunc(requirements(ctx), func(name string) bool { return !strings.HasPrefix(name, shapeOf) })
}

// beginUnmanaged begins with gammas listed, and its provider beside another.
func beginUnmanaged(ctx context.Context, gamma *provider) {
	GinkgoHelper()
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, NoClusterAPI: true, Images: push(ctx, newProvider("alpha"), gamma)})
	Expect(env.CreateClusterAPI(ctx)).To(Succeed())
	unmanage(ctx, gammas)
	judge(ctx)
}

var _ = Describe("A definition that an administrator manages", func() {
	It("is waited for while it is absent, and the installation finishes when it comes", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30).withField("size")
		beginUnmanaged(ctx, gamma)
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		until(ctx, "the definition to be waited for", inState(harness.AwaitingCRDs),
			says("InstallerControllerProgressing", "True", "WaitingOnExternal", shapeOf, "CRDNotFound", gammas),
			says("Upgradeable", "False", "WaitingOnExternal", gammas), says("Degraded", "False", "AsExpected"))
		Expect(requirements(ctx)).To(And(HaveLen(1), Equal(shapes(ctx))))
		expectGone(ctx, append(newProvider("alpha").objects, gamma.objects...)...)

		Expect(operator.Advance(5*time.Minute + time.Second)).To(Succeed())
		until(ctx, "it to be told as trouble", inState(harness.Degraded), says("InstallerControllerDegraded", "True", "EphemeralError", gammas))
		adopt(ctx, gamma.objects[0])
		DeferCleanup(advancing(operator))
		v := installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)
		Expect(v.Revisions()[0].UnmanagedCustomResourceDefinitions).To(ConsistOf(gammas))
		Expect(requirements(ctx)).To(ConsistOf(objectsOf, HavePrefix(shapeOf)))
		Expect(untouched(fetched(ctx, gamma.objects[0]))).To(Succeed())
		uids(ctx, gamma.objects[1:]...)

		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		Expect(requirements(ctx)).To(BeEmpty())
		Expect(untouched(fetched(ctx, gamma.objects[0]))).To(Succeed())
		expectGone(ctx, gamma.objects[1:]...)
	})

	It("is not touched where it was installed before", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		beginUnmanaged(ctx, gamma)
		adopt(ctx, gamma.objects[0])
		before := fetched(ctx, gamma.objects[0]).GetGeneration()
		DeferCleanup(advancing(operate(harness.OperatorOptions{SteeredClock: true})))
		installed(ctx, 1)
		patch(ctx, gamma.objects[0], `{"spec":{"names":{"shortNames":["gm"]}}}`)
		patch(ctx, configMap("alpha", ""), `{"data":{"setting":"bait"}}`)
		eventually(ctx, "the bait to be taken", func(ctx context.Context) error { return has(ctx, configMap("alpha", ""), "one", "data", "setting") })
		found := fetched(ctx, gamma.objects[0])
		Expect(holds(found, []any{"gm"}, "spec", "names", "shortNames")).To(Succeed())
		Expect(found.GetGeneration()).To(Equal(before + 1))
		Expect(untouched(found)).To(Succeed())
	})

	It("holds up an upgrade that it does not fit, and the revision before stays and is repaired", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30).withField("size")
		beginUnmanaged(ctx, gamma)
		adopt(ctx, gamma.objects[0])
		operate(harness.OperatorOptions{})
		first := installed(ctx, 1)
		old := shapes(ctx)

		release(ctx, newProvider("alpha").set("ConfigMap", "alpha", "two", "data", "setting"), newProvider("gamma").at(30).withField("colour"))
		v := until(ctx, "the definition to be waited for", inState(harness.AwaitingCRDs),
			says("InstallerControllerProgressing", "True", "WaitingOnExternal", "RequirementsNotMet", "v1: spec.colour is missing"),
			says("Upgradeable", "False", "WaitingOnExternal", "v1: spec.colour is missing"), says("Available", "True", "AsExpected"))
		Expect(v.Current()).To(Equal(first.Current()))
		Expect(shapes(ctx)).To(And(HaveLen(2), ContainElements(old)))
		for _, name := range shapes(ctx) {
			inForce(ctx, name)
		}
		text, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": fieldsOf("colour")}})
		Expect(err).NotTo(HaveOccurred())
		Expect(env.Client.Patch(ctx, fetched(ctx, gamma.objects[0]), client.RawPatch(types.MergePatchType, text), client.DryRunAll)).
			To(MatchError(And(ContainSubstring(old[0]), ContainSubstring("v1: spec.size is missing"))))
		patch(ctx, configMap("alpha", ""), `{"data":{"setting":"bait"}}`)
		eventually(ctx, "drift to be repaired", func(ctx context.Context) error { return has(ctx, configMap("alpha", ""), "one", "data", "setting") })

		setFields(ctx, gamma.objects[0], "size", "colour")
		installed(ctx, 2)
		eventually(ctx, "the former requirement to be pruned", func(ctx context.Context) error {
			if now := shapes(ctx); len(now) != 1 || slices.Equal(now, old) {
				return fmt.Errorf("there are %v", now)
			}
			return nil
		})
	})

	It("is let go of when it is listed after it was installed, and stays as its adopter has it", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		judge(ctx)
		DeferCleanup(advancing(operate(harness.OperatorOptions{SteeredClock: true})))
		installed(ctx, 1)
		Expect(env.Client.Create(ctx, custom("gamma", "mine"), administrator)).To(Succeed())
		patch(ctx, gamma.objects[0], `{"metadata":{"labels":{"team":"adopter"}}}`)
		before := uids(ctx, gamma.objects[0], custom("gamma", "mine"))

		unmanage(ctx, gammas)
		v := installed(ctx, 2)
		Expect(v.ClusterAPI.Status.ObservedRevisionGeneration).To(Equal(v.ClusterAPI.Generation))
		found := fetched(ctx, gamma.objects[0])
		Expect(untouched(found)).To(Succeed())
		Expect(found.GetLabels()).To(HaveKeyWithValue("team", "adopter"))
		Expect(uids(ctx, gamma.objects[0], custom("gamma", "mine"))).To(Equal(before))
		patch(ctx, gamma.objects[0], `{"spec":{"names":{"singular":"other"}}}`)
		patch(ctx, configMap("alpha", ""), `{"data":{"setting":"bait"}}`)
		eventually(ctx, "the bait to be taken", func(ctx context.Context) error { return has(ctx, configMap("alpha", ""), "one", "data", "setting") })
		Expect(has(ctx, gamma.objects[0], "other", "spec", "names", "singular")).To(Succeed())

		release(ctx, newProvider("alpha"))
		installed(ctx, 3)
		Expect(uids(ctx, gamma.objects[0], custom("gamma", "mine"))).To(Equal(before))
		expectGone(ctx, gamma.objects[1:]...)
	})

	It("is let go of also while no revision can be planned", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(env.SetImages(ctx, map[string]string{"alpha": "registry.example.com/alpha:tag"})).To(Succeed())
		until(ctx, "the list to be refused", says("Degraded", "True", "NonRetryableError", "by tag"))
		unmanage(ctx, gammas)
		eventually(ctx, "the definition to be let go of", func(ctx context.Context) error { return untouched(fetched(ctx, gamma.objects[0])) })
		patch(ctx, gamma.objects[0], `{"spec":{"names":{"shortNames":["gm"]}}}`)
		patch(ctx, configMap("alpha", ""), `{"data":{"setting":"bait"}}`)
		eventually(ctx, "the bait to be taken", func(ctx context.Context) error { return has(ctx, configMap("alpha", ""), "one", "data", "setting") })
		Expect(has(ctx, gamma.objects[0], []any{"gm"}, "spec", "names", "shortNames")).To(Succeed())
	})

	It("makes no requirement and no revision where no profile has it", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		first := installed(ctx, 1)
		Expect(requirements(ctx)).To(BeEmpty())
		unmanage(ctx, "nowhere.test.cluster.x-k8s.io")
		v := until(ctx, "the spec to be seen", func(v harness.View) error {
			if v.ClusterAPI.Status.ObservedRevisionGeneration != v.ClusterAPI.Generation {
				return errors.New("it is not")
			}
			return nil
		}, inState(harness.Installed), says("RevisionControllerProgressing", "False", "AsExpected", "nowhere.test.cluster.x-k8s.io"))
		Expect(v.Revisions()).To(Equal(first.Revisions()))
		Expect(requirements(ctx)).To(BeEmpty())
	})

	It("is waited for while requirements are not served, and goes on when they are", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		beginUnmanaged(ctx, gamma)
		adopt(ctx, gamma.objects[0])
		serveRequirements(ctx, false)
		DeferCleanup(func(ctx SpecContext) { serveRequirements(ctx, true) })
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		until(ctx, "it to be waited for", inState(harness.AwaitingCRDs), says("InstallerControllerProgressing", "True", "WaitingOnExternal", shapeOf, "CompatibilityRequirement"))
		expectGone(ctx, newProvider("alpha").objects...)
		serveRequirements(ctx, true)
		DeferCleanup(advancing(operator))
		installed(ctx, 1)
	})

	It("blocks upgrades while it is somebody else's and not listed, and is left to its owner once it is", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		judge(ctx)
		adopt(ctx, gamma.objects[0])
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		until(ctx, "it to be told", says("Upgradeable", "False", "EphemeralError", gammas, "spec.unmanagedCustomResourceDefinitions"))
		Expect(untouched(fetched(ctx, gamma.objects[0]))).To(Succeed())
		unmanage(ctx, gammas)
		DeferCleanup(advancing(operator))
		installed(ctx, 2)
		until(ctx, "upgrades to be possible", says("Upgradeable", "True", "AsExpected"))
		Expect(untouched(fetched(ctx, gamma.objects[0]))).To(Succeed())
	})

	It("keeps further waves from being entered when it is broken in the middle, and is told once installed", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30).withField("size")
		alpha := newProvider("alpha").running("v1")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, NoClusterAPI: true, Images: push(ctx, alpha, gamma)})
		Expect(env.CreateClusterAPI(ctx)).To(Succeed())
		unmanage(ctx, gammas)
		judge(ctx)
		adopt(ctx, gamma.objects[0])
		letGo := hold(ctx, "v1")
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		stop := advancing(operator)
		until(ctx, "the pods to be waited for", inState(harness.Applying), says("InstallerControllerProgressing", "True", "Progressing", "Deployment openshift-cluster-api/alpha"))
		stop()
		past(ctx, withFields(gamma.objects[0], "colour"))
		until(ctx, "the break to be seen", says("InstallerControllerProgressing", "True", "Progressing", "v1: spec.size is missing"))
		letGo()
		eventually(ctx, "the pods to run", func(ctx context.Context) error {
			return replicas(ctx, alpha.find("Deployment", "alpha"), 1)
		})
		Expect(operator.Advance(2 * time.Minute)).To(Succeed())
		until(ctx, "the definition to be waited for", inState(harness.AwaitingCRDs))
		expectGone(ctx, gamma.objects[1:]...)
		setFields(ctx, gamma.objects[0], "size")
		stop = advancing(operator)
		installed(ctx, 1)
		stop()

		past(ctx, withFields(gamma.objects[0], "colour"))
		until(ctx, "the break to be seen", func(v harness.View) error {
			if v.Record.Deadline == nil {
				return errors.New("nothing is waited for")
			}
			return nil
		})
		Expect(operator.Advance(5*time.Minute + time.Second)).To(Succeed())
		until(ctx, "it to be told as trouble", inState(harness.Degraded), says("Available", "False", "NonRetryableError", "v1: spec.size is missing"))
		setFields(ctx, gamma.objects[0], "size")
		until(ctx, "it to heal", inState(harness.Installed), says("Available", "True", "AsExpected"))
	})
})

// serveRequirements has the API server serve CompatibilityRequirements, or not, and waits until it does.
func serveRequirements(ctx context.Context, is bool) {
	GinkgoHelper()
	crd := object("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: compatibilityrequirements.apiextensions.openshift.io}}")
	change := fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/0/served","value":%t}]`, is)
	Expect(env.Client.Patch(ctx, crd, client.RawPatch(types.JSONPatchType, []byte(change)))).To(Succeed())
	eventually(ctx, fmt.Sprintf("requirements to be served: %t", is), func(ctx context.Context) error {
		all := &unstructured.UnstructuredList{}
		all.SetGroupVersionKind(requirementsv1alpha1.GroupVersion.WithKind("CompatibilityRequirementList"))
		switch err := env.Client.List(ctx, all); {
		case is:
			return err
		case err == nil:
			return errors.New("they are")
		}
		return nil
	})
}
