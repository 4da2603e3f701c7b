package engine_test

import (
	"context"
	"encoding/json"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// create creates an object by another hand than the engine's. A kind that was defined just now is waited for: discovery
// follows its definition.
func (w *world) create(ctx context.Context, o *unstructured.Unstructured, by ...client.CreateOption) *unstructured.Unstructured {
	GinkgoHelper()
	o = o.DeepCopy()
	var err error
	eventually(ctx, o.GetKind()+" to be served", func(ctx context.Context) error {
		err = w.client.Create(ctx, o, append([]client.CreateOption{administrator}, by...)...)
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsTooManyRequests(err) {
			return err
		}
		return nil
	})
	Expect(err).NotTo(HaveOccurred())
	return o
}

// ssa applies an object server-side as another manager, by force.
func (w *world) ssa(ctx context.Context, manager string, o *unstructured.Unstructured) {
	GinkgoHelper()
	applied := client.ApplyConfigurationFromUnstructured(o.DeepCopy())
	Expect(w.client.Apply(ctx, applied, client.FieldOwner(manager), client.ForceOwnership)).To(Succeed())
}

// put changes an object with a PUT, as another manager.
func (w *world) put(ctx context.Context, manager string, o *unstructured.Unstructured, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	GinkgoHelper()
	var found *unstructured.Unstructured
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		if found, err = w.get(ctx, o); err != nil {
			return err
		}
		change(found)
		return w.client.Update(ctx, found, client.FieldOwner(manager))
	})).To(Succeed())
	return found
}

// merge changes an object with a merge patch, as another manager.
func (w *world) merge(ctx context.Context, manager string, o *unstructured.Unstructured, patch string) *unstructured.Unstructured {
	GinkgoHelper()
	found := o.DeepCopy()
	Expect(w.client.Patch(ctx, found, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner(manager))).To(Succeed())
	return found
}

// kubectl creates an object as kubectl apply without --server-side does.
func (w *world) kubectl(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	text, err := json.Marshal(o.Object)
	Expect(err).NotTo(HaveOccurred())
	return w.create(ctx, annotated(o, "kubectl.kubernetes.io/last-applied-configuration", string(text)+"\n"),
		client.FieldOwner("kubectl-client-side-apply"))
}

// delete deletes an object by another hand than the engine's.
func (w *world) delete(ctx context.Context, o *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(w.client.Delete(ctx, o.DeepCopy())).To(Succeed())
}

// hold keeps the pods of one version of a world's Deployment from becoming Ready, until it is released or the spec ends.
func (w *world) hold(ctx context.Context, deployment, version string) (release func()) {
	GinkgoHelper()
	return w.stopPods(ctx, shared().HoldPods, deployment, version)
}

// crash is hold with pods in CrashLoopBackOff.
func (w *world) crash(ctx context.Context, deployment, version string) (release func()) {
	GinkgoHelper()
	return w.stopPods(ctx, shared().CrashPods, deployment, version)
}

func (w *world) stopPods(
	ctx context.Context, how func(context.Context, map[string]string) error, deployment, version string,
) (release func()) {
	GinkgoHelper()
	pods, once := w.pods(deployment, version), sync.Once{}
	Expect(how(ctx, pods)).To(Succeed())
	release = func() {
		once.Do(func() { Expect(shared().ReleasePods(context.Background(), pods)).To(Succeed()) })
	}
	DeferCleanup(release)
	return release
}
