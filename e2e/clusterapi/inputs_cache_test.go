package clusterapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// countRequests counts what the registry is asked, and refuses it all.
func countRequests() *atomic.Int64 {
	var asked atomic.Int64
	env.Registry.SetFault(func(*http.Request) int {
		asked.Add(1)
		return http.StatusServiceUnavailable
	})
	DeferCleanup(obey)
	return &asked
}

// restart starts another operator as the one before.
func (g *good) restart() {
	GinkgoHelper()
	g.operator = operate(harness.OperatorOptions{CacheDir: g.cache})
}

var _ = Describe("The cache of provider images", func() {
	It("makes a restart work without the registry", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(g.operator.Stop()).To(Succeed())
		asked := countRequests()
		g.restart()
		g.isKept(ctx)
		until(ctx, "nothing to be wrong", fine, g.isCurrent)
		Expect(asked.Load()).To(BeZero(), "requests to the registry")
		obey()
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})

	It("may be lost while the operator runs", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(os.RemoveAll(g.cache)).To(Succeed())
		g.isKept(ctx)
		until(ctx, "nothing to be wrong", fine, g.isCurrent)
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
		Expect(g.cache).To(BeADirectory())
	})

	DescribeTable("is filled again by a restart",
		func(ctx SpecContext, harm func(dir string)) {
			g := installSmall(ctx)
			Expect(g.operator.Stop()).To(Succeed())
			harm(g.cache)
			g.restart()
			g.isKept(ctx)
			until(ctx, "nothing to be wrong", fine, g.isCurrent)
			release(ctx, small("two"))
			g.isReplaced(ctx, "two")
		},
		Entry("when it was lost", func(dir string) { Expect(os.RemoveAll(dir)).To(Succeed()) }),
		Entry("when its files are damaged", func(dir string) {
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			Expect(err).NotTo(HaveOccurred())
			Expect(files).NotTo(BeEmpty())
			for _, file := range files {
				Expect(os.Truncate(file, 100)).To(Succeed())
			}
		}),
	)

	It("may be a folder that cannot be written, which is told", func(ctx SpecContext) {
		file := filepath.Join(GinkgoT().TempDir(), "file")
		Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, small("one"))})
		g := &good{operator: operate(harness.OperatorOptions{CacheDir: filepath.Join(file, "cache")})}
		g.seen(ctx)
		v := until(ctx, "the cache to be told of", says(revisionController+"Progressing", "False", "AsExpected",
			"cannot be stored in the cache folder "+filepath.Join(file, "cache"), "free or enlarge that volume, or make it writable"))
		AddReportEntry("what an administrator reads", v.Condition(revisionController+"Progressing").Message, ReportEntryVisibilityFailureOrVerbose)
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})

	It("is missed when it was lost in a restart and the registry too, until that is back", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(g.operator.Stop()).To(Succeed())
		Expect(os.RemoveAll(g.cache)).To(Succeed())
		Expect(env.Registry.Stop()).To(Succeed())
		DeferCleanup(env.Registry.Restart)
		g.restart()
		until(ctx, "the error to be told", told(revisionController, ephemeral, "cannot be reached", "/synthetic/small@sha256:"), g.isCurrent)
		Expect(env.Registry.Restart()).To(Succeed())
		until(ctx, "nothing to be wrong", fine, g.isCurrent)
		g.isKept(ctx)
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})
})

// mount lays an image out below a folder as a kubelet mounts it as a volume.
func mount(dir, name, reference string, files map[string][]byte) {
	GinkgoHelper()
	for file, content := range files {
		path := filepath.Join(dir, name, file)
		Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		Expect(os.WriteFile(path, content, 0o644)).To(Succeed())
	}
	Expect(os.WriteFile(filepath.Join(dir, name, "image-ref"), []byte(reference+"\n"), 0o644)).To(Succeed())
}

var _ = Describe("Provider images that are mounted", func() {
	const registry = "registry.example/provider@sha256:"
	one, two := registry+strings.Repeat("1", 64), registry+strings.Repeat("2", 64)

	It("are installed and upgraded without any registry", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		mount(dir, "one", one, small("one").files())
		g := installMounted(ctx, dir, one)
		mount(dir, "two", two, small("two").files())
		Expect(env.SetImages(ctx, map[string]string{"small": two})).To(Succeed())
		v := g.isReplaced(ctx, "two")
		Expect(v.Revisions()[0].Components).To(HaveLen(1))
		Expect(string(v.Revisions()[0].Components[0].Image.Ref)).To(Equal(two))
	})

	It("are the same to the operator as pulled ones", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		g := installSmall(ctx, alpha)
		Expect(g.operator.Stop()).To(Succeed())
		dir := GinkgoT().TempDir()
		for _, p := range []*provider{small("one"), alpha} {
			mount(dir, p.name, pushFiles(ctx, p.name, p.files()), p.files())
		}
		asked := countRequests()
		g.operator = operate(harness.OperatorOptions{Arguments: []string{"--provider-image-dir=" + dir}})
		g.isKept(ctx)
		v := until(ctx, "nothing to be wrong", fine, g.isCurrent)
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(asked.Load()).To(BeZero(), "requests to the registry")
	})

	It("are waited for when the mount is not there", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		mount(dir, "one", one, small("one").files())
		g := installMounted(ctx, dir, one)
		Expect(env.SetImages(ctx, map[string]string{"small": two})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, two, dir, "image-ref", "mount the image there", "one")
		mount(dir, "two", two, small("two").files())
		g.isReplaced(ctx, "two")
	})

	It("are refused with a terminal error when a profile has one file of two", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		mount(dir, "one", one, small("one").files())
		g := installMounted(ctx, dir, one)
		files := small("two").files()
		dropping(metadataFile)(files)
		mount(dir, "two", two, files)
		Expect(env.SetImages(ctx, map[string]string{"small": two})).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, two, "profile /capi-operator-manifests/default has manifests.yaml but no metadata.yaml")
		three := registry + strings.Repeat("3", 64)
		mount(dir, "three", three, small("three").files())
		Expect(env.SetImages(ctx, map[string]string{"small": three})).To(Succeed())
		g.isReplaced(ctx, "three")
	})
})

// installMounted is installSmall from a folder of mounted images.
func installMounted(ctx SpecContext, dir, reference string) *good {
	GinkgoHelper()
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: map[string]string{"small": reference}})
	g := &good{operator: operate(harness.OperatorOptions{Arguments: []string{"--provider-image-dir=" + dir}})}
	g.seen(ctx)
	return g
}
