package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

var _ = Describe("What Capstan installed from images", func() {
	It("provisions infrastructure in memory, keeps the endpoint that was asked for, and removes it", func(ctx SpecContext) {
		key, port := newKey(ctx), world.Endpoint()
		Expect(world.Create(ctx, capiworld.DevCluster(key, port, ""), capiworld.Cluster(key, false))).To(Succeed())
		of := &clusterv1.Cluster{}
		eventually(ctx, "infrastructure", func(ctx context.Context) error {
			if err := world.API.Get(ctx, key, of); err != nil {
				return err
			}
			if !ptr.Deref(of.Status.Initialization.InfrastructureProvisioned, false) {
				return fmt.Errorf("not provisioned: %v", of.Status.Conditions)
			}
			return nil
		})
		Expect(of.Spec.ControlPlaneEndpoint).To(Equal(clusterv1.APIEndpoint{Host: "127.0.0.1", Port: int32(port)}))

		Expect(world.API.Delete(ctx, of)).To(Succeed())
		eventually(ctx, "the Cluster to be gone", func(ctx context.Context) error {
			err := world.API.Get(ctx, key, of)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(errors.New("it is there"), err)
		})
	}, SpecTimeout(2*patience))
})
