package clusterapi_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

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

// pod is the operator's own Pod, as the kubelet has started it: with an image volume for each image, below a folder.
type pod struct {
	dir     string
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
}

// mount adds an image: the folder has its files, and nothing that tells which image it is.
func (p *pod) mount(name, reference string, files map[string][]byte) *pod {
	GinkgoHelper()
	at := filepath.Join(p.dir, name)
	for file, content := range files {
		path := filepath.Join(at, file)
		Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		Expect(os.WriteFile(path, content, 0o644)).To(Succeed())
	}
	p.volumes = append(p.volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: reference}}})
	p.mounts = append(p.mounts, corev1.VolumeMount{Name: name, MountPath: at})
	return p
}

// operate starts the operator in this Pod, which is another one than the last.
func (p *pod) operate(ctx context.Context, name, cache string) *harness.Operator {
	GinkgoHelper()
	Expect(env.Client.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: name},
		Spec: corev1.PodSpec{
			ServiceAccountName: harness.ServiceAccount, Volumes: p.volumes,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "capstan", Image: "capstan", VolumeMounts: p.mounts,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	})).To(Succeed())
	GinkgoT().Setenv("POD_NAME", name)
	return operate(harness.OperatorOptions{CacheDir: cache, Arguments: []string{"--provider-image-dir=" + p.dir}})
}

var _ = Describe("Provider images that are mounted", func() {
	const registry = "registry.example/provider@sha256:"
	one, two := registry+strings.Repeat("1", 64), registry+strings.Repeat("2", 64)

	It("are installed and upgraded without any registry", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		g := installMounted(ctx, (&pod{dir: dir}).mount("one", one, small("one").files()), one)
		Expect(g.operator.Stop()).To(Succeed())
		Expect(env.SetImages(ctx, map[string]string{"small": two})).To(Succeed())
		g.operator = (&pod{dir: dir}).mount("two", two, small("two").files()).operate(ctx, "capstan-2", GinkgoT().TempDir())
		v := g.isReplaced(ctx, "two")
		Expect(v.Revisions()[0].Components).To(HaveLen(1))
		Expect(string(v.Revisions()[0].Components[0].Image.Ref)).To(Equal(two))
	})

	It("are the same to the operator as pulled ones", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		g := installSmall(ctx, alpha)
		Expect(g.operator.Stop()).To(Succeed())
		own := &pod{dir: GinkgoT().TempDir()}
		for _, p := range []*provider{small("one"), alpha} {
			own.mount(p.name, pushFiles(ctx, p.name, p.files()), p.files())
		}
		asked := countRequests()
		g.operator = own.operate(ctx, "capstan-1", GinkgoT().TempDir())
		g.isKept(ctx)
		v := until(ctx, "nothing to be wrong", fine, g.isCurrent)
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(asked.Load()).To(BeZero(), "requests to the registry")
	})

	It("are read, and what is not mounted is pulled, whatever the list says", func(ctx SpecContext) {
		g := installMounted(ctx, (&pod{dir: GinkgoT().TempDir()}).mount("one", one, small("one").files()), one)
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})

	It("are refused with a terminal error when a profile has one file of two", func(ctx SpecContext) {
		files := small("two").files()
		dropping(metadataFile)(files)
		g := installMounted(ctx, (&pod{dir: GinkgoT().TempDir()}).mount("one", one, small("one").files()).mount("two", two, files), one)
		Expect(env.SetImages(ctx, map[string]string{"small": two})).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, two, "profile /capi-operator-manifests/default has manifests.yaml but no metadata.yaml")
		release(ctx, small("three"))
		g.isReplaced(ctx, "three")
	})
})

// installMounted is installSmall with an image that is mounted.
func installMounted(ctx SpecContext, own *pod, reference string) *good {
	GinkgoHelper()
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: map[string]string{"small": reference}})
	g := &good{cache: GinkgoT().TempDir()}
	g.operator = own.operate(ctx, "capstan-1", g.cache)
	g.seen(ctx)
	return g
}
