package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("A definition with instances", func() {
	const name = "gammas.test.cluster.x-k8s.io"

	It("survives the upgrade that drops it, and goes when its instances are gone", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		definition := gamma.objects[0]
		Expect(definition.GetName()).To(Equal(name))
		before := fetched(ctx, definition).GetUID()
		mine := []string{"mine", "yours"}
		for _, instance := range mine {
			Expect(env.Client.Create(ctx, custom("gamma", instance), administrator)).To(Succeed())
		}

		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		retained := says("Upgradeable", "True", "AsExpected", "CustomResourceDefinition "+name, "2 instances")
		until(ctx, "the definition to be reported as retained", retained, says("Degraded", "False", "AsExpected"), says("Progressing", "False", "AsExpected"))
		Expect(fetched(ctx, definition).GetUID()).To(Equal(before))
		uids(ctx, custom("gamma", "mine"), custom("gamma", "yours"))
		expectGone(ctx, gamma.objects[1:]...)
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-2"))

		Expect(operator.Stop()).To(Succeed())
		operate(harness.OperatorOptions{})
		until(ctx, "the definition to be reported as retained after a restart", retained)

		silent(ctx)
		for _, instance := range mine {
			Expect(env.Client.Delete(ctx, custom("gamma", instance))).To(Succeed())
		}
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, definition) })
		until(ctx, "the conditions of a finished installation", finished)
		eventually(ctx, "the inventory to forget it", func(ctx context.Context) error {
			objects, err := harness.Inventory(ctx, env.Client, 2)
			if err == nil && objects != len(newProvider("alpha").objects) {
				err = fmt.Errorf("it has %d objects", objects)
			}
			return err
		})
	})

	It("has those of a tenant counted, and no condition, detail or Event names them, also while they keep it from going", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		const namespace, finalizer = "mergers", "payroll.example.com/acquired"
		Expect(env.Client.Create(ctx, object("{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"), administrator)).To(Succeed())
		theirs := custom("gamma", "takes-over")
		theirs.SetNamespace(namespace)
		theirs.SetFinalizers([]string{finalizer})
		Expect(env.Client.Create(ctx, theirs, administrator)).To(Succeed())
		untold := func() {
			GinkgoHelper()
			v, err := harness.See(ctx, env.Client)
			Expect(err).NotTo(HaveOccurred())
			told, err := json.Marshal([]any{v.ClusterOperator.Status, v.ClusterAPI.Status, events(ctx)})
			Expect(err).NotTo(HaveOccurred())
			for _, text := range []string{namespace, theirs.GetName(), finalizer} {
				Expect(string(told)).NotTo(ContainSubstring(text))
			}
		}

		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		until(ctx, "the instance to be counted", says("Upgradeable", "True", "AsExpected", name, "holds 1 instance in 1 namespace (kubectl get gammas.v1.test.cluster.x-k8s.io -A)"))
		until(ctx, "the Event", func(harness.View) error { return announced(ctx, "Retained", "1 instance in 1 namespace") })
		untold()

		annotate(ctx, consentAnnotation, consentTo(ctx, 2, gamma.objects[0], theirs))
		until(ctx, "the instance to be waited for", says("Progressing", "True", "Progressing", name, "1 instance in 1 namespace, 1 of them being deleted (kubectl get gammas.v1.test.cluster.x-k8s.io -A -o yaml)"))
		untold()
		Expect(env.Client.Patch(ctx, theirs, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)), administrator)).To(Succeed())
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, gamma.objects[0]) })
		until(ctx, "the conditions of a finished installation", finished)
		untold()
	})

	It("is looked at again after the clock was set back", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		Expect(env.Client.Create(ctx, custom("gamma", "mine"), administrator)).To(Succeed())
		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		until(ctx, "the definition to be reported as retained", says("Upgradeable", "True", "AsExpected", name, "1 instance"))
		Expect(operator.Advance(-time.Hour)).To(Succeed())
		Expect(env.Client.Delete(ctx, custom("gamma", "mine"))).To(Succeed())
		eventually(ctx, "the definition to be deleted", func(ctx context.Context) error { return gone(ctx, gamma.objects[0]) })
	})

	It("is taken back by a release that has it again", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		before := fetched(ctx, gamma.objects[0]).GetUID()
		Expect(env.Client.Create(ctx, custom("gamma", "mine"), administrator)).To(Succeed())
		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		until(ctx, "the definition to be reported as retained", says("Upgradeable", "True", "AsExpected", name))

		release(ctx, newProvider("alpha"), gamma)
		installed(ctx, 3)
		until(ctx, "the conditions of a finished installation", finished)
		Expect(fetched(ctx, gamma.objects[0]).GetUID()).To(Equal(before))
		uids(ctx, custom("gamma", "mine"))
	})
})

// silent waits until the operator has sent nothing for two seconds: what it does
// next has its cause in what the spec does next.
func silent(ctx context.Context) {
	GinkgoHelper()
	since, began := mark(ctx), time.Now()
	eventually(ctx, "the operator to be at rest", func(ctx context.Context) error {
		last := began
		for _, request := range requests(ctx, since) {
			last = request.Time
		}
		if at := time.Since(last); at < 2*time.Second {
			return fmt.Errorf("its last request is %s old", at)
		}
		return nil
	})
}

// unmanage lists a definition in ClusterAPI.spec.
func unmanage(ctx context.Context, name string) {
	GinkgoHelper()
	merge := fmt.Sprintf(`{"spec":{"unmanagedCustomResourceDefinitions":[%q]}}`, name)
	api := &operatorv1alpha1.ClusterAPI{}
	api.Name = harness.Singleton
	Expect(env.Client.Patch(ctx, api, client.RawPatch("application/merge-patch+json", []byte(merge)), administrator)).To(Succeed())
}
