package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// The files of the only profile of a synthetic image.
const (
	profileDir    = providers.ManifestsDir + "/default/"
	metadataFile  = profileDir + "metadata.yaml"
	manifestsFile = profileDir + "manifests.yaml"
)

// spoil is something done to the files of an image.
type spoil func(files map[string][]byte)

// dropping takes a file away.
func dropping(name string) spoil {
	return func(files map[string][]byte) { delete(files, name) }
}

// adding puts text at the end of a file.
func adding(name, text string) spoil {
	return func(files map[string][]byte) { files[name] = append(slices.Clone(files[name]), text...) }
}

// pushSpoilt pushes small("two") with something done to its files.
func pushSpoilt(ctx context.Context, do spoil) map[string]string {
	GinkgoHelper()
	files := maps.Clone(small("two").files())
	do(files)
	return map[string]string{"small": pushFiles(ctx, "small", files)}
}

// lineOf is the line of a file, counted from 1, on which text that is added to
// its end begins.
func lineOf(files map[string][]byte, name string) int {
	return strings.Count(string(files[name]), "\n") + 1
}

var _ = Describe("The content of a provider image", func() {
	// The manifests of small have four documents of seven lines each with a
	// line of --- between them, so what is added begins on line 32, and its
	// first document is number 5 of the file.
	BeforeEach(func() {
		Expect(lineOf(small("two").files(), manifestsFile)).To(Equal(32))
		Expect(lineOf(small("two").files(), metadataFile)).To(Equal(7))
	})

	DescribeTable("is refused with a terminal error when it is wrong, with the place and the cause",
		func(ctx SpecContext, do spoil, texts ...string) {
			g := installSmall(ctx)
			bad := pushSpoilt(ctx, do)
			Expect(env.SetImages(ctx, bad)).To(Succeed())
			g.survives(ctx, revisionController, nonRetryable, append(texts, bad["small"], "rebuild the image")...)
			release(ctx, small("two"))
			g.isReplaced(ctx, "two")
		},
		Entry("no profile in /capi-operator-manifests",
			spoil(func(files map[string][]byte) {
				clear(files)
				files[providers.ManifestsDir+"/README"] = []byte("there is nothing here")
			}),
			"no profile in it", "metadata.yaml", "manifests.yaml", "rebuild the image"),
		Entry("a profile without metadata.yaml",
			dropping(metadataFile), "profile /capi-operator-manifests/default has manifests.yaml but no metadata.yaml"),
		Entry("a profile without manifests.yaml",
			dropping(manifestsFile), "profile /capi-operator-manifests/default has metadata.yaml but no manifests.yaml"),
		Entry("a field of metadata.yaml that nobody knows",
			adding(metadataFile, "priority: 7\n"), "profile default", "file metadata.yaml", "line 7", "field priority", "unknown field"),
		Entry("a field of metadata.yaml of another type",
			adding(metadataFile, "ocpPlatform: [AWS]\n"), "profile default", "file metadata.yaml", "line 7", "field ocpPlatform", "must be a string"),
		Entry("a platform that nobody knows",
			adding(metadataFile, "ocpPlatform: Amazon\n"), "profile default", "file metadata.yaml", "line 7", "field ocpPlatform", `unknown platform "Amazon"`, "AWS"),
		Entry("YAML that does not parse",
			adding(manifestsFile, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: broken\ndata: {}\n"),
			"profile default", "file manifests.yaml", "document 5", "line 35", "not valid YAML"),
		Entry("a document that is no object",
			adding(manifestsFile, "---\n- just\n- a list\n"),
			"profile default", "file manifests.yaml", "document 5", "line 33", "must be a mapping"),
		Entry("an object without a name",
			adding(manifestsFile, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: openshift-cluster-api}\n"),
			"profile default", "file manifests.yaml", "document 5", "line 33", "v1 ConfigMap", "field metadata.name", "is missing"),
		Entry("the same object twice in one file",
			adding(manifestsFile, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: edited, namespace: openshift-cluster-api}\n"),
			"profile default", "file manifests.yaml", "document 5", "line 33", "ConfigMap openshift-cluster-api/edited", "the same object is in document 2, line 9"),
	)

	It("is refused when two images have the same object, naming both places", func(ctx SpecContext) {
		g := installSmall(ctx)
		bad := push(ctx, small("two"), emptyProvider("twin").at(30).with(configMap("other", "one"), configMap("edited", "by the twin")))
		Expect(env.SetImages(ctx, bad)).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, "ConfigMap openshift-cluster-api/edited",
			"image "+bad["twin"]+", profile default, file manifests.yaml, document 2, line 9",
			"the same object is in image "+bad["small"]+", profile default, file manifests.yaml, document 2, line 9")
		release(ctx, small("two"), emptyProvider("twin").at(30).with(configMap("other", "one")))
		g.isReplaced(ctx, "two")
		Expect(hasSetting(ctx, "edited", "right")).To(Succeed())
	})

	It("may be none at all: an image without the folder is told and ignored", func(ctx SpecContext) {
		g := installSmall(ctx)
		other := pushFiles(ctx, "another", map[string][]byte{"README": []byte("this is another image")})
		Expect(env.SetImages(ctx, map[string]string{"small": push(ctx, small("two"))["small"], "other": other})).To(Succeed())
		g.isReplaced(ctx, "two")
		until(ctx, "it to be told", fine, says(revisionController+"Progressing", "False", "AsExpected", "another@", "no folder /capi-operator-manifests"))
		Expect(g.operator.Stop()).To(Succeed())
		g.restart()
		until(ctx, "it to be told after a restart", fine, says(revisionController+"Progressing", "False", "AsExpected", "no folder /capi-operator-manifests"))
		release(ctx, small("three"))
		until(ctx, "it to be forgotten", harness.Settled(3), func(v harness.View) error {
			if message := v.Condition(revisionController + "Progressing").Message; strings.Contains(message, "no folder") {
				return errors.New(message)
			}
			return nil
		})
	})

	It("has variables: those that the cluster gives, and one that nothing sets is empty and told", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, small("one"))})
		infrastructure := &configv1.Infrastructure{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, infrastructure)).To(Succeed())
		infrastructure.Status.InfrastructureName = "mine-x7f2k"
		Expect(env.Client.Status().Update(ctx, infrastructure)).To(Succeed())
		Expect(env.SetImages(ctx, pushSpoilt(ctx, adding(manifestsFile, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${INFRASTRUCTURE_NAME}-more\", namespace: openshift-cluster-api}\ndata:\n  setting: \"${AWS_REGION}\"\n")))).To(Succeed())
		operate(harness.OperatorOptions{CacheDir: GinkgoT().TempDir()})
		installed(ctx, 1)
		Expect(hasSetting(ctx, "mine-x7f2k-more", "")).To(Succeed())
		until(ctx, "the variable to be told", fine, says(revisionController+"Progressing", "False", "AsExpected", "AWS_REGION", "empty", "document 5"))
	})

	It("is told with all that is wrong at once, not piece by piece", func(ctx SpecContext) {
		g := installSmall(ctx)
		bad := pushSpoilt(ctx, func(files map[string][]byte) {
			adding(metadataFile, "priority: 7\n")(files)
			files[providers.ManifestsDir+"/second/metadata.yaml"] = []byte("name: second\nocpPlatform: Amazon\n")
			files[providers.ManifestsDir+"/second/manifests.yaml"] = nil
		})
		Expect(env.SetImages(ctx, bad)).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, "2 problems", "profile default, file metadata.yaml", "field priority",
			"profile second, file metadata.yaml", `unknown platform "Amazon"`)
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})

	It("is told again after a restart, which harms nothing either", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(env.SetImages(ctx, pushSpoilt(ctx, adding(metadataFile, "priority: 7\n")))).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, "field priority")
		Expect(g.operator.Stop()).To(Succeed())
		g.restart()
		g.survives(ctx, revisionController, nonRetryable, "field priority")
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})

	It("is told before anything was ever installed, and the first installation goes on when it is repaired", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: pushSpoilt(ctx, dropping(manifestsFile))})
		operate(harness.OperatorOptions{CacheDir: GinkgoT().TempDir()})
		v := until(ctx, "the error to be told",
			says(revisionController+"Degraded", "True", nonRetryable, "no manifests.yaml"),
			says(installerController+"Progressing", "False", "Uninitialized"),
			says("Degraded", "True", nonRetryable, "no manifests.yaml"))
		Expect(v.Condition("Available")).To(BeNil())
		Expect(v.Revisions()).To(BeEmpty())
		release(ctx, small("two"))
		installed(ctx, 1)
		Expect(hasSetting(ctx, "changed", "two")).To(Succeed())
	})

	It("is told while a revision is being applied, which goes on", func(ctx SpecContext) {
		g := installSmall(ctx)
		slow := map[string]string{"app": "slow"}
		Expect(env.Cluster.HoldPods(ctx, slow)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Cluster.ReleasePods(ctx, slow)).To(Succeed()) })
		release(ctx, small("two"), newProvider("slow").at(30))
		waiting := says(installerController+"Progressing", "True", "Progressing", "Deployment openshift-cluster-api/slow")
		until(ctx, "the rollout to wait", harness.InState(harness.Applying), waiting)

		Expect(env.SetImages(ctx, pushSpoilt(ctx, dropping(manifestsFile)))).To(Succeed())
		until(ctx, "the error to be told", waiting, g.isCurrent,
			says(revisionController+"Progressing", "False", nonRetryable, "no manifests.yaml"),
			says(revisionController+"Degraded", "True", nonRetryable, "no manifests.yaml"),
			says("Degraded", "True", nonRetryable, "no manifests.yaml"))
		g.isKept(ctx)
		release(ctx, small("three"))
		g.isReplaced(ctx, "three")
	})

	It("is not looked at again when the ConfigMap goes back to what is installed under another key", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(env.SetImages(ctx, pushSpoilt(ctx, dropping(metadataFile)))).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, "no metadata.yaml")
		Expect(env.SetImages(ctx, map[string]string{"keys-have-no-meaning": push(ctx, small("one"))["small"]})).To(Succeed())
		v := until(ctx, "the good revision to be all that is asked for", fine, g.isCurrent)
		Expect(v.Revisions()).To(HaveLen(1))
	})

	It("is refused when it makes more components than the API can list", func(ctx SpecContext) {
		g := installSmall(ctx)
		many := func(more int) spoil {
			return func(files map[string][]byte) {
				for i := range more {
					profile := fmt.Sprintf("%s/more-%d/", providers.ManifestsDir, i)
					files[profile+"metadata.yaml"], files[profile+"manifests.yaml"] = fmt.Appendf(nil, "name: more-%d\n", i), nil
				}
			}
		}
		Expect(env.SetImages(ctx, pushSpoilt(ctx, many(32)))).To(Succeed())
		g.survives(ctx, revisionController, nonRetryable, "33 components", "at most 32", "remove 1")
		Expect(env.SetImages(ctx, pushSpoilt(ctx, many(31)))).To(Succeed())
		v := g.isReplaced(ctx, "two")
		Expect(v.Revisions()[0].Components).To(HaveLen(32))
	})
})
