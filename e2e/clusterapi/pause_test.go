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
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// pauseAnnotation is the act that pauses.
const pauseAnnotation = "capi-operator.openshift.io/pause"

var _ = Describe("A pause", func() {
	It("is asked for by a command, survives a restart, lets nothing be written but what is told, and all is done after the end", func(ctx SpecContext) {
		alpha, deleted := newProvider("alpha"), configMap("deleted", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(deleted))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)

		pause := []string{"pause", "--for", "1h", "--reason", "etcd is being moved"}
		Expect(admin().run(ctx, codeFailed, pause...)).To(And(
			ContainSubstring("Pause what Capstan does to Cluster API until "), ContainSubstring("nobody sits at a terminal who could be asked")))
		Expect(admin().run(ctx, 0, append(pause, "--dry-run")...)).To(ContainSubstring("Nothing was changed."))
		Expect(admin().run(ctx, codeFailed, "pause", "--for", "25h", "--reason", "r", "--yes")).To(ContainSubstring("--for is 25h0m0s"))
		until(ctx, "nothing to be paused", inState(harness.Installed))

		told := struct {
			By              string
			Done, Confirmed bool
			Undo            string
		}{}
		Expect(json.Unmarshal([]byte(admin().run(ctx, 0, append(pause, "--yes", "-o", "json")...)), &told)).To(Succeed())
		Expect(told.By).To(Equal("an-administrator"))
		Expect(told.Done && told.Confirmed).To(BeTrue())
		Expect(told.Undo).To(Equal("capstan resume"))

		since := mark(ctx)
		changed := fetched(ctx, configMap("alpha", "one"))
		Expect(env.Client.Patch(ctx, changed, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"setting":"edited"}}`)), administrator)).To(Succeed())
		Expect(env.Client.Delete(ctx, deleted.DeepCopy())).To(Succeed())
		release(ctx, alpha.with(deleted, configMap("new", "one")))
		until(ctx, "all of that to be told", inState(harness.Paused), differs("ConfigMap openshift-cluster-api/alpha", "ConfigMap openshift-cluster-api/deleted"),
			says("Progressing", "False", "WaitingOnExternal", "pause by an-administrator", "etcd is being moved", "the inputs ask for content"),
			says("Upgradeable", "False", "WaitingOnExternal", "pause by an-administrator"), says("Available", "True", "AsExpected"), says("Degraded", "False", "AsExpected"))
		Expect(admin().run(ctx, codeOnItsWay, "status", "--exit-code")).To(And(
			ContainSubstring("State:      Paused since "), ContainSubstring("pause by an-administrator since "), ContainSubstring(".data.setting")))
		Expect(admin().run(ctx, 0, "explain")).To(And(ContainSubstring("--PauseAsked--> Paused"), ContainSubstring("PauseEnded leads to WaitingOnInfra")))

		operator.Kill()
		operate(harness.OperatorOptions{})
		began := mark(ctx)
		Expect(admin().run(ctx, 0, "retry", "--yes")).To(ContainSubstring("It is paused by an-administrator until "))
		eventually(ctx, "the operator that was started to look", func(ctx context.Context) error {
			if len(requests(ctx, began)) == 0 {
				return errors.New("it has sent nothing")
			}
			return nil
		})
		until(ctx, "it to be paused still", inState(harness.Paused), differs("ConfigMap openshift-cluster-api/alpha"))
		wroteOnlyItsReport(ctx, since)

		Expect(admin().run(ctx, 0, "resume", "--yes")).To(And(
			ContainSubstring("End the pause by an-administrator since"), ContainSubstring("Nothing is paused any more."), ContainSubstring("--reason 'etcd is being moved'")))
		installed(ctx, 2)
		Expect(fetched(ctx, configMap("alpha", "one")).Object).To(HaveKeyWithValue("data", HaveKeyWithValue("setting", "one")))
		uids(ctx, deleted, configMap("new", "one"))
		Expect(admin().run(ctx, 0, "resume", "--yes")).To(ContainSubstring("Nothing to do"))
	})

	It("of a rollout ends by its time, with nobody there, and one that comes from ahead is void and told", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		free := hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two"))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))

		pauseFrom(ctx, env.Now().Add(10*time.Minute))
		until(ctx, "the act to be told as void", inState(harness.Applying), says("InstallerControllerProgressing", "True", "Progressing", "more than a minute ahead"))
		pauseFrom(ctx, env.Now())
		until(ctx, "it to be paused", inState(harness.Paused), says("Progressing", "False", "WaitingOnExternal"))
		since := mark(ctx)
		free()
		Expect(operator.Advance(30 * time.Minute)).To(Succeed())
		until(ctx, "the pods of the new version to be told, and what would be written now", inState(harness.Paused), says("InstallerControllerProgressing", "False", "WaitingOnExternal",
			"(7 of 8 objects)", "ValidatingWebhookConfiguration alpha is to be written: is at revision 1"))
		wroteOnlyItsReport(ctx, since)
		Expect(operator.Advance(31 * time.Minute)).To(Succeed())
		installed(ctx, 2)
	})

	It("holds while the operator cannot write its report", func(ctx SpecContext) {
		deleted := configMap("deleted", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(deleted))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)
		giveBack := take(ctx, "capstan", "patch", "clusteroperators/status")
		since := mark(ctx)
		pauseFrom(ctx, time.Now())
		unwritten(ctx, since, 1)
		Expect(env.Client.Delete(ctx, deleted.DeepCopy())).To(Succeed())
		unwritten(ctx, mark(ctx), 2)
		wroteOnlyItsReport(ctx, since)
		expectGone(ctx, deleted)
		giveBack(ctx)
		until(ctx, "it to be told", inState(harness.Paused))
		annotateAway(ctx, pauseAnnotation)
		appears(ctx, deleted)
		installed(ctx, 1)
	})

	It("is refused by the API server itself to whom has no right to it, or says to be somebody else", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType})
		mallory, anna := userOf(ctx, "mallory"), userOf(ctx, "anna", "pause")
		set := func(c client.Client, text string) error {
			api := &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
			merge := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, pauseAnnotation, text)
			return c.Patch(ctx, api, client.RawPatch("application/merge-patch+json", []byte(merge)), client.DryRunAll)
		}
		Eventually(ctx, func() error { return set(mallory, act("mallory", time.Now())) }).WithTimeout(patience).Should(
			refusal("capstan-acts", "takes the verb pause on clusterapis.operator.openshift.io cluster"))
		Expect(set(anna, act("mallory", time.Now()))).To(refusal("capstan-acts", "is not an act of anna within its limits"))
		Expect(set(anna, strings.Replace(act("anna", time.Now()), "reason", "because", 1))).To(refusal("capstan-acts", "is not an act of anna within its limits"))
		Expect(set(anna, act("anna", time.Now()))).To(Succeed())
		pauseFrom(ctx, time.Now())
		Expect(set(mallory, "")).To(refusal("capstan-acts", "takes the verb pause"))

		bind(ctx, "capstan-operate", "operator")
		Expect(as("operator").run(ctx, 0, "resume", "--dry-run")).To(ContainSubstring("Nothing was changed."))
		Expect(as("operator").run(ctx, codeFailed, "pause", "--for", "1m", "--reason", "r", "--yes", "--timeout", "1s")).To(ContainSubstring("no operator runs"))
		bind(ctx, "capstan-view", "viewer")
		Expect(as("viewer").run(ctx, codeOnItsWay, "status", "--exit-code")).To(ContainSubstring("not known"))
		Expect(as("viewer").run(ctx, codeFailed, "resume", "--yes")).To(ContainSubstring("not allowed to patch ClusterAPI cluster"))
	})
})

// act is a pause of an hour, by a user and from a moment on.
func act(by string, at time.Time) string {
	at = at.UTC().Truncate(time.Second)
	return fmt.Sprintf("by: %s\nat: %s\nuntil: %s\nreason: etcd is being moved", by, at.Format(time.RFC3339), at.Add(time.Hour).Format(time.RFC3339))
}

// pauseFrom pauses for an hour from a moment on, as whoever the suite is.
func pauseFrom(ctx context.Context, at time.Time) {
	GinkgoHelper()
	annotate(ctx, pauseAnnotation, act(me(ctx), at))
}

// me is whoever the suite is.
func me(ctx context.Context) string {
	GinkgoHelper()
	review := &authenticationv1.SelfSubjectReview{}
	Expect(env.Client.Create(ctx, review)).To(Succeed())
	return review.Status.UserInfo.Username
}

// annotateAway takes an annotation off the ClusterAPI.
func annotateAway(ctx context.Context, name string) {
	GinkgoHelper()
	api := &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}}
	Expect(env.Client.Patch(ctx, api, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, name)), administrator)).To(Succeed())
}

// differs is the question whether all of these objects are told as not being as they should be.
func differs(objects ...string) func(harness.View) error {
	return func(v harness.View) error {
		var detail struct {
			Detail struct{ Differs []string } `json:"clusterapiDetail"`
		}
		if err := json.Unmarshal(v.ClusterOperator.Status.Extension.Raw, &detail); err != nil {
			return err
		}
		for _, object := range objects {
			if !strings.Contains(strings.Join(detail.Detail.Differs, "\n"), object) {
				return fmt.Errorf("%s is not told among %q", object, detail.Detail.Differs)
			}
		}
		return nil
	}
}

// wroteOnlyItsReport says that the operator has written nothing since but what it tells, and has tried nothing.
func wroteOnlyItsReport(ctx context.Context, since cluster.Mark) {
	GinkgoHelper()
	sent := requests(ctx, since).Where(func(r cluster.Request) bool { return r.IsWrite() || r.DryRun })
	for _, r := range unrecorded(sent) {
		Expect(r.Resource+"/"+r.Subresource).To(BeElementOf("clusteroperators/status", "events/"), r.String())
	}
}

// unwritten waits until the operator was refused to write its report, so many times since a mark.
func unwritten(ctx context.Context, since cluster.Mark, times int) {
	GinkgoHelper()
	eventually(ctx, fmt.Sprintf("%d reports that cannot be written", times), func(ctx context.Context) error {
		refused := requests(ctx, since).Where(func(r cluster.Request) bool { return r.Resource == "clusteroperators" && r.Unauthorized })
		if len(refused) < times {
			return fmt.Errorf("%d were refused", len(refused))
		}
		return nil
	})
}

// bind gives a user a ClusterRole of deploy, until the spec ends.
func bind(ctx context.Context, role, user string) {
	GinkgoHelper()
	bound := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "pause-" + user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	Expect(env.Client.Create(ctx, bound)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, bound)).To(Succeed()) }, NodeTimeout(patience))
}
