package clusterapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// pinAnnotation is the act that pins.
const pinAnnotation = "capi-operator.openshift.io/pin"

var _ = Describe("A pin", func() {
	It("holds what is installed while the list changes, also over a restart, repairs it, and ends by itself", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)

		pin := []string{"pin", "--for", "1h", "--reason", "tried elsewhere first"}
		Expect(admin().run(ctx, codeFailed, pin...)).To(And(ContainSubstring("Stay with the images of revision 1 until "), ContainSubstring("nobody sits at a terminal")))
		Expect(admin().run(ctx, 0, append(pin, "--dry-run")...)).To(ContainSubstring("Nothing was changed."))
		Expect(admin().run(ctx, codeFailed, "pin", "--for", "721h", "--reason", "r", "--yes")).To(ContainSubstring("--for is 721h0m0s"))
		told := struct {
			By              string
			Revision        int
			Done, Confirmed bool
			Undo            string
		}{}
		Expect(json.Unmarshal([]byte(admin().run(ctx, 0, append(pin, "--yes", "-o", "json")...)), &told)).To(Succeed())
		Expect(told.Done && told.Confirmed).To(BeTrue())
		Expect(told.Undo).To(Equal("capstan unpin"))
		Expect(told.Revision).To(Equal(1))

		release(ctx, newProvider("alpha").with(configMap("comes", "two")))
		until(ctx, "the pin to be told", inState(harness.Installed),
			says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1 by an-administrator", "tried elsewhere first"), says("Available", "True", "AsExpected"))
		Expect(env.Client.Delete(ctx, configMap("alpha", ""))).To(Succeed())
		appears(ctx, configMap("alpha", ""))
		operator.Kill()
		pinTo(ctx, 1, env.Now(), fmt.Sprintf("until: %s\n", env.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
		operator = operate(harness.OperatorOptions{SteeredClock: true})
		Expect(env.Client.Delete(ctx, configMap("alpha", ""))).To(Succeed())
		appears(ctx, configMap("alpha", ""))
		Expect(installed(ctx, 1).Revisions()).To(HaveLen(1))
		expectGone(ctx, configMap("comes", ""))
		Expect(admin().run(ctx, 0, "status")).To(ContainSubstring("pin to revision 1 by "))

		Expect(operator.Advance(61 * time.Minute)).To(Succeed())
		v := installed(ctx, 2)
		uids(ctx, configMap("comes", ""))
		until(ctx, "upgrades to be allowed again", says("Upgradeable", "True", "AsExpected"))
		Expect(v.Revisions()).To(HaveLen(1))
	})

	It("stands, and is told, when a new release asks for the same images besides others that bring nothing, and its version is reported", func(ctx SpecContext) {
		images := push(ctx, newProvider("alpha"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		operator := operate(harness.OperatorOptions{Release: "4.22.0"})
		installed(ctx, 1)
		until(ctx, "the release to be reported", finished, reports("4.22.0"))
		Expect(admin().run(ctx, 0, "pin", "--for", "1h", "--reason", "tried elsewhere first", "--yes")).To(ContainSubstring("Pinned to revision 1 until "))
		until(ctx, "the pin to be told", says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1 by an-administrator", "(the list of images asks for the same)"))
		release(ctx, newProvider("alpha").with(configMap("comes", "two")))
		until(ctx, "the pin to be told", says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1 by an-administrator"), func(v harness.View) error {
			if says("Upgradeable", "False", "WaitingOnExternal", "(the list of images")(v) == nil {
				return errors.New("the list is said to ask for the same")
			}
			return nil
		})
		Expect(operator.Stop()).To(Succeed())

		images["other"] = pushFiles(ctx, "another", map[string][]byte{"README": []byte("this is another image")})
		Expect(env.SetImages(ctx, images)).To(Succeed())
		operate(harness.OperatorOptions{Release: "4.22.1"})
		v := until(ctx, "the new release to be reported", harness.Settled(1), reports("4.22.1"),
			says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1 by an-administrator", "(the list of images asks for the same)"))
		Expect(v.Current()).To(HavePrefix("4.22.0-"))
		Expect(admin().run(ctx, 0, "unpin", "--yes")).To(ContainSubstring("Nothing is pinned any more."))
		until(ctx, "nothing to be listed anew", harness.Settled(1), reports("4.22.1"), says("Upgradeable", "True", "AsExpected"))
	})

	It("is of images alone: another TLS profile, an unmanaged definition and another platform count meanwhile, and another minor release ends it", func(ctx SpecContext) {
		images := pushed(ctx, "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		judge(ctx)
		operator := operate(harness.OperatorOptions{Release: "4.22.0", SteeredClock: true})
		DeferCleanup(advancing(operator))
		installed(ctx, 1)
		pinTo(ctx, 1, env.Now(), "until: "+env.Now().UTC().Add(24*time.Hour).Format(time.RFC3339)+"\n")
		listed := pushed(ctx, "two")
		Expect(env.SetImages(ctx, listed)).To(Succeed())
		until(ctx, "the pin to hold", harness.Settled(1), says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1"))
		stays := func(number int64, where, tls string) {
			GinkgoHelper()
			v := installed(ctx, number)
			Expect(imageOf(v)).To(Equal(only(images)))
			Expect(v.Current()).To(HavePrefix("4.22.0-"))
			Expect(setting(ctx, configMap("where", ""))).To(Equal(where))
			Expect(setting(ctx, configMap("tls", ""))).To(Equal(tls))
			until(ctx, "the pin to stand", says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1"))
		}

		By("another TLS profile")
		profile := &configv1.APIServer{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
		profile.Spec.TLSSecurityProfile = &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}}
		Expect(env.Client.Create(ctx, profile)).To(Succeed())
		stays(2, "AWS one", "VersionTLS13")

		By("a definition that is not managed any more")
		unmanage(ctx, "alphas.test.cluster.x-k8s.io")
		stays(3, "AWS one", "VersionTLS13")

		By("another platform")
		Expect(env.SetPlatform(ctx, configv1.AzurePlatformType)).To(Succeed())
		stays(4, "Azure one", "VersionTLS13")

		By("another minor release")
		Expect(operator.Stop()).To(Succeed())
		operate(harness.OperatorOptions{Release: "4.23.0", SteeredClock: true})
		v := installed(ctx, 5)
		Expect(imageOf(v)).To(Equal(only(listed)))
		Expect(setting(ctx, configMap("where", ""))).To(Equal("Azure two"))
		Expect(admin().run(ctx, 0, "status")).To(MatchRegexp(`pin to revision 1 by .*\(ended with another minor release`))
		until(ctx, "upgrades to be allowed again", says("Upgradeable", "True", "AsExpected"))
	})

	It("is taken back by a command, and one to what was never installed is void and told", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		pinTo(ctx, 7, time.Now(), "until: "+time.Now().UTC().Add(time.Hour).Format(time.RFC3339)+"\n")
		until(ctx, "it to be told", says("InstallerControllerProgressing", "False", "AsExpected", "the history does not have revision 7 as installed"), says("Upgradeable", "True", "AsExpected"))
		Expect(admin().run(ctx, 0, "pin", "--for", "1h", "--reason", "r", "--yes")).To(ContainSubstring("It takes the place of the one by "))
		hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		until(ctx, "the pin to hold", inState(harness.Installed), says("Upgradeable", "False", "WaitingOnExternal", "pin to revision 1"))
		Expect(admin().run(ctx, 0, "unpin", "--yes")).To(And(ContainSubstring("End the pin to revision 1 by an-administrator"), ContainSubstring("Nothing is pinned any more."), ContainSubstring("capstan rollback 1 --reason ")))
		until(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(admin().run(ctx, codeFailed, "pin", "--for", "1h", "--reason", "r", "--yes")).To(ContainSubstring("to pin revision 1 is a rollback"))
		Expect(admin().run(ctx, 0, "unpin", "--yes")).To(ContainSubstring("Nothing to do"))
	})
})

// pushed is one image with a profile for each of two platforms.
func pushed(ctx context.Context, content string) map[string]string {
	GinkgoHelper()
	files := map[string][]byte{}
	for _, platform := range []string{"AWS", "Azure"} {
		p := newProvider("alpha").on(platform).with(configMap("where", platform+" "+content), configMap("tls", "${TLS_MIN_VERSION}"))
		for name, content := range p.files() {
			files[strings.Replace(name, "/default/", "/"+strings.ToLower(platform)+"/", 1)] = content
		}
	}
	return map[string]string{"alpha": pushFiles(ctx, "alpha", files)}
}

// pinTo asks for a pin from a moment on as whoever the suite is, with a line of its end, or none, and items behind its number.
func pinTo(ctx context.Context, number int, at time.Time, until string, items ...string) {
	GinkgoHelper()
	review := &authenticationv1.SelfSubjectReview{}
	Expect(env.Client.Create(ctx, review)).To(Succeed())
	head := fmt.Sprintf("by: %s\nat: %s\n%sreason: tried by hand\nrevision: %d", review.Status.UserInfo.Username, at.UTC().Format(time.RFC3339), until, number)
	annotate(ctx, pinAnnotation, strings.Join(append([]string{head}, items...), "\n"))
}
