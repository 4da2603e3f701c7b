package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

// asksFor has an installed cluster asked for another release.
func asksFor(ctx context.Context, a *capiworld.Asked, version string) {
	GinkgoHelper()
	image, err := world.Release(ctx, version)
	Expect(err).NotTo(HaveOccurred())
	Expect(refine(ctx, a.ControlPlane, fmt.Sprintf(`{"spec":{"releaseImage":%q}}`, image))).To(Succeed())
}

// runs is nil once a control plane is Installed and says that its guest has a release.
func runs(ctx context.Context, key capiworld.Key, version string) error {
	standing, err := world.Standing(ctx, key)
	if err != nil {
		return err
	}
	has, _, err := unstructured.NestedString(standing.Object.Object, "status", "distributionVersion")
	if err == nil && has != version {
		err = fmt.Errorf("it has %q, is in state %s and waits for %s", has, standing.State, standing.Waits)
	}
	if err != nil {
		return err
	}
	return standing.Is("Installed")
}

// refuses waits until an installed control plane says why it does not do what is asked for, and has left the guest alone.
func refuses(ctx context.Context, key capiworld.Key, why string) {
	GinkgoHelper()
	eventually(ctx, "it to say that "+why, func(ctx context.Context) error {
		standing, err := world.Standing(ctx, key)
		if err != nil {
			return err
		}
		return errors.Join(standing.Is("Installed"), standing.WaitsFor(why))
	})
	version := versionOf(ctx, key)
	Expect(version.Status.Desired.Version).To(Equal("4.22.1"))
	Expect(version.Spec.DesiredUpdate.Version).To(Equal("4.22.1"))
}

// versionOf is the ClusterVersion of a guest.
func versionOf(ctx context.Context, key capiworld.Key) *configv1.ClusterVersion {
	GinkgoHelper()
	guest, err := world.Guest(ctx, key)
	Expect(err).NotTo(HaveOccurred())
	version := &configv1.ClusterVersion{}
	Expect(guest.Get(ctx, client.ObjectKey{Name: "version"}, version)).To(Succeed())
	return version
}

// notUpgradeable has a guest speak against an upgrade to another minor release.
func notUpgradeable(ctx context.Context, key capiworld.Key) {
	GinkgoHelper()
	guest, err := world.Guest(ctx, key)
	Expect(err).NotTo(HaveOccurred())
	version := versionOf(ctx, key)
	version.Status.Conditions = append(version.Status.Conditions, configv1.ClusterOperatorStatusCondition{
		Type: configv1.OperatorUpgradeable, Status: configv1.ConditionFalse, Reason: "Tested", Message: "an API is in use that goes",
		LastTransitionTime: metav1.Now(),
	})
	Expect(guest.Update(ctx, version)).To(Succeed())
}

var _ = Describe("An installed cluster", func() {
	It("goes to a newer release, never back, not over a minor release, and not against its own word", Label(long), func(ctx SpecContext) {
		asked := ask(ctx, newKey(ctx), 1, "upgrade")
		stands(ctx, asked.Key, "Installed")
		asksFor(ctx, asked, "4.22.1")
		stands(ctx, asked.Key, "Upgrading")
		says(ctx, asked.Key, "Available", metav1.ConditionTrue, "")
		Expect(world.Hold(ctx, asked.Key, "")).To(Succeed())
		eventually(ctx, "the guest to have 4.22.1", func(ctx context.Context) error { return runs(ctx, asked.Key, "4.22.1") })

		asksFor(ctx, asked, "4.21.9")
		refuses(ctx, asked.Key, "a cluster never goes back")
		asksFor(ctx, asked, "4.24.0")
		refuses(ctx, asked.Key, "one minor release at a time")
		notUpgradeable(ctx, asked.Key)
		asksFor(ctx, asked, "4.23.0")
		refuses(ctx, asked.Key, "an API is in use that goes")
	}, SpecTimeout(8*patience))
})
