package faults_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// adopted is a definition that the administrator installs and keeps.
const adopted = "parts.faults.cluster.x-k8s.io"

// shapes begin the names of what is required of it, and requirementsKey those of requirements in a State.
const (
	shapes          = "capstan-shape." + adopted + "."
	requirementsKey = "compatibilityrequirements.apiextensions.openshift.io /"
)

// parts is the adopted definition with fields, which are strings.
func parts(fields ...string) string {
	properties := make([]string, len(fields))
	for i, field := range fields {
		properties[i] = field + ": {type: string}"
	}
	return fmt.Sprintf(`
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: faults.cluster.x-k8s.io
  scope: Namespaced
  names: {plural: parts, singular: part, kind: Part, listKind: PartList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}
`, adopted, strings.Join(properties, ", "))
}

// adopt installs the definition, as its adopter does, or writes it anew with other fields.
func adopt(ctx context.Context, fields ...string) {
	GinkgoHelper()
	passes(ctx, "the adopter's definition to be written", func(ctx context.Context) error {
		o := parsed(parts(fields...))
		found := shape("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", adopted)
		switch err := env.Client.Get(ctx, client.ObjectKeyFromObject(found), found); {
		case client.IgnoreNotFound(err) != nil:
			return err
		case err != nil:
			return env.Client.Create(ctx, o, administrator)
		}
		if found.GetDeletionTimestamp() != nil {
			return errors.New("it is being deleted")
		}
		found.Object["spec"].(map[string]any)["versions"] = o.Object["spec"].(map[string]any)["versions"]
		return env.Client.Update(ctx, found, administrator)
	})
}

// unmanage lists the definition as one that the administrator manages.
func unmanage(ctx context.Context) {
	GinkgoHelper()
	patch(ctx, theClusterAPI(), fmt.Sprintf(`{"spec":{"unmanagedCustomResourceDefinitions":[%q]}}`, adopted))
}

// awaitCRD asks for a release that needs a field which the adopter's definition does not have.
func awaitCRD(ctx context.Context) {
	GinkgoHelper()
	if needing == "" {
		needing = goodProvider(ctx, "two", parts("size", "colour"))
	}
	killAll()
	check(ctx, 1)
	adopt(ctx, "size")
	unmanage(ctx)
	Expect(env.SetImages(ctx, images(needing))).To(Succeed())
	startGood()
}

// needing is the image of a release that needs the adopted definition.
var needing string

// shapeOf is the requirement of the adopted definition.
func shapeOf(ctx context.Context) *unstructured.Unstructured {
	GinkgoHelper()
	for key := range stateOf(ctx) {
		if name, is := strings.CutPrefix(key, requirementsKey); is && strings.HasPrefix(name, shapes) {
			return shape("apiextensions.openshift.io/v1alpha1", "CompatibilityRequirement", "", name)
		}
	}
	Fail("nothing is required of " + adopted)
	return nil
}

// awaiting expects the same of AwaitingCRDs, and nothing of other states.
func awaiting(e expectation) func(*stage) expectation {
	return func(s *stage) expectation {
		if s.state != harness.AwaitingCRDs {
			return expectation{never: "the revision leaves no CRD to an administrator"}
		}
		return e
	}
}

// waitsFor is what is told of a definition that is waited for.
func waitsFor(texts ...string) []func(harness.View) error {
	return []func(harness.View) error{says("Progressing", "True", "WaitingOnExternal", texts...), says("Available", "True", "AsExpected")}
}

var adoptedFaults = []fault{
	{
		name: "requirement deleted", doc: "Somebody deletes the CompatibilityRequirement of a CRD that an administrator manages.", quick: true,
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			requirement := shapeOf(ctx)
			was := uidOf(ctx, requirement)
			c.renewed = append(c.renewed, requirementsKey+requirement.GetName())
			remove(ctx, requirement)
			eventually(ctx, "it to be there again", func(ctx context.Context) error { return exists(ctx, requirement, was) })
			next()
			edit(ctx)
		},
		expect: awaiting(expectation{word: unnoticed, mended: true}),
	},
	{
		name: "requirement's status spoilt", doc: "Somebody empties the conditions of the CompatibilityRequirement, and with them its machine's record.",
		begin: func(ctx context.Context, _ *cell) {
			patchStatus(ctx, shapeOf(ctx), `{"status":{"conditions":null}}`)
			next()
			edit(ctx)
		},
		expect: awaiting(expectation{word: unnoticed, mended: true}),
	},
	{
		name: "adopted CRD deleted past the hook", doc: "While API servers cannot ask the checker, the CRD that an administrator manages is deleted.",
		begin: func(ctx context.Context, _ *cell) {
			GinkgoHelper()
			crd := shape("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", adopted)
			past(ctx, func() {
				passes(ctx, "the definition to be deleted", func(ctx context.Context) error {
					return client.IgnoreNotFound(env.Client.Delete(ctx, crd.DeepCopy()))
				})
			})
			next()
			edit(ctx)
		},
		// It cannot be made anew as it was: the checker is asked again.
		expect: awaiting(expectation{word: told, mended: true, departs: true, told: waitsFor("CRDNotFound", adopted)}),
	},
	{
		name: "adopted CRD broken past the hook", doc: "While API servers cannot ask the checker, the CRD that an administrator manages loses another field that is needed.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			past(ctx, func() { adopt(ctx, "weight") })
			c.later(func() { adopt(ctx, "size") })
			next()
			edit(ctx)
		},
		expect: awaiting(expectation{word: told, mended: true, told: waitsFor("v1: spec.size is missing")}),
	},
	{
		name: "API of requirements removed", doc: "CompatibilityRequirements are not served any more, and then again.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			c.renewed = append(c.renewed, requirementsKey+shapeOf(ctx).GetName()) // it cannot be seen meanwhile
			serveRequirements(ctx, false)
			c.later(func() { serveRequirements(ctx, true) })
			next()
			edit(ctx)
		},
		expect: awaiting(expectation{word: told, mended: true, told: waitsFor("CompatibilityRequirement")}),
	},
	{
		name: "checker killed", doc: "All replicas of the checker are killed, and later there is another one.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			checking.killReplicas()
			c.later(func() { checking.another() })
			next()
			edit(ctx)
		},
		expect: awaiting(expectation{word: unnoticed, mended: true}),
	},
}

// serveRequirements has the API server serve CompatibilityRequirements, or not, and waits until it does.
func serveRequirements(ctx context.Context, is bool) {
	GinkgoHelper()
	crd := shape("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "compatibilityrequirements.apiextensions.openshift.io")
	change := fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/0/served","value":%t}]`, is)
	Expect(env.Client.Patch(ctx, crd, client.RawPatch(types.JSONPatchType, []byte(change)))).To(Succeed())
	eventually(ctx, fmt.Sprintf("requirements to be served: %t", is), func(ctx context.Context) error {
		err := env.Client.List(ctx, &requirementsv1alpha1.CompatibilityRequirementList{})
		if (err == nil) != is {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}
