package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// many are the manifests of a large cluster.
const many = 3

func largeName(i int) string { return fmt.Sprintf("large-%d", i) }

// large makes a cluster with more manifests than the Secret of a machine has room for.
func large(ctx context.Context, delivery string) *capiworld.Asked {
	GinkgoHelper()
	const size = 480 << 10
	asked := prepare(ctx, "")
	spec(asked.ControlPlane, map[string]any{"manifests": asked.Key.Name}, "manifestsSelector", "matchLabels")
	spec(asked.ControlPlane, delivery, "ignition", "delivery")
	all := asked.Objects()
	for i := range many {
		name := largeName(i)
		one := manifest(asked.Key, "")
		one.Name, one.Annotations = name, map[string]string{directoryAnnotation: "manifests"}
		one.StringData = map[string]string{name + ".yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
			", namespace: openshift-config}\ndata: {fill: " + strings.Repeat("a", size) + "}\n"}
		all = append([]client.Object{one}, all...)
	}
	Expect(world.Create(ctx, all...)).To(Succeed())
	return asked
}

var _ = Describe("A cluster whose manifests have no room in the Secret of a machine", Label(long), func() {
	It("fails before there is any machine, and says what to do", func(ctx SpecContext) {
		since := mark(ctx)
		asked := large(ctx, "Secret")
		stands(ctx, asked.Key, "Failed")
		standing, err := world.Standing(ctx, asked.Key)
		Expect(err).NotTo(HaveOccurred())
		Expect(standing.Failure).To(And(ContainSubstring("more than the"), ContainSubstring("spec.ignition.delivery to Stub")))
		says(ctx, asked.Key, "IgnitionAvailable", metav1.ConditionFalse, "")
		Expect(made(ctx, since, asked.Key)).To(BeEmpty())
	}, SpecTimeout(2*patience))

	It("is installed by a stub of it, once somebody has uploaded it", func(ctx SpecContext) {
		const at = "https://store.example.com/one"
		asked := large(ctx, "Stub")
		stands(ctx, asked.Key, "CreatingMachines")
		eventually(ctx, "the config of the bootstrap machine to ask for it", func(ctx context.Context) error {
			return asksForUpload(ctx, asked.Key)
		})
		payload := stored(ctx, asked.Key, "one-ignition-bootstrap")
		Expect(refine(ctx, payload, fmt.Sprintf(`{"metadata":{"annotations":{"capstan.openshift.io/payload-url":%q}}}`, at))).To(Succeed())
		has(ctx, asked.Key, "Secret one-bootstrap")
		stub := string(stored(ctx, asked.Key, "one-bootstrap").Data["value"])
		Expect(stub).To(And(ContainSubstring(at), ContainSubstring("sha512-"), Not(ContainSubstring("fill"))))
		stands(ctx, asked.Key, "Installed")
		for i := range many { // inputs stay
			Expect(world.API.Delete(ctx, stored(ctx, asked.Key, largeName(i)))).To(Succeed())
		}
		remove(ctx, asked.Key)
	}, SpecTimeout(3*patience))
})

// asksForUpload is nil once the config of a bootstrap machine says which annotation it waits for.
func asksForUpload(ctx context.Context, key capiworld.Key) error {
	all, err := world.List(ctx, capiworld.OpenShift.WithKind("OpenShiftConfig"), key.Namespace)
	if err != nil {
		return err
	}
	said := []metav1.Condition{}
	for i := range all {
		if all[i].GetName() != key.Name+"-bootstrap" {
			continue
		}
		said = capiworld.Conditions(&all[i])
		for _, c := range said {
			if strings.Contains(c.Message, "capstan.openshift.io/payload-url") {
				return nil
			}
		}
	}
	return fmt.Errorf("it says %v", said)
}
