package clusterapi_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// formerInstaller is the field manager of the installer that OpenShift ships.
const formerInstaller = client.FieldOwner("capi-operator.openshift.io/InstallerController")

var _ = Describe("A cluster that OpenShift's installer has installed", func() {
	It("is taken over in place: nothing that stays is deleted or started anew, and what is over is pruned", func(ctx SpecContext) {
		alpha, gamma := newProvider("alpha"), newProvider("gamma").at(30)
		images := push(ctx, alpha)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		onlyOne, onlyTwo, definition := configMap("only-in-one", "one"), configMap("only-in-two", "two"), gamma.objects[0]
		applyAsFormer(ctx, "alpha", 1, images["alpha"], onlyOne)
		applyAsFormer(ctx, "alpha", 2, images["alpha"], append(slices.Clone(alpha.objects), onlyTwo)...)
		applyAsFormer(ctx, "gamma", 2, images["alpha"], definition)
		listAsFormer(ctx, images["alpha"], 1, 2)
		tellAsFormer(ctx, "RevisionController", "RevisionControllerAvailable", "RevisionControllerProgressing")
		tellAsFormer(ctx, "CoreClusterController", "CoreClusterControllerAvailable")
		eventually(ctx, "the definition to be served", func(ctx context.Context) error {
			return env.Client.Create(ctx, custom("gamma", "mine"), administrator)
		})
		deployment := alpha.find("Deployment", "alpha")
		eventually(ctx, "the Deployment to be there", func(ctx context.Context) error { return has(ctx, deployment, int64(1), "status", "availableReplicas") })
		before, pods := uids(ctx, alpha.objects...), podNames(ctx)
		spec := field(fetched(ctx, deployment), "spec") // the generation counts annotations too, and so the revision number
		since := mark(ctx)

		operate(harness.OperatorOptions{})
		v := installed(ctx, 3)
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(uids(ctx, alpha.objects...)).To(Equal(before))
		Expect(field(fetched(ctx, deployment), "spec")).To(Equal(spec))
		Expect(podNames(ctx)).To(Equal(pods))
		deleted := requests(ctx, since).Where(func(r cluster.Request) bool {
			return r.Verb == "delete" && !r.DryRun && !strings.HasPrefix(r.Name, "capstan-")
		})
		Expect(deleted).To(HaveLen(2), deleted.String())
		expectGone(ctx, onlyOne, onlyTwo)
		for _, o := range alpha.objects {
			found := fetched(ctx, o)
			Expect(found.GetLabels()).NotTo(HaveKey("app.kubernetes.io/managed-by"), o.GetKind())
			for _, entry := range found.GetManagedFields() {
				Expect(entry.Manager).NotTo(Equal(string(formerInstaller)), o.GetKind())
			}
		}
		until(ctx, "the definition to be retained", says("Upgradeable", "True", "AsExpected", definition.GetName(), "holds 1 instance"),
			says("Available", "True", "AsExpected"), says("Degraded", "False", "AsExpected"))
		uids(ctx, definition, custom("gamma", "mine"))
		v = until(ctx, "what the former installer told to be gone", func(v harness.View) error {
			if stale := v.Condition("RevisionControllerAvailable"); stale != nil {
				return fmt.Errorf("it is told %+v", stale)
			}
			return nil
		})
		Expect(v.Condition("CoreClusterControllerAvailable")).NotTo(BeNil(), "the condition of somebody who is still there")
		Expect(path(v)).To(Equal([]string{"InfrastructureKnown", "RevisionPublished", "RevisionApplied", "OrphansGone"}))
	})
})

// applyAsFormer brings objects as the former installer leaves them.
func applyAsFormer(ctx context.Context, component string, revision int64, image string, objects ...*unstructured.Unstructured) {
	GinkgoHelper()
	for _, o := range objects {
		text, err := o.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		applied := &unstructured.Unstructured{}
		Expect(applied.UnmarshalJSON([]byte(strings.ReplaceAll(string(text), "registry.example/self:"+component, image)))).To(Succeed())
		labels := applied.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[harness.ManagedByLabel], labels["app.kubernetes.io/managed-by"] = component, "boxcutter"
		applied.SetLabels(labels)
		applied.SetAnnotations(map[string]string{"capi-operator.openshift.io/revision": fmt.Sprint(revision)})
		Expect(env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), formerInstaller, client.ForceOwnership)).To(Succeed())
	}
}

// listAsFormer lists revisions, the last of which is current, with content IDs of
// the former installer's making.
func listAsFormer(ctx context.Context, image string, numbers ...int64) {
	GinkgoHelper()
	status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
		for _, number := range numbers {
			entry := operatorv1alpha1.ClusterAPIInstallerRevision{
				Name: operatorv1alpha1.RevisionName(fmt.Sprintf("4.21.9-0badc0de-%d", number)), Revision: number, ContentID: strings.Repeat("0badc0de", 8),
				Components: []operatorv1alpha1.ClusterAPIInstallerComponent{{
					Name: "alpha",
					ClusterAPIInstallerComponentSource: operatorv1alpha1.ClusterAPIInstallerComponentSource{
						Type:  operatorv1alpha1.InstallerComponentTypeImage,
						Image: operatorv1alpha1.ClusterAPIInstallerComponentImage{Ref: operatorv1alpha1.ImageDigestFormat(image), Profile: "default"},
					},
				}},
			}
			s.Revisions = append(s.Revisions, entry)
			s.DesiredRevision, s.CurrentRevision, s.ObservedRevisionGeneration = entry.Name, entry.Name, 1
		}
	})
}

// tellAsFormer writes conditions as a controller of OpenShift's operator that has given up.
func tellAsFormer(ctx context.Context, controller string, kinds ...string) {
	GinkgoHelper()
	var conditions []any
	for _, kind := range kinds {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": "False", "reason": "NonRetryableError", "message": "max number of revisions reached", "lastTransitionTime": "2026-01-01T12:00:00Z",
		})
	}
	operator := object("{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: cluster-api}}")
	operator.Object["status"] = map[string]any{"conditions": conditions}
	Expect(env.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(operator),
		client.FieldOwner("capi-operator.openshift.io/"+controller), client.ForceOwnership)).To(Succeed())
}

// podNames are those of all pods in the namespace of Cluster API.
func podNames(ctx context.Context) []string {
	GinkgoHelper()
	list := &corev1.PodList{}
	Expect(env.Client.List(ctx, list, client.InNamespace(harness.CAPINamespace))).To(Succeed())
	var names []string
	for _, pod := range list.Items {
		names = append(names, pod.Name)
	}
	Expect(names).NotTo(BeEmpty())
	return names
}
