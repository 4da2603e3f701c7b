package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	infrav1 "sigs.k8s.io/cluster-api-provider-aws/v2/api/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// One journey with the real providers, because each installation of them takes
// seconds: every spec goes on where the one before it ended.
var _ = Describe("The real providers on AWS", Ordered, func() {
	var operator *harness.Operator
	elect := harness.OperatorOptions{LeaderElect: true}

	BeforeAll(func(ctx SpecContext) {
		images, err := env.Push(ctx, providers.ReleaseOne)
		Expect(err).NotTo(HaveOccurred())
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
	}, NodeTimeout(5*time.Minute))

	It("are installed by the first release, and the ClusterOperator says so", func(ctx SpecContext) {
		since := mark(ctx)
		operator = operate(elect)
		v := installed(ctx, 1)
		AddReportEntry("installed after", v.Record.Since.Sub(operator.Started).Round(time.Millisecond).String())
		all := requests(ctx, since)
		AddReportEntry("requests", len(all))
		AddReportEntry("writes", len(all.Writes()))

		Expect(components(v)).To(Equal([]string{providers.Core, providers.AWS}))
		Expect(path(v)).To(Equal([]string{"InfrastructureKnown", "RevisionPublished", "RevisionApplied", "OrphansGone"}))
		v = until(ctx, "the conditions of a finished installation", finished)
		Expect(v.ClusterOperator.Status.Versions).To(ConsistOf(configv1.OperandVersion{Name: "operator", Version: "4.22.0"}))
		Expect(v.ClusterOperator.Status.RelatedObjects).To(ContainElements(
			configv1.ObjectReference{Group: "operator.openshift.io", Resource: "clusterapis", Name: "cluster"},
			configv1.ObjectReference{Resource: "namespaces", Name: harness.CAPINamespace},
			configv1.ObjectReference{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "clusters.cluster.x-k8s.io"},
			configv1.ObjectReference{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "awsclusters.infrastructure.cluster.x-k8s.io"},
			// Without names: must-gather takes all instances.
			configv1.ObjectReference{Group: "cluster.x-k8s.io", Resource: "machines"},
			configv1.ObjectReference{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsmachines"},
		))
		objects, err := harness.Inventory(ctx, env.Client, 1)
		Expect(err).NotTo(HaveOccurred())
		Expect(objects).To(Equal(56))
	})

	It("serve their APIs, so that a Cluster and its AWSCluster can be created", func(ctx SpecContext) {
		user := providersClient()
		Expect(user.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}})).To(Succeed())
		aws := &infrav1.AWSCluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "mine"}, Spec: infrav1.AWSClusterSpec{Region: "eu-west-1"},
		}
		Expect(user.Create(ctx, aws)).To(Succeed())
		core := &clusterv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "mine"},
			Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrav1.GroupVersion.Group, Kind: "AWSCluster", Name: "mine",
			}},
		}
		Expect(user.Create(ctx, core)).To(Succeed())
	})

	It("are left alone by an operator that restarts: it writes nothing but its Lease", func(ctx SpecContext) {
		Expect(operator.Stop()).To(Succeed())
		before := installed(ctx, 1)
		since := mark(ctx)
		operator = operate(elect)
		eventually(ctx, "the operator to watch Deployments again", func(ctx context.Context) error {
			watches := requests(ctx, since).Where(func(r cluster.Request) bool { return r.Verb == "watch" && r.Resource == "deployments" })
			if len(watches) == 0 {
				return errors.New("it does not")
			}
			return nil
		})
		// Putting this right shows that the operator has seen everything and was content with it.
		bait := object("{apiVersion: apps/v1, kind: Deployment, metadata: {name: capa-controller-manager, namespace: openshift-cluster-api}}")
		patch(ctx, bait, `{"spec":{"replicas":3}}`)
		eventually(ctx, "the bait to be taken", func(ctx context.Context) error { return replicas(ctx, bait, 1) })
		all := requests(ctx, since)
		AddReportEntry("requests", len(all))
		Expect(len(all)).To(BeNumerically("<", 60), all.String())
		writes := unrecorded(all.Writes())
		Expect(writes[0].Name).To(Equal(bait.GetName()), "something was written before there was a reason:\n"+writes.String())
		// The bait is written once more if the controller of Deployments was faster than the first write.
		baited := func(r cluster.Request) bool { return r.Name == bait.GetName() }
		Expect(writes.Where(func(r cluster.Request) bool { return baited(r) && r.Code == http.StatusOK })).To(HaveLen(1), writes.String())
		Expect(writes.Where(func(r cluster.Request) bool { return !baited(r) }).Except("config.openshift.io", "clusteroperators")).To(BeEmpty(), writes.String())
		Expect(path(installed(ctx, 1))).To(Equal(path(before)))
	})

	It("are left alone also when the record was wiped: only the record is written again", func(ctx SpecContext) {
		Expect(operator.Stop()).To(Succeed())
		v := installed(ctx, 1)
		v.ClusterOperator.Status.Extension = runtime.RawExtension{}
		Expect(env.Client.Status().Update(ctx, v.ClusterOperator)).To(Succeed())
		since := mark(ctx)
		operator = operate(elect)
		v = installed(ctx, 1)
		Expect(path(v)).To(Equal([]string{"InfrastructureKnown", "NothingToDo"}))
		until(ctx, "the conditions of a finished installation", finished)
		for _, write := range requests(ctx, since).Writes() {
			Expect(write.Resource+"/"+write.Subresource).To(BeElementOf("clusteroperators/status", "events/", "configmaps/"), write.String())
			if write.Resource == "configmaps" {
				Expect(write.Name).To(BeElementOf("capstan-recorder", "capstan-history"))
			}
		}
	})

	It("are upgraded by the second release without losing an object of their users", func(ctx SpecContext) {
		images, err := env.Push(ctx, providers.ReleaseTwo)
		Expect(err).NotTo(HaveOccurred())
		before := definitions(ctx)
		since := mark(ctx)
		Expect(env.SetImages(ctx, images)).To(Succeed())
		began := time.Now()
		v := installed(ctx, 2)
		AddReportEntry("upgraded after", v.Record.Since.Sub(began).Round(time.Millisecond).String())
		all := requests(ctx, since)
		AddReportEntry("requests", len(all))
		AddReportEntry("writes", len(all.Writes()))

		Expect(v.Revisions()[0].Revision).To(Equal(int64(2)))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-2"))
		after := definitions(ctx)
		for name, uid := range before {
			Expect(after).To(HaveKeyWithValue(name, uid))
		}
		objects, err := harness.Inventory(ctx, env.Client, 2)
		Expect(err).NotTo(HaveOccurred())
		Expect(objects).To(Equal(57))
		core := &clusterv1.Cluster{}
		Expect(providersClient().Get(ctx, client.ObjectKey{Namespace: "tenant", Name: "mine"}, core)).To(Succeed())
		until(ctx, "the conditions of a finished installation", finished)
	})
})

// finished is the question whether all conditions are those of an installation
// that wants nothing.
func finished(v harness.View) error {
	for _, question := range []func(harness.View) error{
		says("Available", "True", "AsExpected"), says("Progressing", "False", "AsExpected"),
		says("Degraded", "False", "AsExpected"), says("Upgradeable", "True", "AsExpected"),
		says("RevisionControllerProgressing", "False", "AsExpected"), says("RevisionControllerDegraded", "False", "AsExpected"),
		says("InstallerControllerProgressing", "False", "AsExpected"), says("InstallerControllerDegraded", "False", "AsExpected"),
		says("InstallerControllerAvailable", "True", "AsExpected"),
	} {
		if err := question(v); err != nil {
			return err
		}
	}
	return nil
}

// providersClient knows the Go types of the real providers.
func providersClient() client.Client {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		Expect(add(scheme)).To(Succeed())
	}
	user, err := client.New(env.Cluster.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return user
}

// definitions are the identities of all CRDs that the operator manages.
func definitions(ctx context.Context) map[string]types.UID {
	GinkgoHelper()
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	Expect(env.Client.List(ctx, list, client.HasLabels{harness.ManagedByLabel})).To(Succeed())
	found := map[string]types.UID{}
	for _, crd := range list.Items {
		found[crd.Name] = crd.UID
	}
	Expect(found).NotTo(BeEmpty())
	return found
}

// replicas is nil when a Deployment asks for this many.
func replicas(ctx context.Context, deployment *unstructured.Unstructured, want int64) error {
	found, err := fetch(ctx, deployment)
	if err != nil {
		return err
	}
	if got, _, _ := unstructured.NestedInt64(found.Object, "spec", "replicas"); got != want {
		return fmt.Errorf("Deployment %s asks for %d replicas, want %d", found.GetName(), got, want)
	}
	return nil
}
