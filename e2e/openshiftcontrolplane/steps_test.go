package openshiftcontrolplane_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

func mark(ctx context.Context) cluster.Mark {
	GinkgoHelper()
	since, err := world.Cluster.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return since
}

// ask creates what asks for a cluster, whose guest holds some steps back.
func ask(ctx context.Context, key capiworld.Key, replicas int, held string) *capiworld.Asked {
	GinkgoHelper()
	image, err := world.Release(ctx, release)
	Expect(err).NotTo(HaveOccurred())
	asked := world.Ask(key, replicas, image, held)
	Expect(world.Create(ctx, asked.Objects()...)).To(Succeed())
	return asked
}

// install makes a cluster of one control-plane machine, and returns the objects that there are then.
func install(ctx context.Context, key capiworld.Key) []string {
	GinkgoHelper()
	ask(ctx, key, 1, "")
	stands(ctx, key, "Installed")
	objects, err := world.Objects(ctx, key.Namespace)
	Expect(err).NotTo(HaveOccurred())
	return objects
}

// stands waits until the control plane of a cluster is in a state.
func stands(ctx context.Context, key capiworld.Key, state string) {
	GinkgoHelper()
	eventually(ctx, key.String()+" to be "+state, func(ctx context.Context) error { return standsAt(ctx, key, state) })
}

func standsAt(ctx context.Context, key capiworld.Key, state string) error {
	standing, err := world.Standing(ctx, key)
	if err != nil {
		return err
	}
	return standing.Is(state)
}

// remove deletes a cluster, and waits until nothing is left.
func remove(ctx context.Context, key capiworld.Key) {
	GinkgoHelper()
	Expect(world.API.Delete(ctx, capiworld.Cluster(key, true))).To(Succeed())
	eventually(ctx, "nothing to be left", func(ctx context.Context) error { return gone(ctx, key) })
}

// gone is nil once nothing is left of a cluster but its inputs.
func gone(ctx context.Context, key capiworld.Key) error {
	objects, err := world.Objects(ctx, key.Namespace)
	if err != nil {
		return err
	}
	if len(objects) == 1 && objects[0] == "Secret "+key.Name+"-install" {
		return nil
	}
	return errors.Join(fmt.Errorf("these are left: %q", objects), err)
}

// says waits until a control plane has a condition of a status, whose reason or message names something.
func says(ctx context.Context, key capiworld.Key, kind string, status metav1.ConditionStatus, names string) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%s to say %s=%s", key, kind, status), func(ctx context.Context) error {
		standing, err := world.Standing(ctx, key)
		if err != nil {
			return err
		}
		return standing.Says(kind, status, names)
	})
}

// refine changes what is asked for, as an administrator does, by a merge patch.
func refine(ctx context.Context, o client.Object, patch string) error {
	return world.API.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// has waits until a cluster's namespace has an object, told by kind and name.
func has(ctx context.Context, key capiworld.Key, what string) {
	GinkgoHelper()
	eventually(ctx, what+" of "+key.Namespace, func(ctx context.Context) error {
		objects, err := world.Objects(ctx, key.Namespace)
		if err == nil && !slices.Contains(objects, what) {
			err = fmt.Errorf("there are %q", objects)
		}
		return err
	})
}

// objectsOf are those of a cluster's namespace.
func objectsOf(ctx context.Context, key capiworld.Key) []string {
	GinkgoHelper()
	objects, err := world.Objects(ctx, key.Namespace)
	Expect(err).NotTo(HaveOccurred())
	return objects
}
