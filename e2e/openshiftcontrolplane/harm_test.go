package openshiftcontrolplane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// replace kills the provider and starts another one.
func replace() {
	GinkgoHelper()
	provider := world.Manager(capiworld.Provider)
	provider.Kill()
	Expect(provider.Stop()).To(Succeed())
	Expect(provider.Start("--leader-elect=false")).To(Succeed())
}

// keeps looks for a while whether the state is kept.
func keeps(t *trial) {
	GinkgoHelper()
	ctx := context.Background()
	Consistently(func() error { return standsAt(ctx, t.Key, t.state) }).WithTimeout(2 * quiet).WithPolling(quiet / 3).Should(Succeed())
}

// lacking has a guest lack something for a while, in which it is asked: one that is at rest by a provider that has just started.
func lacking(ctx context.Context, t *trial, what string) {
	GinkgoHelper()
	Expect(world.Hold(ctx, t.Key, what+","+t.held)).To(Succeed())
	if t.rests {
		replace()
	}
	keeps(t)
	Expect(world.Hold(ctx, t.Key, t.held)).To(Succeed())
}

// pause has all of a cluster stand still, or go on: by its Cluster, or by the OpenShiftControlPlane where there is none.
func (t *trial) pause(ctx context.Context, paused bool) {
	GinkgoHelper()
	if t.lacks == nil || t.lacks(t) != t.Cluster {
		pauseCluster(ctx, t.Key, paused)
		return
	}
	value := "null"
	if paused {
		value = `""`
	}
	standing, err := world.Standing(ctx, t.Key)
	Expect(err).NotTo(HaveOccurred())
	Expect(refine(ctx, standing.Object, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, clusterv1.PausedAnnotation, value))).To(Succeed())
}

// remember keeps the Ignition config of a Secret that is about to be lost, as it was at first.
func (t *trial) remember(secret *corev1.Secret) {
	if t.payload == nil {
		t.payload = map[string][]byte{}
	}
	if _, known := t.payload[secret.Name]; !known {
		t.payload[secret.Name] = secret.Data["value"]
	}
}

// authorityLost has the Secret of the authority be gone for a while.
func authorityLost(ctx context.Context, t *trial) {
	GinkgoHelper()
	kubeconfig := stored(ctx, t.Key, t.Key.Name+"-kubeconfig")
	was := stored(ctx, t.Key, t.Key.Name+"-ca")
	Expect(world.API.Delete(ctx, was)).To(Succeed())
	keeps(t)
	Expect(objectsOf(ctx, t.Key)).NotTo(ContainElement("Secret " + was.Name))
	was.ResourceVersion, was.UID = "", ""
	Expect(world.Create(ctx, was)).To(Succeed())
	Expect(stored(ctx, t.Key, kubeconfig.Name).Data).To(Equal(kubeconfig.Data))
}

// dataLost has the data Secret of a machine that is not started be gone, and altered.
func dataLost(ctx context.Context, t *trial) {
	GinkgoHelper()
	has(ctx, t.Key, "Secret "+t.unstarted)
	was := stored(ctx, t.Key, t.unstarted)
	Expect(world.API.Delete(ctx, was)).To(Succeed())
	holds(ctx, t.Key, was.Name, was.Data)
	Expect(refine(ctx, stored(ctx, t.Key, was.Name), `{"stringData":{"value":"nonsense"}}`)).To(Succeed())
	holds(ctx, t.Key, was.Name, was.Data)
}

// holds waits until a Secret is there and has the same bytes as before under some keys.
func holds(ctx context.Context, key capiworld.Key, name string, before map[string][]byte) {
	GinkgoHelper()
	eventually(ctx, "Secret "+name+" to be as it was", func(ctx context.Context) error {
		now := &corev1.Secret{}
		if err := world.API.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: name}, now); err != nil {
			return err
		}
		for field, value := range before {
			if !bytes.Equal(now.Data[field], value) {
				return fmt.Errorf("its %s is another one", field)
			}
		}
		return nil
	})
}

// foreign has somebody else have objects of names that are the cluster's for a while.
func foreign(ctx context.Context, t *trial) {
	GinkgoHelper()
	all := []*unstructured.Unstructured{
		theirs(capiworld.OpenShift.WithKind("OpenShiftConfig"), t.Key.Name+"-4", "spec", map[string]any{"role": "worker"}),
		theirs(capiworld.Infrastructure.WithKind("DevMachine"), t.Key.Name+"-4", "spec", inMemory()),
	}
	for _, one := range all {
		one.SetNamespace(t.Key.Namespace)
		Expect(world.Create(ctx, one)).To(Succeed())
	}
	keeps(t)
	for _, one := range all {
		untouched(ctx, one)
		Expect(world.API.Delete(ctx, one)).To(Succeed())
	}
}

// unavailable has infrastructure machines say that they cannot be had for a while, and no other one be admitted.
func unavailable(ctx context.Context, t *trial) {
	GinkgoHelper()
	rule := world.Manager(capiworld.Provider).Between().Add(proxy.Rule{Verb: "create", Resource: "devmachines", Fault: proxy.Answer(http.StatusForbidden, 0)})
	defer rule.End()
	all, err := world.List(ctx, capiworld.Infrastructure.WithKind("DevMachine"), t.Key.Namespace)
	Expect(err).NotTo(HaveOccurred())
	var paused []*unstructured.Unstructured
	for i := range all {
		one := &all[i]
		if _, is := one.GetAnnotations()[clusterv1.PausedAnnotation]; !is { // else what it says would be put right at once
			Expect(refine(ctx, one, fmt.Sprintf(`{"metadata":{"annotations":{%q:""}}}`, clusterv1.PausedAnnotation))).To(Succeed())
			paused = append(paused, one)
		}
		says := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"QuotaExceeded","message":"nothing is left","lastTransitionTime":%q}]}}`,
			time.Now().UTC().Format(time.RFC3339))
		Expect(world.API.Status().Patch(ctx, one, client.RawPatch(types.MergePatchType, []byte(says)))).To(Succeed())
	}
	keeps(t)
	rule.End()
	for _, one := range paused {
		Expect(client.IgnoreNotFound(refine(ctx, one, fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, clusterv1.PausedAnnotation)))).To(Succeed())
	}
}

// change changes the status of a control plane by a JSON patch.
func change(ctx context.Context, t *trial, patch string) {
	GinkgoHelper()
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(t.ControlPlane.GroupVersionKind())
	of.SetNamespace(t.Key.Namespace)
	of.SetName(t.Key.Name)
	Expect(world.API.Status().Patch(ctx, of, client.RawPatch(types.JSONPatchType, []byte(patch)))).To(Succeed())
}

// again is an object as somebody creates it.
func again(of *unstructured.Unstructured) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": of.DeepCopy().Object["spec"]}}
	made.SetGroupVersionKind(of.GroupVersionKind())
	made.SetNamespace(of.GetNamespace())
	made.SetName(of.GetName())
	return made
}

// allow limits how many Secrets there may be in a cluster's namespace, and returns when that is in force.
func allow(ctx context.Context, key capiworld.Key, name, secrets string) *corev1.ResourceQuota {
	GinkgoHelper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse(secrets)}},
	}
	Expect(world.Create(ctx, quota)).To(Succeed())
	eventually(ctx, "the quota to be in force", func(ctx context.Context) error {
		err := world.API.Get(ctx, client.ObjectKeyFromObject(quota), quota)
		if err == nil && len(quota.Status.Hard) == 0 {
			err = errors.New("nobody has counted")
		}
		return err
	})
	return quota
}
