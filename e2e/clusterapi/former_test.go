package clusterapi_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("A former installer that runs", func() {
	It("is waited for, ended by capstan takeover, and what it has installed is taken over in place", func(ctx SpecContext) {
		alpha, requirement := newProvider("alpha"), compatibilityRequirement("ccapio-alphas.test.cluster.x-k8s.io")
		images := push(ctx, alpha)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		applyAsFormer(ctx, "alpha", 1, images["alpha"], append(alpha.objects, requirement)...)
		listAsFormer(ctx, images["alpha"], 1)
		former := runFormer(ctx)
		before := uids(ctx, append(alpha.objects, requirement)...)

		operator := operate(harness.OperatorOptions{SteeredClock: true})
		until(ctx, "the former installer to be waited for", inState(harness.WaitingOnInfra), listed(1),
			says("Progressing", "True", "WaitingOnExternal", "Deployment openshift-cluster-api-operator/capi-operator of a former installer runs", "capstan takeover --dry-run"),
			says("Degraded", "False", "AsExpected"))
		Expect(operator.Advance(10*time.Minute + time.Second)).To(Succeed())
		until(ctx, "it to be told as trouble", says("Degraded", "True", "EphemeralError", "capstan takeover --dry-run"))
		tellAsFormer(ctx, "RevisionController", "RevisionControllerAvailable")

		Expect(admin().run(ctx, codeFailed, "takeover", "--dry-run", "--yes")).To(ContainSubstring("say either --dry-run"))
		Expect(as("stranger").run(ctx, codeFailed, "takeover", "--dry-run")).To(ContainSubstring("not allowed to get"))
		Expect(admin().run(ctx, codeFailed, "takeover", "--yes", "--override")).To(And(
			ContainSubstring("Capstan does not run on this cluster"), ContainSubstring("nothing was changed")))
		uids(ctx, former...)
		lead(ctx)
		Expect(admin().run(ctx, codeFailed, "takeover", "--yes")).To(And(
			ContainSubstring("would put back Deployment openshift-cluster-api-operator/capi-operator: nothing was changed"), ContainSubstring("--override")))
		Expect(admin().run(ctx, 0, "takeover", "--dry-run", "--override")).To(And(
			MatchRegexp(`override +Deployment openshift-cluster-api-operator/capi-operator `), MatchRegexp(`delete +Deployment openshift-cluster-api-operator/capi-installer `),
			MatchRegexp(`wait +Lease openshift-cluster-api-operator/capi-installer-leader `), MatchRegexp(`delete +ClusterRoleBinding openshift-capi-installer `),
			MatchRegexp(`stay +ClusterRole openshift-capi-operator `), MatchRegexp(`clear +ClusterOperator cluster-api `),
			Not(ContainSubstring("ccapio-")), ContainSubstring("Nothing was changed. To do it: capstan takeover --yes --override")))
		Expect(admin().run(ctx, codeFailed, "takeover", "--override")).To(And(
			MatchRegexp(`delete +Deployment openshift-cluster-api-operator/capi-installer `), ContainSubstring("nobody sits at a terminal who could be asked")))
		uids(ctx, former...)

		Expect(admin().run(ctx, 0, "takeover", "--yes", "--override")).To(ContainSubstring("Done."))
		v := installed(ctx, 2)
		Expect(v.Revisions()).To(HaveLen(1))
		for _, o := range former {
			if o.GetAnnotations()[keptByCVO] == "" || o.GetKind() == "Deployment" {
				expectGone(ctx, o)
			} else {
				uids(ctx, o)
			}
		}
		Expect(field(fetched(ctx, clusterVersion()), "spec", "overrides")).To(Equal([]any{
			map[string]any{"group": "apps", "kind": "Deployment", "namespace": harness.OperatorNamespace, "name": "capi-operator", "unmanaged": true},
		}))
		until(ctx, "the conditions of a finished installation", finished, func(v harness.View) error {
			if stale := v.Condition("RevisionControllerAvailable"); stale != nil {
				return fmt.Errorf("it is told %+v", stale)
			}
			return nil
		})
		Expect(uids(ctx, append(alpha.objects, requirement)...)).To(Equal(before))
		Expect(admin().run(ctx, 0, "takeover", "--dry-run")).To(MatchRegexp(`stay +ClusterRole openshift-capi-operator `))
	})

	It("stops what was planned when it comes back, and what is installed is kept", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, alpha)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		former := runFormer(ctx)
		until(ctx, "the former installer to be waited for", inState(harness.WaitingOnInfra), says("Available", "True", "AsExpected"))
		release(ctx, newProvider("alpha").with(configMap("more", "one")))
		patch(ctx, configMap("alpha", ""), `{"data":{"setting":"drifted"}}`)
		eventually(ctx, "what is installed to be kept", func(ctx context.Context) error { return has(ctx, configMap("alpha", ""), "one", "data", "setting") })
		until(ctx, "nothing to be planned", inState(harness.WaitingOnInfra), listed(1))
		for _, o := range former {
			Expect(env.Client.Delete(ctx, o.DeepCopy())).To(Succeed())
		}
		installed(ctx, 2)
	})
})

// keptByCVO is what objects of a release's manifests carry.
const keptByCVO = "include.release.openshift.io/self-managed-high-availability"

// runFormer brings the former installer as a release and its operator leave it, and ClusterVersion version.
func runFormer(ctx context.Context) []*unstructured.Unstructured {
	GinkgoHelper()
	const template = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capi-operator, namespace: NAMESPACE, annotations: {INCLUDE: "true"}}, spec: {selector: {matchLabels: {app: capi-operator}}, template: {metadata: {labels: {app: capi-operator}}, spec: {containers: [{name: manager, image: example.com/capi-operator}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: capi-installer, namespace: NAMESPACE}, spec: {selector: {matchLabels: {app: capi-installer}}, template: {metadata: {labels: {app: capi-installer}}, spec: {containers: [{name: manager, image: example.com/capi-installer}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: openshift-capi-operator, annotations: {INCLUDE: "true"}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: openshift-capi-installer}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: openshift-capi-installer}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: capi-installer, namespace: NAMESPACE}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: capi-installer-leader, namespace: NAMESPACE}, spec: {holderIdentity: its-pod, leaseDurationSeconds: 3, renewTime: "RENEWED"}}`
	text := strings.NewReplacer("NAMESPACE", harness.OperatorNamespace, "INCLUDE", keptByCVO, "RENEWED", time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")).Replace(template)
	var former []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		o := object(document)
		Expect(env.Client.Create(ctx, o.DeepCopy(), administrator)).To(Succeed())
		former = append(former, o)
	}
	Expect(env.Client.Create(ctx, clusterVersion(), administrator)).To(Succeed())
	return former
}

// lead holds the operator's Lease, which operators of this suite do without.
func lead(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, object(fmt.Sprintf(
		"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: capstan-leader, namespace: %s}, spec: {holderIdentity: its-pod, leaseDurationSeconds: 600, renewTime: %q}}",
		harness.OperatorNamespace, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))), administrator)).To(Succeed())
}

func clusterVersion() *unstructured.Unstructured {
	return object("{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: {clusterID: 0f3b5c0e-7d4e-4b8e-9a3c-6a1d2f5e8b90}}")
}

// compatibilityRequirement is one that the former installer made for who hosts clusters here.
func compatibilityRequirement(name string) *unstructured.Unstructured {
	return object(fmt.Sprintf(`
apiVersion: apiextensions.openshift.io/v1alpha1
kind: CompatibilityRequirement
metadata: {name: %s}
spec:
  compatibilitySchema:
    customResourceDefinition: {type: YAML, data: "kind: CustomResourceDefinition"}
    requiredVersions: {defaultSelection: StorageOnly}
  customResourceDefinitionSchemaValidation: {action: Warn}
`, name))
}
