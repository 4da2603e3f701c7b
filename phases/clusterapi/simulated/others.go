package simulated

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// What installers of other releases do to the cluster.

// ListFor says which release the list of images is for; empty for every one.
func (c *Cluster) ListFor(release string) {
	list := &corev1.ConfigMap{}
	c.find(context.Background(), client.ObjectKey{Namespace: operatorNamespace, Name: phases.ImagesConfigMap}, list)
	list.Annotations = nil
	if release != "" {
		list.Annotations = map[string]string{phases.ReleaseAnnotation: release}
	}
	must(c.stored.Update(context.Background(), list))
	c.announce()
}

// FormerInstaller lets the installer that OpenShift shipped before run, or end: then its Lease is held for a while.
func (c *Cluster) FormerInstaller(running, ending bool) {
	ctx, name := context.Background(), phases.FormerInstallers[0]
	in := metav1.ObjectMeta{Namespace: operatorNamespace, Name: name}
	must(client.IgnoreNotFound(c.stored.Delete(ctx, &appsv1.Deployment{ObjectMeta: in})))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: phases.FormerLease(name)}}
	must(client.IgnoreNotFound(c.stored.Delete(ctx, lease)))
	if running {
		must(c.stored.Create(ctx, &appsv1.Deployment{ObjectMeta: in}))
	}
	if running || ending {
		lease.Spec = coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("its pod"), LeaseDurationSeconds: ptr.To[int32](137), RenewTime: ptr.To(metav1.NewMicroTime(c.Now().Truncate(time.Second))),
		}
		must(c.stored.Create(ctx, lease))
	}
	c.announce()
}
