package private_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

var _ = Describe("Two worlds on one control plane", Ordered, func() {
	var (
		worlds  []*world
		started cluster.Mark
		// made are the Clusters so far, of all worlds.
		made []hosted
	)

	// each does the same to all Clusters at once, and waits until each is as asked.
	each := func(ctx context.Context, act func(context.Context, hosted) error, settled func(context.Context, hosted) error) {
		GinkgoHelper()
		Expect(beside(made, func(h hosted) error { return act(ctx, h) })).To(Succeed())
		for _, h := range made {
			Eventually(ctx, func() error { return errors.Join(settled(ctx, h), alive(worlds)) }).Should(Succeed())
		}
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		started, err = plane.Mark(ctx)
		Expect(err).NotTo(HaveOccurred())
		standard, err := newStandard(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(standard.start(ctx, direct)).To(Succeed())
		private, err := newPrivate(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(private.start(ctx, private.throughProxy)).To(Succeed())
		worlds = append(worlds, standard, private)
	}, NodeTimeout(2*patience))

	It("makes a Cluster of three control planes and three workers in each", func(ctx SpecContext) {
		for _, w := range worlds {
			made = append(made, hosted{w, w.namespaces()[0], "alpha"})
		}
		each(ctx, func(ctx context.Context, h hosted) error { return h.create(ctx) }, asAsked)
	}, NodeTimeout(2*patience))

	It("stores the objects of each in its own groups, and nothing that names those of the other", func(ctx SpecContext) {
		for _, w := range worlds {
			wrong, err := w.misplaced(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(wrong).To(BeEmpty())
		}
	}, NodeTimeout(time.Minute))

	It("makes one name in two namespaces, and two names in one", Label(whole), func(ctx SpecContext) {
		var more []hosted
		for _, w := range worlds {
			more = append(more, hosted{w, w.namespaces()[1], "alpha"}, hosted{w, w.namespaces()[0], "beta"})
		}
		Expect(beside(more, func(h hosted) error { return h.create(ctx) })).To(Succeed())
		made = append(made, more...)
		each(ctx, nothing, asAsked)
	}, NodeTimeout(2*patience))

	It("scales the workers out and in", Label(whole), func(ctx SpecContext) {
		for _, replicas := range []int{4, 3} {
			each(ctx, func(ctx context.Context, h hosted) error { return h.scale(ctx, replicas) }, asAsked)
		}
	}, NodeTimeout(2*patience))

	It("replaces a Machine whose Node is broken", Label(whole), func(ctx SpecContext) {
		broken := map[hosted]string{}
		var mu sync.Mutex
		each(ctx, func(ctx context.Context, h hosted) error {
			machine, err := h.breakNode(ctx)
			mu.Lock()
			defer mu.Unlock()
			broken[h] = machine
			return err
		}, func(ctx context.Context, h hosted) error {
			machines, err := h.owned(ctx, "", "Machine")
			return errors.Join(err, without(machines, broken[h]), h.up(ctx))
		})
	}, NodeTimeout(2*patience))

	It("rolls the template of workers and control planes", Label(whole), func(ctx SpecContext) {
		each(ctx, func(ctx context.Context, h hosted) error { return h.roll(ctx, "second") }, func(ctx context.Context, h hosted) error {
			return errors.Join(h.up(ctx), h.rolled(ctx, "second"))
		})
	}, NodeTimeout(3*patience))

	It("goes on when the standard definitions get a version more", func(ctx SpecContext) {
		Expect(addVersion(ctx)).To(Succeed())
		each(ctx, func(ctx context.Context, h hosted) error { return h.scale(ctx, 2) }, asAsked)
	}, NodeTimeout(2*patience))

	It("deletes all Clusters, and leaves nothing of them", func(ctx SpecContext) {
		each(ctx, func(ctx context.Context, h hosted) error {
			object, err := h.object(ctx, "", "Cluster")
			if err != nil {
				return err
			}
			return api.Delete(ctx, object)
		}, func(ctx context.Context, h hosted) error {
			left, err := h.leftovers(ctx)
			if err == nil && len(left) > 0 {
				err = fmt.Errorf("%s: still there: %q", h, left)
			}
			return err
		})
	}, NodeTimeout(2*patience))

	It("refuses nobody, and has each world's identities in its own groups alone", func(ctx SpecContext) {
		requests, err := plane.RequestsSince(ctx, started)
		Expect(err).NotTo(HaveOccurred())
		for _, w := range worlds {
			Expect(w.refused(requests)).To(BeEmpty(), "what was refused")
			Expect(w.strayed(requests)).To(BeEmpty(), "what its identities asked of other groups")
			Expect(w.intruded(requests)).To(BeEmpty(), "what others wrote in its groups")
			Expect(w.worked(requests)).To(Succeed())
		}
	})

	It("passes nothing on that a proxy could not translate", func(ctx SpecContext) {
		for _, w := range worlds {
			Expect(w.untranslated(ctx)).To(BeEmpty())
		}
	}, NodeTimeout(time.Minute))

	It("restarts nothing", func() {
		Expect(alive(worlds)).To(Succeed())
	})
})

// asAsked is nil once a Cluster has what it asks for.
func asAsked(ctx context.Context, h hosted) error { return h.up(ctx) }

// nothing is done to a Cluster.
func nothing(context.Context, hosted) error { return nil }

// beside does the same to all Clusters at once.
func beside(all []hosted, act func(hosted) error) error {
	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		problems []error
	)
	for _, h := range all {
		group.Go(func() {
			err := act(h)
			mu.Lock()
			defer mu.Unlock()
			problems = append(problems, err)
		})
	}
	group.Wait()
	return errors.Join(problems...)
}

// alive is an error once any program of any world has ended.
func alive(worlds []*world) error {
	var problems []error
	for _, w := range worlds {
		problems = append(problems, w.alive())
	}
	return errors.Join(problems...)
}

// without is nil if no Machine has the name.
func without(machines []unstructured.Unstructured, name string) error {
	for _, machine := range machines {
		if machine.GetName() == name {
			return fmt.Errorf("Machine %s is still there", name)
		}
	}
	return nil
}
