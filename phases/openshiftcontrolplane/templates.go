package openshiftcontrolplane

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OwnTemplate has a Cluster own a template that machines are cloned from, so that it moves and goes with it. It is a write only where
// that is not so, and refused if the template has changed since it was read.
func OwnTemplate(ctx context.Context, c client.Client, cluster *clusterv1.Cluster, template *unstructured.Unstructured) error {
	owner := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster.Name, UID: cluster.UID}
	owners := util.EnsureOwnerRef(template.GetOwnerReferences(), owner)
	if util.HasExactOwnerRef(template.GetOwnerReferences(), owner) {
		return nil
	}
	before := template.DeepCopy()
	template.SetOwnerReferences(owners)
	if err := c.Patch(ctx, template, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("having Cluster %s own %s %s: %w", cluster.Name, template.GetKind(), template.GetName(), err)
	}
	return nil
}
