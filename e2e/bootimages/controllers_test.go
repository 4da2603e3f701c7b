package bootimages_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// runClusterAPI runs Cluster API's own controllers of MachineDeployments and MachineSets until the spec ends. There is no
// cloud: machines get no further than their objects.
func runClusterAPI(ctx context.Context) {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme} {
		Expect(add(scheme)).To(Succeed())
	}
	access := env.Cluster.Config()
	access.UserAgent = "cluster-api"
	mgr, err := ctrl.NewManager(access, ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Cache:  cache.Options{DefaultNamespaces: map[string]cache.Config{harness.CAPINamespace: {}}},
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	Expect(err).NotTo(HaveOccurred())
	alone := controller.Options{SkipNameValidation: ptr.To(true)}
	Expect((&controllers.MachineDeploymentReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader()}).SetupWithManager(ctx, mgr, alone)).To(Succeed())
	Expect((&controllers.MachineSetReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: clustercache.NewFakeEmptyClusterCache(),
	}).SetupWithManager(ctx, mgr, alone)).To(Succeed())
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	DeferCleanup(func() {
		stop()
		Expect(<-ended).To(Succeed())
	})
}

// machines waits until there are so many AWSMachines, and returns their AMIs by name.
func machines(ctx context.Context, count int) map[string]any {
	GinkgoHelper()
	var amis map[string]any
	eventually(ctx, fmt.Sprintf("%d machines", count), func(ctx context.Context) error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta2")
		list.SetKind("AWSMachineList")
		if err := env.Client.List(ctx, list, client.InNamespace(harness.CAPINamespace)); err != nil {
			return err
		}
		amis = map[string]any{}
		for i := range list.Items {
			amis[list.Items[i].GetName()] = field(&list.Items[i], "spec.ami.id")
		}
		return unless(len(amis) == count, "there are %v", amis)
	})
	return amis
}

var _ = Describe("Cluster API's own controllers", func() {
	It("replace no machine of a MachineDeployment that is moved under OnDelete, and make the next one from the new image", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType, config: enrolled})
		careful := create(ctx, deployment("careful", "OnDelete", create(ctx, awsTemplate("first", ami(1)))))
		Expect(merge(ctx, careful, "spec: {replicas: 2}")).To(Succeed())
		runClusterAPI(ctx)
		before := machines(ctx, 2)
		// A MachineDeployment that has not seen its machines yet takes them for surplus.
		becomes(ctx, careful, "status.replicas", int64(2))
		s.operate(ctx, both)
		s.targets(ctx, "Current", 1)
		s.targets(ctx, "Excluded", 1)
		s.upgrade(ctx, 2)
		clone := cloned(ctx, careful, 2)
		eventually(ctx, "a MachineSet of the clone", func(ctx context.Context) error {
			sets := &unstructured.UnstructuredList{}
			sets.SetAPIVersion("cluster.x-k8s.io/v1beta2")
			sets.SetKind("MachineSetList")
			if err := env.Client.List(ctx, sets, client.InNamespace(harness.CAPINamespace)); err != nil {
				return err
			}
			for i := range sets.Items {
				if field(&sets.Items[i], templateName) == clone.GetName() {
					return nil
				}
			}
			return unless(false, "there are %d others", len(sets.Items))
		})
		Expect(machines(ctx, 2)).To(Equal(before))

		By("deleting one of the machines")
		names := slices.Sorted(maps.Keys(before))
		for _, name := range names[:1] {
			machine := parse(`{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {name: %s, namespace: openshift-cluster-api}}`, name)
			remove(ctx, machine)
			Expect(client.IgnoreNotFound(merge(ctx, machine, "metadata: {finalizers: null}"))).To(Succeed())
			infrastructure := machineOf(name, clone)
			remove(ctx, infrastructure)
			Expect(client.IgnoreNotFound(merge(ctx, infrastructure, "metadata: {finalizers: null}"))).To(Succeed())
		}
		eventually(ctx, "a machine of the new image beside the old one", func(ctx context.Context) error {
			amis := machines(ctx, 2)
			images := slices.Collect(maps.Values(amis))
			return unless(amis[names[1]] == ami(1) && slices.Contains(images, any(ami(2))), "there are %v", amis)
		})
	})
})
