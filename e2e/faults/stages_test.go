package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// stage is a state of the machine, reached and held, with a good revision that
// is current: faults are made on it one after the other.
type stage struct {
	state string
	// how tells people how the state is reached and held.
	how string
	// reach takes the machine there from where the good revision is installed, and hold keeps it there.
	reach func(context.Context)
	// rest is what is told there while nothing is wrong beyond what holds it.
	rest func(harness.View) error
	// renew holds the state anew, where a hold does not last; nil for one that does.
	renew func(context.Context)
	// leave lets go of what holds the state.
	leave func(context.Context)
	// leads is true of states from which an error that lasts leads to Degraded,
	// stalls of those from which standing still does.
	leads, stalls bool
	// quiet says that nothing is written there: what differs is told, and put right once the state is left.
	quiet bool
	// picks are the quick faults that every run of the tests makes in it; nil for all.
	picks []string
}

// The two releases of the good provider, by their images. The second has pods
// that are held, and lacks one object of the first.
var (
	one, two   string
	cacheDir   string
	cacheCount int
)

const (
	// goes is only in the first release.
	goes = "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: goes, namespace: openshift-cluster-api}, data: {setting: right}}\n"
	hold = `{"metadata":{"finalizers":["test.cluster.x-k8s.io/hold"]}}`
	free = `{"metadata":{"finalizers":null}}`
)

var held = map[string]string{"version": "two"}

func images(reference string) map[string]string { return map[string]string{"good": reference} }

// atGood installs the first release in a new world.
func atGood(ctx context.Context) {
	GinkgoHelper()
	env.Registry.SetFault(nil)
	if one == "" {
		one, two = goodProvider(ctx, "one", goes), goodProvider(ctx, "two")
	}
	Expect(env.Cluster.ReleasePods(ctx, held)).To(Succeed())
	begin(ctx, world(images(one)))
	newCache()
	startGood()
	until(ctx, "the good revision to be installed", harness.Settled(1), finished)
}

// newCache is an empty folder for images from now on.
func newCache() {
	cacheCount++
	cacheDir = filepath.Join(env.Cluster.Dir(), fmt.Sprintf("cache-%d", cacheCount))
}

// startGood starts the replicas, and returns the last of them.
func startGood(arguments ...string) (last *harness.Operator) {
	GinkgoHelper()
	for range replicas.count {
		last = operate(harness.OperatorOptions{CacheDir: cacheDir, Arguments: arguments, LeaderElect: replicas.elect})
	}
	return last
}

// operator is the one that runs.
func operator() *harness.Operator { return started[len(started)-1] }

func advance(by time.Duration) {
	GinkgoHelper()
	Expect(operator().Advance(by)).To(Succeed())
}

// withhold makes the registry wait with everything of an image.
func withhold(reference string) {
	_, digest, _ := strings.Cut(reference, "@")
	env.Registry.SetFault(func(request *http.Request) int {
		if strings.HasSuffix(request.URL.Path, digest) {
			<-request.Context().Done()
			return http.StatusServiceUnavailable
		}
		return 0
	})
}

// forget takes the machine's record away while no operator runs.
func forget(ctx context.Context) {
	GinkgoHelper()
	patchStatus(ctx, theClusterOperator(), `{"status":{"extension":null}}`)
}

// settle lets the second or the first release be installed, and nothing hold it.
func settle(ctx context.Context) {
	GinkgoHelper()
	env.Registry.SetFault(nil)
	Expect(env.Cluster.ReleasePods(ctx, held)).To(Succeed())
	until(ctx, "everything to be installed in the end", harness.InState(harness.Installed), finished)
}

var stages = []*stage{
	{
		state: harness.Installed, leads: true,
		how:   "the good revision is installed",
		reach: func(context.Context) {},
		rest:  finished,
		leave: func(context.Context) {},
	},
	{
		state: harness.Applying, leads: true, stalls: true,
		how: "an upgrade waits for a Deployment whose pods do not become Ready",
		reach: func(ctx context.Context) {
			Expect(env.Cluster.HoldPods(ctx, held)).To(Succeed())
			Expect(env.SetImages(ctx, images(two))).To(Succeed())
		},
		rest: all(says("Progressing", "True", "Progressing", "Deployment openshift-cluster-api/worker"),
			says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected")),
		leave: settle,
	},
	{
		state: harness.AwaitingCRDs, leads: true, stalls: true,
		how:   "an upgrade needs a field that a CRD does not have which an administrator manages; a checker answers",
		reach: awaitCRD,
		rest: all(says("Progressing", "True", "WaitingOnExternal", shapes, "v1: spec.colour is missing"),
			says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected"), not(mentions("spec.size is missing"))),
		leave: func(ctx context.Context) {
			unmanage(ctx)
			adopt(ctx, "size", "colour")
			settle(ctx)
		},
	},
	{
		state: harness.Pruning, leads: true, stalls: true,
		how: "an upgrade is applied, and an object that it removes has a finalizer",
		reach: func(ctx context.Context) {
			patch(ctx, configMap("goes"), hold)
			Expect(env.SetImages(ctx, images(two))).To(Succeed())
		},
		rest: all(says("Progressing", "True", "Progressing", "ConfigMap openshift-cluster-api/goes", "test.cluster.x-k8s.io/hold"),
			says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected")),
		leave: func(ctx context.Context) {
			patch(ctx, configMap("goes"), free)
			settle(ctx)
		},
	},
	{
		state: harness.Planning, leads: true, stalls: true,
		how: "the record was lost, and the registry does not come up with the next release's image",
		reach: func(ctx context.Context) {
			endAll()
			withhold(two)
			Expect(env.SetImages(ctx, images(two))).To(Succeed())
			forget(ctx)
			startGood()
		},
		rest: all(says("Progressing", "True", "Progressing", "being fetched"),
			says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected")),
		// A registry that does not come up with anything is an error after half a minute.
		renew: restart,
		leave: func(ctx context.Context) {
			env.Registry.SetFault(nil)
			restart(ctx)
			settle(ctx)
		},
	},
	{
		state: harness.Degraded,
		how:   "the release lists an image by tag, which is a terminal error",
		reach: func(ctx context.Context) {
			byTag, _, _ := strings.Cut(one, "@")
			Expect(env.SetImages(ctx, images(byTag+":latest"))).To(Succeed())
		},
		rest: all(says("Degraded", "True", "NonRetryableError", "is by tag"), says("Progressing", "False", "NonRetryableError"),
			says("Available", "True", "AsExpected")),
		leave: func(ctx context.Context) {
			Expect(env.SetImages(ctx, images(one))).To(Succeed())
			settle(ctx)
		},
	},
	{
		state: harness.MaxRevisions,
		how:   "16 revisions are listed and the release asks for another",
		reach: func(ctx context.Context) {
			fillRevisions(ctx)
			Expect(env.SetImages(ctx, images(two))).To(Succeed())
		},
		rest: all(says("Degraded", "True", "NonRetryableError"), says("Progressing", "False", "NonRetryableError"),
			says("Available", "True", "AsExpected"), says("Upgradeable", "False", "NonRetryableError")),
		leave: func(ctx context.Context) {
			changeStatus(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
				if len(s.Revisions) == 16 {
					s.Revisions = append(s.Revisions[:1:1], s.Revisions[2:]...)
				}
			})
			settle(ctx)
		},
	},
	{
		state: harness.WaitingOnInfra,
		how:   "the record was lost, and Infrastructure cluster tells no platform",
		reach: func(ctx context.Context) {
			endAll()
			patchStatus(ctx, theInfrastructure(), `{"status":{"platformStatus":null}}`)
			forget(ctx)
			startGood()
		},
		rest: all(says("Progressing", "True", "WaitingOnExternal", "platformStatus"), says("Degraded", "False", "AsExpected"),
			says("Available", "True", "AsExpected")),
		leave: func(ctx context.Context) {
			Expect(env.SetPlatform(ctx, configv1.AWSPlatformType)).To(Succeed())
			settle(ctx)
		},
	},
	{
		state: harness.Paused, quiet: true,
		how:   "an administrator pauses what is installed for half an hour, and another release is asked for after that",
		reach: pauseAndAsk,
		rest: all(says("Progressing", "False", "WaitingOnExternal", "pause by ", "etcd is being moved"), says("Upgradeable", "False", "WaitingOnExternal", "pause by "),
			says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected")),
		// Each cell ends with the end of the pause, and what is done then, which takes seconds.
		renew: pauseAndAsk,
		leave: resume,
		picks: []string{"watches dropped", "ClusterOperator deleted"},
	},
}

// at says where the suite stands, so that a cell only reaches its state when
// the one before it has left it.
var at *stage

func reachStage(ctx context.Context, s *stage) {
	GinkgoHelper()
	if at == s {
		s.hold(ctx)
		if v, err := harness.See(ctx, env.Client); err == nil && isAt(s)(v) == nil {
			return
		}
	}
	at = nil
	atGood(ctx)
	s.reach(ctx)
	until(ctx, "the state "+s.state+" to be reached and held", isAt(s))
	at = s
}

// hold renews what holds a state, if it is of a kind that wears off.
func (s *stage) hold(ctx context.Context) {
	GinkgoHelper()
	if s.renew != nil {
		s.renew(ctx)
		until(ctx, "the state "+s.state+" to be held anew", isAt(s))
	}
}

func isAt(s *stage) func(harness.View) error { return all(harness.InState(s.state), s.rest) }

// fillRevisions lists as many revisions as there can be, all the operator's, none of which is current but the first.
func fillRevisions(ctx context.Context) {
	GinkgoHelper()
	var filled []operatorv1alpha1.ClusterAPIInstallerRevision
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	first := v.Revisions()[0]
	for number := first.Revision + 1; int64(len(filled)) < 15; number++ {
		made := *first.DeepCopy()
		made.Revision = number
		made.ContentID = strings.Repeat(fmt.Sprintf("%02d", number%100), 32)
		made.Name = operatorv1alpha1.RevisionName(fmt.Sprintf("4.22.0-%s-%d", made.ContentID[:8], number))
		Expect(env.Announce(ctx, made, first.Revision)).To(Succeed())
		filled = append(filled, made)
	}
	changeStatus(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
		s.Revisions = append(s.Revisions[:1:1], filled...)
		s.DesiredRevision = filled[len(filled)-1].Name
	})
}

// changeStatus changes ClusterAPI.status as an administrator would.
func changeStatus(ctx context.Context, change func(*operatorv1alpha1.ClusterAPIStatus)) {
	GinkgoHelper()
	eventually(ctx, "an edit of ClusterAPI.status", func(ctx context.Context) error { return env.EditStatus(ctx, change) })
}

// restart kills the operator, or all replicas of it, and starts anew.
func restart(context.Context) {
	GinkgoHelper()
	killAll()
	startGood()
}
