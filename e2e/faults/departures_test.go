package faults_test

import (
	"context"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// departure is how the machine leaves a state: in most of them towards a
// revision whose Deployment waits for its pods.
type departure struct {
	// state is where it begins, and what is what changes there.
	state, what string
	// reach takes the machine there from where the good revision is installed.
	reach func(context.Context, *departure)
	// change is what happens then.
	change func(context.Context, *departure)
	// from and to are the numbers of the current revision before and after.
	from, to int64
	// ungated says that no gate is on the way, or that the change opens it.
	ungated bool

	withheld    chan struct{}
	undisturbed harness.State
	count       int
}

// Keys in a State. The worker's Deployment comes before the Thing.
const (
	workerKey = "deployments.apps openshift-cluster-api/worker"
	goesKey   = "configmaps openshift-cluster-api/goes"
)

// heldThree are the pods of a third release, which has the objects of the second.
var heldThree = map[string]string{"version": "three"}

// upgrades asks for another release.
func upgrades(version string) func(context.Context, *departure) {
	return func(ctx context.Context, _ *departure) {
		GinkgoHelper()
		Expect(env.SetImages(ctx, images(goodProvider(ctx, version)))).To(Succeed())
	}
}

// reaches is how the matrix gets to a state.
func reaches(state string) func(context.Context, *departure) {
	return func(ctx context.Context, _ *departure) {
		GinkgoHelper()
		for _, s := range stages {
			if s.state == state {
				s.reach(ctx)
				until(ctx, "the state "+state+" to be reached and held", isAt(s))
			}
		}
	}
}

var departures = []*departure{
	{
		state: harness.Installed, what: "another release is asked for", from: 1, to: 2,
		reach: reaches(harness.Installed), change: upgrades("two"),
	},
	{
		state: harness.Installed, what: "the administrator consents to the loss of what is retained", from: 2, to: 2, ungated: true,
		reach: retainsThings, change: func(ctx context.Context, _ *departure) {
			definition := shape("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gadgets.faults.cluster.x-k8s.io")
			Expect(harness.Consent(ctx, env.Client, 2, definition, shape("faults.cluster.x-k8s.io/v1", "Gadget", harness.CAPINamespace, "mine"))).To(Succeed())
		},
	},
	{
		state: harness.Applying, what: "the Deployment that is waited for becomes available", from: 1, to: 2, ungated: true,
		reach: reaches(harness.Applying), change: func(ctx context.Context, d *departure) { d.open(ctx) },
	},
	{
		state: harness.AwaitingCRDs, what: "the administrator's CRD gets the field that is needed", from: 1, to: 2,
		reach: reaches(harness.AwaitingCRDs), change: func(ctx context.Context, _ *departure) { adopt(ctx, "size", "colour") },
	},
	{
		state: harness.Pruning, what: "another release is asked for, and the finalizer is taken off", from: 2, to: 3,
		reach: reaches(harness.Pruning), change: func(ctx context.Context, d *departure) {
			upgrades("three")(ctx, d)
			patch(ctx, configMap("goes"), free)
		},
	},
	{
		state: harness.Planning, what: "the registry comes up with the release's image", from: 1, to: 2,
		reach: awaitsImage, change: func(_ context.Context, d *departure) { d.supply() },
	},
	{
		state: harness.Degraded, what: "another release is asked for while the one before stands still", from: 1, to: 3,
		reach: func(ctx context.Context, d *departure) {
			reaches(harness.Applying)(ctx, d)
			advance(6 * minute)
			until(ctx, "the standstill to be told", harness.InState(harness.Degraded), says("Degraded", "True", "EphemeralError", "no progress for 5m"))
		},
		change: upgrades("three"),
	},
	{
		state: harness.MaxRevisions, what: "a revision is taken off the list", from: 1, to: 17,
		reach: reaches(harness.MaxRevisions), change: func(ctx context.Context, _ *departure) {
			changeStatus(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
				s.Revisions = append(s.Revisions[:1:1], s.Revisions[2:]...)
			})
		},
	},
	{
		state: harness.WaitingOnInfra, what: "another release is asked for, and the platform is told", from: 1, to: 2,
		reach: reaches(harness.WaitingOnInfra), change: func(ctx context.Context, d *departure) {
			upgrades("two")(ctx, d)
			Expect(env.SetPlatform(ctx, configv1.AWSPlatformType)).To(Succeed())
		},
	},
	{
		state: harness.Paused, what: "the pause is taken back, in which another release was asked for", from: 1, to: 2,
		reach: reaches(harness.Paused), change: func(ctx context.Context, _ *departure) {
			Expect(harness.Resume(ctx, env.Client)).To(Succeed())
		},
	},
}

// awaitsImage is the matrix's Planning with a registry that goes on where it was.
func awaitsImage(ctx context.Context, d *departure) {
	GinkgoHelper()
	endAll()
	supplied := make(chan struct{})
	d.withheld = supplied
	_, digest, _ := strings.Cut(two, "@")
	env.Registry.SetFault(func(request *http.Request) int {
		if strings.HasSuffix(request.URL.Path, digest) {
			select {
			case <-supplied:
			case <-request.Context().Done():
			}
		}
		return 0
	})
	Expect(env.SetImages(ctx, images(two))).To(Succeed())
	forget(ctx)
	startGood()
	until(ctx, "the state Planning to be reached", harness.InState(harness.Planning), says("Progressing", "True", "Progressing", "being fetched"))
}

// supply lets the registry come up with what it withholds.
func (d *departure) supply() {
	if d.withheld != nil {
		close(d.withheld)
		d.withheld = nil
	}
}

// retention is how people are told of what is retained.
const retention = "kept for the data in them:"

// retained is a definition of which somebody has an instance.
const retained = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.faults.cluster.x-k8s.io}
spec:
  group: faults.cluster.x-k8s.io
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// retainsThings installs a release in the place of one with a definition more, of which there is an instance.
func retainsThings(ctx context.Context, _ *departure) {
	GinkgoHelper()
	begin(ctx, world(images(goodProvider(ctx, "one", goes, retained))))
	startGood()
	until(ctx, "the definition to be installed", harness.Settled(1), finished)
	gadget := shape("faults.cluster.x-k8s.io/v1", "Gadget", harness.CAPINamespace, "mine")
	Expect(env.Client.Create(ctx, gadget, administrator)).To(Succeed())
	Expect(env.SetImages(ctx, images(one))).To(Succeed())
	until(ctx, "the definition to be retained", harness.Settled(2), finished, mentions(retention+" CustomResourceDefinition gadgets.faults.cluster.x-k8s.io"))
}
