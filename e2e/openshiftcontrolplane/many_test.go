package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// several makes clusters of three control-plane machines at once, and has them installed and removed.
func several(ctx context.Context, number int) {
	GinkgoHelper()
	since := mark(ctx)
	var all []*capiworld.Asked
	for range number {
		all = append(all, ask(ctx, newKey(ctx), 3, ""))
	}
	for _, one := range all {
		stands(ctx, one.Key, "Installed")
		says(ctx, one.Key, "Available", metav1.ConditionTrue, "")
		available(ctx, one.Key)
		objects := objectsOf(ctx, one.Key)
		Expect(machines(objects)).To(ConsistOf("Machine one-0", "Machine one-1", "Machine one-2"))
		Expect(objects).NotTo(ContainElement(ContainSubstring("bootstrap")))
		Expect(bootstraps(ctx, since, one.Key)).To(HaveLen(1), "creations of the bootstrap machine")
	}
	requests, err := world.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	user := world.Manager(capiworld.Provider).User
	own := requests.Where(func(r cluster.Request) bool { return r.User == user })
	AddReportEntry("requests and writes of a cluster", fmt.Sprintf("%d, %d", len(own)/number, len(own.Writes())/number))
	Expect(own.Where(func(r cluster.Request) bool { return r.Unauthorized })).To(BeEmpty(), "what it had no right to")
	keepsApart(ctx, all, own.Writes())
	for _, one := range all {
		remove(ctx, one.Key)
	}
}

// available waits until the Cluster itself says that it can be used.
func available(ctx context.Context, key capiworld.Key) {
	GinkgoHelper()
	eventually(ctx, "Cluster "+key.String()+" to be Available", func(ctx context.Context) error {
		of := &clusterv1.Cluster{}
		if err := world.API.Get(ctx, key, of); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(of.Status.Conditions, clusterv1.ClusterAvailableCondition) {
			return fmt.Errorf("it says %v", of.Status.Conditions)
		}
		return nil
	})
}

// keepsApart looks for anything that a provider has written for one cluster and that is not in the cluster's namespace, or names what is
// in another one's: all clusters have the same name.
func keepsApart(ctx context.Context, all []*capiworld.Asked, writes cluster.RequestList) {
	GinkgoHelper()
	spaces := map[string]bool{harness.CAPINamespace: true} // its Lease and its recorder are there
	for i := range namespaces {
		spaces[namespaceOf(i+1)] = true
	}
	Expect(writes.Where(func(r cluster.Request) bool { return !spaces[r.Namespace] })).To(BeEmpty(), "writes to no cluster's namespace")
	own := writes.Where(func(r cluster.Request) bool { return r.Namespace == harness.CAPINamespace })
	Expect(own.Except("coordination.k8s.io", "leases").Except("", "configmaps").Except("events.k8s.io", "events")).To(BeEmpty())
	for _, one := range all {
		there := map[types.UID]bool{}
		var owners []metav1.OwnerReference
		for _, of := range capiworld.Kinds() {
			objects, err := world.List(ctx, of, one.Key.Namespace)
			Expect(err).NotTo(HaveOccurred())
			for i := range objects {
				there[objects[i].GetUID()] = true
				owners = append(owners, objects[i].GetOwnerReferences()...)
			}
		}
		for _, owner := range owners {
			Expect(there).To(HaveKey(owner.UID), "%s %s owns something in %s", owner.Kind, owner.Name, one.Key.Namespace)
		}
		port, _, _ := unstructured.NestedInt64(one.DevCluster.Object, "spec", "controlPlaneEndpoint", "port")
		config, err := clientcmd.RESTConfigFromKubeConfig(stored(ctx, one.Key, one.Key.Name+"-kubeconfig").Data["value"])
		Expect(err).NotTo(HaveOccurred())
		Expect(config.Host).To(HaveSuffix(fmt.Sprintf(":%d", port)))
	}
}

var _ = Describe("Clusters that are made at once", func() {
	It("are installed and removed, two of them, and none is mistaken for another", func(ctx SpecContext) { several(ctx, 2) }, SpecTimeout(3*patience))
	It("are installed and removed, ten of them, and none is mistaken for another", Label(long), func(ctx SpecContext) { several(ctx, 10) }, SpecTimeout(20*time.Minute))
})
