package openshiftcontrolplane_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// prepare makes what asks for a cluster of one control-plane machine, and creates none of it.
func prepare(ctx context.Context, held string) *capiworld.Asked {
	GinkgoHelper()
	return prepareOf(ctx, 1, held)
}

// prepareOf is prepare for a cluster of so many control-plane machines.
func prepareOf(ctx context.Context, replicas int, held string) *capiworld.Asked {
	GinkgoHelper()
	image, err := world.Release(ctx, release)
	Expect(err).NotTo(HaveOccurred())
	return world.Ask(newKey(ctx), replicas, image, held)
}

// waits waits until a control plane in a state says that it waits for something.
func waits(ctx context.Context, key capiworld.Key, state, names string) {
	GinkgoHelper()
	eventually(ctx, key.String()+" to wait for "+names, func(ctx context.Context) error {
		standing, err := world.Standing(ctx, key)
		if err == nil {
			err = standing.Is(state)
		}
		if err == nil {
			err = standing.WaitsFor(names)
		}
		return err
	})
}

// hook has a control plane wait for a condition of its Cluster.
func hook(a *capiworld.Asked, phase, condition string, seconds int64) {
	GinkgoHelper()
	hooks, _, err := unstructured.NestedSlice(a.ControlPlane.Object, "spec", "hooks")
	Expect(err).NotTo(HaveOccurred())
	spec(a.ControlPlane, append(hooks, map[string]any{"phase": phase, "conditionType": condition, "timeoutSeconds": seconds}), "hooks")
}

var _ = Describe("A cluster that others hold back", func() {
	It("fails when there is no infrastructure in time, has made no machine, and goes on when there is", func(ctx SpecContext) {
		asked := prepare(ctx, "")
		spec(asked.ControlPlane, int64(3), "timeouts", "infrastructureSeconds")
		Expect(world.Create(ctx, asked.Secret, asked.Template, asked.ControlPlane, asked.Cluster)).To(Succeed())
		stands(ctx, asked.Key, "Failed")
		Expect(machines(objectsOf(ctx, asked.Key))).To(BeEmpty())

		Expect(world.Create(ctx, asked.DevCluster)).To(Succeed())
		has(ctx, asked.Key, "Machine one-0")
	}, SpecTimeout(2*patience))

	It("makes nothing before a hook's condition is there, and keeps the bootstrap machine for another until that one's time is over", Label(long), func(ctx SpecContext) {
		asked := prepare(ctx, "")
		hook(asked, "PostInfrastructure", "NamesAreThere", 600)
		hook(asked, "PreBootstrapRemoval", "BalancersAreTold", 10)
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
		waits(ctx, asked.Key, "AwaitingInfrastructure", "NamesAreThere")
		Expect(machines(objectsOf(ctx, asked.Key))).To(BeEmpty())

		Expect(met(ctx, asked.Key, "NamesAreThere")).To(Succeed())
		waits(ctx, asked.Key, "RemovingBootstrap", "BalancersAreTold")
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0", "Machine one-bootstrap"))
		stands(ctx, asked.Key, "Installed")
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0"))
	}, SpecTimeout(2*patience))

	It("waits for a template of machines that is not there, and goes on once it is", func(ctx SpecContext) {
		asked := prepare(ctx, "")
		Expect(world.Create(ctx, asked.Secret, asked.DevCluster, asked.ControlPlane, asked.Cluster)).To(Succeed())
		says(ctx, asked.Key, "InputsValid", "False", "InfraTemplateInvalid")
		Expect(machines(objectsOf(ctx, asked.Key))).To(BeEmpty())

		Expect(world.Create(ctx, asked.Template)).To(Succeed())
		has(ctx, asked.Key, "Machine one-0")
	}, SpecTimeout(2*patience))

	It("is installed of the installer's state alone, and keeps its bootstrap machine where that is asked for", Label(long), func(ctx SpecContext) {
		asked := prepare(ctx, "")
		config := asked.Secret.StringData["install-config.yaml"]
		text, err := yaml.YAMLToJSON([]byte(config))
		Expect(err).NotTo(HaveOccurred())
		asked.Secret.StringData = map[string]string{stateKey: `{"*installconfig.InstallConfig":{"config":` + string(text) + `}}`}
		spec(asked.ControlPlane, "Retain", "bootstrapMachine", "deletePolicy")
		Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
		stands(ctx, asked.Key, "Installed")
		Expect(machines(objectsOf(ctx, asked.Key))).To(ConsistOf("Machine one-0", "Machine one-bootstrap"))
		remove(ctx, asked.Key)
	}, SpecTimeout(2*patience))
})
