package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// seldom is how many of the points of a long path are tried.
const seldom = 15

var _ = Describe("An operator that is killed right after a write, and started again,", Ordered, func() {
	var coreOne, coreTwo, both map[string]string

	BeforeAll(func(ctx SpecContext) {
		released, err := env.Push(ctx, providers.ReleaseOne)
		Expect(err).NotTo(HaveOccurred())
		// The same provider in two releases that differ in one object each has alone and in one both have.
		coreOne = pushCore(ctx, providers.ReleaseOne, extra("goes", "one"), extra("changes", "one"), extra("stays", "one"))
		coreTwo = pushCore(ctx, providers.ReleaseTwo, extra("comes", "two"), extra("changes", "two"), extra("stays", "one"))
		both = map[string]string{providers.Core: coreOne[providers.Core], providers.AWS: released[providers.AWS]}
		DeferCleanup(endAll)
	}, NodeTimeout(5*time.Minute))

	It("ends up where an undisturbed installation of core does, whichever write it was", Label("long"), func(ctx SpecContext) {
		undisturbed, _ := install(ctx, coreOne)
		for n := 1; killDuringInstall(ctx, n, coreOne, undisturbed); n++ {
			AddReportEntry("kill points of an installation", n, ReportEntryVisibilityNever)
		}
	}, NodeTimeout(30*time.Minute))

	It("ends up where an undisturbed upgrade of core does, whichever write it was", Label("long"), func(ctx SpecContext) {
		one, two, _ := upgraded(ctx, coreOne, coreTwo)
		for n := 1; ; n++ {
			there := killDuringUpgrade(ctx, n, coreTwo, two)
			back := killDuringUpgrade(ctx, n, coreOne, one)
			if !there && !back {
				break
			}
		}
	}, NodeTimeout(30*time.Minute))

	It("ends up where an undisturbed installation of core and AWS does, whichever write it was", Label("long"), func(ctx SpecContext) {
		undisturbed, writes := install(ctx, both)
		for _, n := range sample(seldom, writes) {
			killDuringInstall(ctx, n, both, undisturbed)
		}
	}, NodeTimeout(30*time.Minute))

	It("ends up where it would have without", Label("short"), func(ctx SpecContext) {
		one, two, writes := upgraded(ctx, coreOne, coreTwo)
		for i, n := range append([]int{2, 4, 6}, sample(1, writes)...) { // the first ones are where a rest ends
			if i%2 == 0 { // there and back, in turn
				killDuringUpgrade(ctx, n, coreTwo, two)
			} else {
				killDuringUpgrade(ctx, n, coreOne, one)
			}
		}
		for _, n := range sample(2, writes) {
			killDuringInstall(ctx, n, coreOne, one)
		}
	}, NodeTimeout(5*time.Minute))
})

// sample is some of the numbers from 1 to n, in order.
func sample(size, n int) []int {
	numbers := rand.Perm(n)[:min(size, n)]
	slices.Sort(numbers)
	for i := range numbers {
		numbers[i]++
	}
	AddReportEntry("the writes after which the operator is killed", fmt.Sprint(numbers), ReportEntryVisibilityFailureOrVerbose)
	return numbers
}

// extra is a manifest of a ConfigMap.
func extra(name, setting string) string {
	return fmt.Sprintf("\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}, data: {setting: %q}}\n", name, harness.CAPINamespace, setting)
}

// pushCore makes an image of the real core provider with more manifests.
func pushCore(ctx context.Context, release string, more ...string) map[string]string {
	GinkgoHelper()
	profiles, err := harness.Build(ctx, *bin, release)
	Expect(err).NotTo(HaveOccurred())
	core := profiles[slices.IndexFunc(profiles, func(p providers.Profile) bool { return p.Component == providers.Core })]
	files := map[string][]byte{}
	for _, name := range []string{"metadata.yaml", "manifests.yaml"} {
		content, err := os.ReadFile(filepath.Join(core.Folder, "default", name))
		Expect(err).NotTo(HaveOccurred())
		files[providers.ManifestsDir+"/default/"+name] = content
	}
	manifests := providers.ManifestsDir + "/default/manifests.yaml"
	files[manifests] = []byte(string(files[manifests]) + strings.Join(more, ""))
	return map[string]string{providers.Core: pushFiles(ctx, "killed-core", files)}
}

// pushFiles makes an image of the files and returns its reference by digest.
func pushFiles(ctx context.Context, name string, files map[string][]byte) string {
	GinkgoHelper()
	reference, err := env.PushFiles(ctx, "faults/"+name, files)
	Expect(err).NotTo(HaveOccurred())
	return reference
}

func world(images map[string]string) harness.World {
	return harness.World{Platform: configv1.AWSPlatformType, Images: images}
}

// install is an undisturbed installation: what it brings and how many writes it takes.
func install(ctx context.Context, images map[string]string) (harness.State, int) {
	GinkgoHelper()
	begin(ctx, world(images))
	operate(harness.OperatorOptions{})
	until(ctx, "the undisturbed installation to finish", harness.Settled(1), finished)
	state, writes := stateOf(ctx), between.Writes()
	AddReportEntry("writes of an undisturbed installation", writes, ReportEntryVisibilityFailureOrVerbose)
	return state, writes
}

// upgraded are the undisturbed ends of two releases in one world, and how many
// writes the first one's installation takes; the first is installed in the end.
func upgraded(ctx context.Context, one, two map[string]string) (first, second harness.State, writes int) {
	GinkgoHelper()
	first, writes = install(ctx, one)
	Expect(env.SetImages(ctx, two)).To(Succeed())
	until(ctx, "the undisturbed upgrade to finish", harness.Settled(2), finished)
	second = stateOf(ctx)
	Expect(env.SetImages(ctx, one)).To(Succeed())
	until(ctx, "the upgrade to be taken back", harness.Settled(3), finished)
	return first, second, writes
}

func stateOf(ctx context.Context) harness.State {
	GinkgoHelper()
	state, err := env.State(ctx)
	Expect(err).NotTo(HaveOccurred())
	return state
}

// killDuringInstall says whether there was an n-th write to be killed after.
func killDuringInstall(ctx context.Context, n int, images map[string]string, undisturbed harness.State) bool {
	GinkgoHelper()
	began := time.Now()
	begin(ctx, world(images))
	begun := time.Now()
	if !killAfter(ctx, n, harness.Settled(1), func() {}) {
		return false
	}
	converges(ctx, n, 1, undisturbed, stateOf(ctx))
	GinkgoWriter.Printf("installation killed after write %d: %s, of which emptying the cluster took %s\n",
		n, time.Since(began).Round(time.Millisecond), begun.Sub(began).Round(time.Millisecond))
	return true
}

// killDuringUpgrade goes on in the world as it is.
func killDuringUpgrade(ctx context.Context, n int, images map[string]string, undisturbed harness.State) bool {
	GinkgoHelper()
	began := time.Now()
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	number, before := v.Revision(v.Current()).Revision+1, stateOf(ctx)
	endAll()
	killed := killAfter(ctx, n, harness.Settled(number), func() { Expect(env.SetImages(ctx, images)).To(Succeed()) })
	if killed {
		for key, then := range stateOf(ctx) {
			if now, was := before[key]; was {
				Expect(then.UID).To(Equal(now.UID), "%s was made anew before write %d", key, n)
			}
		}
		converges(ctx, n, number, undisturbed, before)
		GinkgoWriter.Printf("upgrade to revision %d killed after write %d: %s\n", number, n, time.Since(began).Round(time.Millisecond))
	}
	return killed
}

// killAfter starts an operator that is killed after its n-th write, and says
// whether it came to that before all was done.
func killAfter(ctx context.Context, n int, settled func(harness.View) error, then func()) bool {
	GinkgoHelper()
	endAll()
	then()
	var operator *harness.Operator
	ready := make(chan struct{})
	killed := between.EndAfter(n, func() {
		<-ready
		operator.Kill()
	})
	operator = operate(harness.OperatorOptions{})
	close(ready)
	eventually(ctx, fmt.Sprintf("the operator to be killed after write %d, or to be done", n), func(ctx context.Context) error {
		select {
		case <-killed:
			return nil
		default:
		}
		v, err := harness.See(ctx, env.Client)
		if err == nil {
			err = all(settled, finished)(v)
		}
		return err
	})
	select {
	case <-killed:
		killPoints.tried("a start", sigkill)
		return true
	default:
		return false
	}
}

// converges starts the operator again and sees that it gets to the undisturbed
// end, with the objects that were there before.
func converges(ctx context.Context, n int, number int64, undisturbed, before harness.State) {
	GinkgoHelper()
	endAll()
	operate(harness.OperatorOptions{})
	v := until(ctx, fmt.Sprintf("the operator to finish what was cut off after write %d", n), harness.Settled(number), finished)
	Expect(v.Revisions()).To(HaveLen(1))
	Expect(v.Revisions()[0].Revision).To(Equal(number), "a number was left out after write %d", n)
	eventually(ctx, fmt.Sprintf("the end to be the undisturbed one after write %d", n), func(ctx context.Context) error {
		state, err := env.State(ctx)
		if err != nil {
			return err
		}
		return errors.Join(differ(state, undisturbed), lost(state, before), marked(state, number), inventories(ctx, number))
	})
	killPoints.converged("a start", sigkill)
}
