package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("What is left alone", func() {
	It("is neither put right nor created again, whoever restarts, and is told, until somebody takes that back", func(ctx SpecContext) {
		edited, deleted, other := configMap("alpha", "one"), configMap("deleted", "one"), configMap("other", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(deleted, other))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)

		leave := append([]string{"pause", "--for", "1h", "--reason", "a hotfix"}, words(edited, deleted)...)
		Expect(admin().run(ctx, codeFailed, leave...)).To(And(
			ContainSubstring("Leave alone until "), ContainSubstring("ConfigMap openshift-cluster-api/deleted"), ContainSubstring("nobody sits at a terminal")))
		Expect(admin().run(ctx, 0, append(leave, "--dry-run")...)).To(ContainSubstring("Nothing was changed."))
		told := struct {
			Done, Confirmed bool
			Objects         []string
			Undo            string
		}{}
		Expect(json.Unmarshal([]byte(admin().run(ctx, 0, append(leave, "--yes", "-o", "json")...)), &told)).To(Succeed())
		Expect(told.Done && told.Confirmed).To(BeTrue())
		Expect(told.Objects).To(Equal([]string{"ConfigMap openshift-cluster-api/alpha", "ConfigMap openshift-cluster-api/deleted"}))
		Expect(told.Undo).To(Equal("capstan resume " + strings.Join(words(edited, deleted), " ")))

		since := mark(ctx)
		patch(ctx, edited, `{"data":{"setting":"edited"}}`)
		Expect(env.Client.Delete(ctx, deleted.DeepCopy())).To(Succeed())
		patch(ctx, other, `{"data":{"setting":"edited"}}`)
		eventually(ctx, "drift of another object to be put right", func(ctx context.Context) error { return has(ctx, other, "one", "data", "setting") })
		until(ctx, "all of that to be told, and no gate to be lost", inState(harness.Installed), leftAlone("ConfigMap openshift-cluster-api/alpha", ".data.setting"),
			leftAlone("ConfigMap openshift-cluster-api/deleted", "is not there"), says("Available", "True", "AsExpected"), says("Degraded", "False", "AsExpected"),
			says("Progressing", "False", "AsExpected", "leave-alone of ConfigMap openshift-cluster-api/alpha and 1 more by an-administrator", "a hotfix"))
		Expect(admin().run(ctx, 0, "status")).To(And(ContainSubstring("Left alone, because people ask for that"), ContainSubstring("ConfigMap openshift-cluster-api/deleted: it is not there")))
		Expect(admin().run(ctx, 0, "explain")).To(ContainSubstring("leave-alone of ConfigMap openshift-cluster-api/alpha and 1 more by an-administrator"))

		operator.Kill()
		operate(harness.OperatorOptions{})
		patch(ctx, other, `{"data":{"setting":"again"}}`)
		eventually(ctx, "drift of another object to be put right again", func(ctx context.Context) error { return has(ctx, other, "one", "data", "setting") })
		neverWritten(ctx, since, edited, deleted)
		expectGone(ctx, deleted)
		Expect(setting(ctx, edited)).To(Equal("edited"))

		Expect(admin().run(ctx, codeFailed, append([]string{"resume", "--yes"}, words(other)...)...)).To(ContainSubstring("ConfigMap openshift-cluster-api/other is not left alone"))
		Expect(admin().run(ctx, 0, append([]string{"resume", "--yes"}, words(deleted)...)...)).To(And(
			ContainSubstring("These stay left alone"), ContainSubstring("They are not left alone any more.")))
		appears(ctx, deleted)
		neverWritten(ctx, since, edited)
		Expect(admin().run(ctx, 0, append([]string{"resume", "--yes"}, words(edited)...)...)).To(ContainSubstring("capstan pause --for "))
		eventually(ctx, "the edit to be taken back", func(ctx context.Context) error { return has(ctx, edited, "one", "data", "setting") })
		Expect(admin().run(ctx, 0, append([]string{"resume", "--yes"}, words(edited)...)...)).To(ContainSubstring("Nothing to do"))

		Expect(admin().run(ctx, codeFailed, "pause", "--for", "1m", "--reason", "r", "--yes", "ConfigMap/openshift-cluster-api/nowhere")).To(
			ContainSubstring("neither the newest revision nor the one that is installed has ConfigMap openshift-cluster-api/nowhere"))
		until(ctx, "that to be told", leftAlone("ConfigMap openshift-cluster-api/nowhere", ""))
	})

	It("holds up the wave of a release that wants it otherwise, and no other, and all is done after the end with nobody there", func(ctx SpecContext) {
		edited, same, goes := configMap("alpha", "one"), configMap("same", "one"), configMap("goes", "one")
		one := newProvider("alpha").with(same, goes)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, one)})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		admin().run(ctx, 0, append([]string{"pause", "--for", "1h", "--reason", "a hotfix", "--yes"}, words(same, goes)...)...)

		By("a release that has one as it is, and another one not any more")
		since := mark(ctx)
		release(ctx, newProvider("alpha").with(same))
		second := installed(ctx, 2)
		Expect(second.Revisions()).To(HaveLen(1))
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-2"))
		uids(ctx, same, goes)
		neverWritten(ctx, since, same, goes)
		Expect(field(fetched(ctx, same), "metadata", "annotations", revisionAnnotation)).To(Equal("1"))

		By("a release that wants one otherwise")
		admin().run(ctx, 0, append([]string{"pause", "--for", "1h", "--reason", "a hotfix", "--yes"}, words(edited)...)...)
		since = mark(ctx)
		changed := newProvider("alpha").with(same).set("ConfigMap", "alpha", "two", "data", "setting")
		p := admin().plan(ctx, codeStops, imageFlags(push(ctx, changed))...)
		Expect(p.of("ConfigMap", "alpha").Verdict).To(Equal("leave"))
		Expect(p.of("ConfigMap", "same").Verdict).To(Equal("leave"))
		Expect(p.stops()).To(Equal([]string{"left alone"}))
		release(ctx, changed)
		until(ctx, "its wave to wait", inState(harness.Applying), says("InstallerControllerProgressing", "True", "Progressing",
			"waits for ConfigMap openshift-cluster-api/alpha: is left alone by an-administrator until ", "(a hotfix); it differs in .data.setting"))
		neverWritten(ctx, since, edited, same, goes)
		Expect(operator.Advance(31 * time.Minute)).To(Succeed())
		until(ctx, "the deadline to be told", inState(harness.Degraded), says("Degraded", "True", "EphemeralError", "is left alone by an-administrator"))
		neverWritten(ctx, since, edited, same, goes)
		Expect(operator.Advance(30 * time.Minute)).To(Succeed())
		installed(ctx, 3)
		Expect(setting(ctx, edited)).To(Equal("two"))
		Expect(field(fetched(ctx, same), "metadata", "annotations", revisionAnnotation)).To(Equal("3"))
	})
})

// words are objects as a command takes them.
func words(objects ...*unstructured.Unstructured) (all []string) {
	for _, o := range objects {
		kind, name := o.GetKind(), o.GetName()
		if group := o.GroupVersionKind().Group; group != "" {
			kind += "." + group
		}
		if o.GetNamespace() != "" {
			name = o.GetNamespace() + "/" + name
		}
		all = append(all, kind+"/"+name)
	}
	return all
}

// leftAlone is the question whether an object is told as left alone, with how it differs.
func leftAlone(object, differs string) func(harness.View) error {
	return func(v harness.View) error {
		var told struct {
			Detail struct {
				LeftAlone []struct{ Object, Differs string }
			} `json:"clusterapiDetail"`
		}
		if err := json.Unmarshal(v.ClusterOperator.Status.Extension.Raw, &told); err != nil {
			return err
		}
		for _, left := range told.Detail.LeftAlone {
			if left.Object == object && strings.Contains(left.Differs, differs) {
				return nil
			}
		}
		return fmt.Errorf("%s is not told with %q among %v", object, differs, told.Detail.LeftAlone)
	}
}

// neverWritten expects that the operator has neither written nor tried any of the objects since a mark.
func neverWritten(ctx context.Context, since cluster.Mark, objects ...*unstructured.Unstructured) {
	GinkgoHelper()
	sent := requests(ctx, since).Where(func(r cluster.Request) bool {
		return (r.IsWrite() || r.DryRun) && r.Resource == "configmaps" && slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return r.Name == o.GetName() })
	})
	Expect(sent).To(BeEmpty(), sent.String())
}
