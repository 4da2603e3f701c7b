package clusterapi_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// releaseOf is the manifest of a release that lists provider images.
func releaseOf(references map[string]string) []byte {
	GinkgoHelper()
	list := object("{apiVersion: v1, kind: ConfigMap, metadata: {name: capi-installer-images, namespace: openshift-cluster-api-operator}}")
	for key, ref := range references {
		Expect(unstructured.SetNestedField(list.Object, ref, "data", key)).To(Succeed())
	}
	text, err := yaml.Marshal(list.Object)
	Expect(err).NotTo(HaveOccurred())
	return text
}

// pushRelease makes the image of a release that lists provider images.
func pushRelease(ctx context.Context, references map[string]string) string {
	GinkgoHelper()
	image, err := env.PushFiles(ctx, "release", map[string][]byte{"release-manifests/0000_30_images.yaml": releaseOf(references), "usr/bin/tool": []byte("x")})
	Expect(err).NotTo(HaveOccurred())
	return image
}

var _ = Describe("capstan plan without a cluster", func() {
	nowhere := command{}
	compared := func(ctx context.Context, code int, args ...string) (p planned) {
		GinkgoHelper()
		text := nowhere.run(ctx, code, append([]string{"plan", "-o", "json", "--platform", "AWS"}, withCache(args)...)...)
		Expect(json.Unmarshal([]byte(text), &p)).To(Succeed(), text)
		return p
	}

	It("compares what release images list, with each other and with sets of another form", func(ctx SpecContext) {
		one, two := push(ctx, newProvider("alpha"), small("one")), push(ctx, newProvider("alpha").with(configMap("more", "one")), small("two"))
		from, to := pushRelease(ctx, one), pushRelease(ctx, two)
		expected := And(HaveKeyWithValue("create", 1), HaveKeyWithValue("change", 2), HaveLen(3))

		p := compared(ctx, codeChanges, "--from", from, "--to", to)
		Expect(p.of("ConfigMap", "changed")).To(And(HaveField("Verdict", "change"), HaveField("How", "computed")))
		Expect(p.of("ConfigMap", "more").Verdict).To(Equal("create"))
		Expect(p.Counts).To(expected, "and the Deployment has the other image; all others are marked")
		Expect(p.From.Components).To(HaveLen(2))
		Expect(compared(ctx, codeNothing, "--from", from, "--to", from).Counts).To(And(HaveKey("leave"), HaveLen(1)), "since it is the same revision")

		By("a list, a folder of a release, and images, on the other side")
		folder := GinkgoT().TempDir()
		file := filepath.Join(folder, "0000_30_images.yaml")
		Expect(os.WriteFile(file, releaseOf(one), 0o600)).To(Succeed())
		Expect(compared(ctx, codeChanges, "--from", file, "--to", to).Counts).To(expected)
		Expect(compared(ctx, codeChanges, "--from", folder, "--to", to).Counts).To(expected)
		sets := []string{"--to", to}
		for _, ref := range one {
			sets = append(sets, "--from", ref)
		}
		Expect(compared(ctx, codeChanges, sets...).Counts).To(expected)

		By("a release image beside an image")
		beside := compared(ctx, codeChanges, "--from", from, "--to", from, "--to", push(ctx, newProvider("beta"))["beta"])
		Expect(beside.To.Components).To(HaveLen(3))

		By("the image in text, of which it is said that it takes its time")
		Expect(nowhere.run(ctx, codeChanges, append([]string{"plan", "--platform", "AWS", "--from", from, "--to", to}, withCache(nil)...)...)).To(
			And(ContainSubstring("Reading the manifests in release image"), ContainSubstring("change  ConfigMap openshift-cluster-api/changed (computed)")))
	})

	It("says what is wrong with an image that is neither a provider's nor a release's", func(ctx SpecContext) {
		good := pushRelease(ctx, push(ctx, newProvider("alpha")))
		for says, files := range map[string]map[string][]byte{
			"it has no folder /capi-operator-manifests of a provider, and is no image of a release: it has no folder /release-manifests": {"usr/bin/tool": []byte("x")},
			"there is no ConfigMap capi-installer-images":    {"release-manifests/0000_10.yaml": []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}")},
			"ConfigMap capi-installer-images lists no image": {"release-manifests/0000_10.yaml": releaseOf(nil)},
		} {
			image := pushFiles(ctx, "neither", files)
			Expect(nowhere.run(ctx, codeFailed, append([]string{"plan", "--platform", "AWS", "--from", good, "--to", image}, withCache(nil)...)...)).To(
				And(ContainSubstring("--to: "), ContainSubstring(image), ContainSubstring(says)))
		}

		By("a folder that is called as an image")
		work := GinkgoT().TempDir()
		Expect(os.MkdirAll(filepath.Join(work, good), 0o700)).To(Succeed())
		cmd := nowhere.command(append([]string{"plan", "--platform", "AWS", "--from", good, "--to", good, "-o", "name"}, withCache(nil)...)...)
		binary, err := filepath.Abs(cmd.Path)
		Expect(err).NotTo(HaveOccurred())
		cmd.Path, cmd.Dir = binary, work
		out, err := cmd.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(ContainSubstring("leave deployments.apps/alpha"))
	})
})
