package faults_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// The good revision's objects that are deleted, by their keys in a State.
const (
	crdKey       = "customresourcedefinitions.apiextensions.k8s.io /things.faults.cluster.x-k8s.io"
	thingKey     = "things.faults.cluster.x-k8s.io openshift-cluster-api/thing"
	namespaceKey = "namespaces /faults-extra"
	insideKey    = "serviceaccounts faults-extra/inside"
)

var objectFaults = []fault{
	{
		name: "CRD deleted", doc: "A CustomResourceDefinition of the good revision is deleted, and with it what it defines.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			crd := shape("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things.faults.cluster.x-k8s.io")
			thing := shape("faults.cluster.x-k8s.io/v1", "Thing", harness.CAPINamespace, "thing")
			was, alsoWas := uidOf(ctx, crd), uidOf(ctx, thing)
			remove(ctx, crd)
			c.restored(ctx, "both to be there again", func(ctx context.Context) error {
				return errors.Join(exists(ctx, crd, was), exists(ctx, thing, alsoWas))
			})
		},
		expect: everywhere(expectation{word: unnoticed, renewed: []string{crdKey, thingKey}}),
	},
	{
		name: "Namespace terminating", doc: "A Namespace of the good revision is deleted, and a finalizer in it keeps it from its end.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			namespace, inside := shape("v1", "Namespace", "", "faults-extra"), shape("v1", "ServiceAccount", "faults-extra", "inside")
			was, alsoWas := uidOf(ctx, namespace), uidOf(ctx, inside)
			patch(ctx, inside, hold)
			remove(ctx, namespace)
			c.later(func() {
				patch(ctx, inside, free)
				c.restored(ctx, "both to be there again", func(ctx context.Context) error {
					return errors.Join(exists(ctx, namespace, was), exists(ctx, inside, alsoWas))
				})
			})
			next()
			edit(ctx)
		},
		expect: everywhere(expectation{word: unnoticed, mended: true, renewed: []string{namespaceKey, insideKey}}),
	},
	{
		name: "ClusterAPI deleted", doc: "ClusterAPI cluster is deleted, and with it the list of revisions; it is created again.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			remove(ctx, theClusterAPI())
			c.later(func() { Expect(env.CreateClusterAPI(ctx)).To(Succeed()) })
			until(ctx, "the absence to be told", mentions("ClusterAPI cluster does not exist"))
			next()
			edit(ctx)
		},
		expect: withoutClusterAPI("ClusterAPI cluster does not exist"),
	},
	{
		name: "former installer runs", doc: "The installer that OpenShift shipped before comes back beside this operator, and ends again.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			former := parsed(formerInstaller)
			Expect(env.Client.Create(ctx, former, administrator)).To(Succeed())
			c.later(func() { remove(ctx, former) })
			until(ctx, "it to be told", mentions("of a former installer runs"))
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			if s.quiet {
				return expectation{word: told, told: mentionsAll("of a former installer runs")} // nothing is written beside it
			}
			return withoutClusterAPI("of a former installer runs")(s)
		},
	},
	{
		name: "list of another release", doc: "The list of images names another release, whose operator does not come, and then this one's again.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			list := shape("v1", "ConfigMap", harness.OperatorNamespace, harness.ImagesConfigMap)
			patch(ctx, list, `{"metadata":{"annotations":{"capi-operator.openshift.io/release-version":"9.9.9"}}}`)
			c.later(func() {
				patch(ctx, list, `{"metadata":{"annotations":{"capi-operator.openshift.io/release-version":null}}}`)
			})
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			e := expectation{word: told, mended: true, told: []func(harness.View) error{mentions("is for release 9.9.9")}}
			switch s.state {
			case harness.Planning, harness.Degraded: // no rollout is under way that could be finished first
				e.word, e.to, e.departs, e.mended = waits, harness.WaitingOnInfra, true, s.state != harness.Planning
			case harness.WaitingOnInfra:
				return expectation{word: unnoticed, mended: true} // the list is asked for when the platform is known
			}
			return e
		},
	},
	{
		name: "current revision cleared by hand", doc: "Somebody takes status.currentRevision out of ClusterAPI cluster.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			v, err := harness.See(ctx, env.Client)
			Expect(err).NotTo(HaveOccurred())
			changeStatus(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) { s.CurrentRevision = "" })
			if !c.quiet {
				until(ctx, "it to be written again", func(now harness.View) error {
					if now.Current() != v.Current() {
						return fmt.Errorf("the current revision is %q, want %q", now.Current(), v.Current())
					}
					return nil
				})
			}
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			e := soon(s)
			if s.state == harness.Installed || s.state == harness.Pruning {
				e.word = returns // by way of Planning and Applying, whose gates are asked again
			}
			return e
		},
	},
	{
		name: "ClusterOperator deleted", doc: "ClusterOperator cluster-api is deleted, and with it the machine's record.", quick: true,
		begin: func(ctx context.Context, _ *cell) {
			GinkgoHelper()
			was := uidOf(ctx, theClusterOperator())
			remove(ctx, theClusterOperator())
			eventually(ctx, "it to be there again", func(ctx context.Context) error { return exists(ctx, theClusterOperator(), was) })
			next()
			edit(ctx)
		},
		expect: everywhere(expectation{word: returns, mended: true}),
	},
	{
		name: "record spoilt by hand", doc: "Somebody writes nonsense over the machine's record.",
		begin: func(ctx context.Context, _ *cell) {
			patchStatus(ctx, theClusterOperator(), `{"status":{"extension":{"clusterapi":{"state":"Nonsense"}}}}`)
			next()
			edit(ctx)
		},
		expect: everywhere(expectation{word: returns, mended: true}),
	},
	{
		name: "conditions removed by hand", doc: "Somebody empties the conditions of the ClusterOperator.",
		begin: func(ctx context.Context, _ *cell) {
			patchStatus(ctx, theClusterOperator(), `{"status":{"conditions":null}}`)
			next()
			edit(ctx)
		},
		expect: soon,
	},
	{
		name: "list of images deleted", doc: "ConfigMap capi-installer-images is deleted.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			list := &corev1.ConfigMap{}
			Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: harness.ImagesConfigMap}, list)).To(Succeed())
			Expect(env.Client.Delete(ctx, list)).To(Succeed())
			c.later(func() { Expect(env.SetImages(ctx, list.Data)).To(Succeed()) })
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			e := expectation{word: told, mended: true, told: []func(harness.View) error{mentions("ConfigMap openshift-cluster-api-operator/capi-installer-images does not exist")}}
			switch s.state {
			case harness.Degraded:
				e.word, e.to = replans, harness.Planning // an input has changed
			case harness.WaitingOnInfra:
				return expectation{word: unnoticed, mended: true} // images are asked for when the platform is known
			}
			return e
		},
	},
	{
		name: "foreign object in the way", doc: "While no operator runs an object of the good revision is deleted, and somebody else creates one of its name.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			killAll()
			foreign := configMap("replaced")
			remove(ctx, foreign)
			made := foreign.DeepCopy()
			Expect(env.Client.Create(ctx, made, administrator)).To(Succeed())
			startGood()
			c.later(func() {
				remove(ctx, foreign)
				c.restored(ctx, "ours to be there again", func(ctx context.Context) error { return exists(ctx, foreign, made.GetUID()) })
			})
			next()
			edit(ctx)
		},
		expect: func(s *stage) expectation {
			e := expectation{
				word: told, mended: true, renewed: []string{"configmaps openshift-cluster-api/replaced"},
				told: troubled(s, "ConfigMap openshift-cluster-api/replaced exists", "belongs to"),
			}
			if s.quiet { // what has no mark of ours is found by a write
				e.told = troubled(s, "ConfigMap openshift-cluster-api/replaced does not exist")
			}
			return e
		},
	},
	{
		name: "contested field", relieved: true, doc: "Somebody changes a field back as often as the operator puts it right.",
		begin: func(ctx context.Context, c *cell) {
			GinkgoHelper()
			target = "contested"
			for range 6 {
				edit(ctx)
				if within(ctx, 2*second, isRight) != nil {
					break
				}
			}
			c.later(func() { restart(ctx) })
		},
		expect: func(s *stage) expectation {
			if s.quiet {
				return expectation{never: "nothing is put right that could be changed back"}
			}
			return expectation{word: told, told: []func(harness.View) error{mentions("is changed by field manager administrator again and again")}}
		},
	},
}

// withoutClusterAPI is what is expected while there is no ClusterAPI object that is this operator's, and told why.
func withoutClusterAPI(why string) func(*stage) expectation {
	return func(s *stage) expectation {
		// What is edited belongs in Applying to a revision that was not finished, and in Planning a new process has begun
		// meanwhile, which does not know what is installed.
		mended := s.state != harness.Applying && s.state != harness.Planning
		e := expectation{word: waits, to: harness.WaitingOnInfra, departs: true, mended: mended, told: []func(harness.View) error{mentions(why)}}
		if s.state == harness.WaitingOnInfra {
			e.word, e.to = told, ""
		}
		return e
	}
}

// formerInstaller is the Deployment of the installer that OpenShift shipped before.
const formerInstaller = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: capi-installer, namespace: openshift-cluster-api-operator}
spec:
  selector: {matchLabels: {app: capi-installer}}
  template:
    metadata: {labels: {app: capi-installer}}
    spec: {containers: [{name: manager, image: example.com/capi-installer}]}`
