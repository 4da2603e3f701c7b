package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

var _ = Describe("A record that somebody forged in the middle of an upgrade", func() {
	It("opens no gate, whatever state it tells and whether or not the operator runs", func(ctx SpecContext) {
		u := beginGated(ctx)
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		old := until(ctx, "the record of the installation", finished).ClusterOperator.Status.Extension
		u.ask(ctx, 2)
		u.isHeld(ctx, 1, 2)
		forgeries := []forgery{
			{"an old record", func(s *configv1.ClusterOperatorStatus) { s.Extension = old }},
		}
		for _, state := range []string{harness.Installed, harness.Pruning, harness.Planning, harness.WaitingOnInfra, harness.MaxRevisions} {
			forgeries = append(forgeries, forgery{"state " + state, recordSays(func(r map[string]any) { r["state"] = state })})
		}
		for _, from := range []string{harness.Installed, harness.Pruning} {
			forgeries = append(forgeries, forgery{"state Degraded that came from " + from, recordSays(func(r map[string]any) {
				r["state"], r["cameFrom"], r["lastEvent"] = harness.Degraded, from, "FailureEstablished"
			})})
		}
		for i, f := range forgeries {
			if i < 3 {
				By(f.what + ", while the operator runs")
				edit(ctx, f.forge)
				u.isHeld(ctx, 1, 2)
			}
			By(f.what + ", while it does not")
			operator.Kill()
			edit(ctx, f.forge)
			operator = operate(harness.OperatorOptions{SteeredClock: true})
			eventually(ctx, "the new operator to work", leads(operator))
			u.isHeld(ctx, 1, 2)
		}

		By("a stall with more progress than there can be, which lasts until the rollout is over")
		edit(ctx, recordSays(func(r map[string]any) {
			r["state"], r["cameFrom"], r["lastEvent"] = harness.Degraded, harness.Applying, "ProgressStalled"
			entry, is := r["entry"].(map[string]any)
			Expect(is).To(BeTrue())
			entry["done"] = 1000
		}))
		until(ctx, "the stall to be told", inState(harness.Degraded), says("Degraded", "True", "EphemeralError"))
		u.keepsGates(ctx, 1)
		u.converges(ctx, 2)
	})
})

var _ = Describe("An operator that ends while the stored state is Pruning and a newer revision is listed", func() {
	for name, end := range map[string]func(*harness.Operator){
		"by SIGKILL": func(o *harness.Operator) { o.Kill() },
		"by SIGTERM": func(o *harness.Operator) { Expect(o.Stop()).To(Succeed()) },
	} {
		It(name+" opens no gate", func(ctx SpecContext) {
			config, err := env.OperatorConfig()
			Expect(err).NotTo(HaveOccurred())
			between, err := proxy.Start(config)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func() { Expect(between.Stop()).To(Succeed()) })

			u := beginGated(ctx)
			u.free(2)
			operator := operate(harness.OperatorOptions{Through: between.URL(), SteeredClock: true})
			installed(ctx, 1)
			patch(ctx, configMap("goes", ""), `{"metadata":{"finalizers":["test.cluster.x-k8s.io/hold"]}}`)
			u.ask(ctx, 2)
			soon(ctx, "Pruning to wait for the finalizer", inState(harness.Pruning), says("Progressing", "True", "Progressing", "test.cluster.x-k8s.io/hold"))

			// The record stays behind, as it does for a moment whenever the machine moves.
			behind := between.Add(proxy.Rule{Verb: "patch", Resource: "clusteroperators", Fault: proxy.Hang})
			u.ask(ctx, 3)
			v := until(ctx, "revision 3 to be listed", listed(3))
			end(operator)
			behind.End()
			Expect(v.Record.State).To(Equal(harness.Pruning))
			u.keepsGates(ctx, 2)

			operate(harness.OperatorOptions{SteeredClock: true})
			u.isHeld(ctx, 2, 3)
			patch(ctx, configMap("goes", ""), `{"metadata":{"finalizers":null}}`)
			u.converges(ctx, 3)
		})
	}
})

var _ = Describe("A revision's number that somebody raised on the objects of the last wave while the operator was away", func() {
	It("opens no gate of the next revision", func(ctx SpecContext) {
		u := beginGated(ctx)
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		operator.Kill()
		patch(ctx, gatedRelease(1).find("ValidatingWebhookConfiguration", "alpha"),
			fmt.Sprintf(`{"metadata":{"annotations":{%q:"99"}}}`, harness.RevisionAnnotation))
		u.ask(ctx, 2)
		operate(harness.OperatorOptions{SteeredClock: true})
		soon(ctx, "the upgrade to wait for the Deployment", stuckOn("Deployment openshift-cluster-api/alpha"))
		u.hook(ctx, 1)
		u.converges(ctx, 2)
	})
})

// gated is a provider in three releases. The pods of the second and the third
// are held, and the webhook configuration that differs in each comes after them.
// Release 1 has ConfigMap goes, and release 2 ConfigMap only-two, alone.
type gated struct {
	release map[int64]func()
}

func beginGated(ctx context.Context) *gated {
	GinkgoHelper()
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, gatedRelease(1))})
	return &gated{release: map[int64]func(){2: hold(ctx, "v2"), 3: hold(ctx, "v3")}}
}

func gatedRelease(number int64) *provider {
	version := fmt.Sprintf("v%d", number)
	p := newProvider("alpha").running(version).set("ValidatingWebhookConfiguration", "alpha", version, "metadata", "labels", "release")
	switch number {
	case 1:
		p.with(configMap("goes", version))
	case 2:
		p.with(configMap("only-two", version))
	}
	return p
}

// ask lets a release be wanted.
func (u *gated) ask(ctx context.Context, number int64) {
	GinkgoHelper()
	release(ctx, gatedRelease(number))
}

// free lets the pods of a release become Ready.
func (u *gated) free(number int64) { u.release[number]() }

// isHeld waits until the upgrade from one revision to another waits for its Deployment.
func (u *gated) isHeld(ctx context.Context, from, to int64) {
	GinkgoHelper()
	soon(ctx, "the upgrade to wait for the Deployment", stuckOn("Deployment openshift-cluster-api/alpha"), func(v harness.View) error {
		if revision := v.Revision(string(v.ClusterAPI.Status.DesiredRevision)); revision == nil || revision.Revision != to {
			return fmt.Errorf("the desired revision is %q", v.ClusterAPI.Status.DesiredRevision)
		}
		return nil
	})
	u.keepsGates(ctx, from)
}

// keepsGates sees that nothing was done that only follows when the Deployment is
// there: the webhook configuration is the current revision's, which is current
// still, and nothing of it was pruned.
func (u *gated) keepsGates(ctx context.Context, number int64) {
	GinkgoHelper()
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	Expect(current(v, number)).To(Succeed())
	Expect(u.hook(ctx, number).GetAnnotations()).To(HaveKeyWithValue(harness.RevisionAnnotation, fmt.Sprint(number)))
	only := map[int64]string{1: "goes", 2: "only-two"}[number]
	uids(ctx, configMap(only, ""))
}

// hook is the webhook configuration, which must be that of a release.
func (u *gated) hook(ctx context.Context, number int64) *unstructured.Unstructured {
	GinkgoHelper()
	found := fetched(ctx, gatedRelease(number).find("ValidatingWebhookConfiguration", "alpha"))
	Expect(found.GetLabels()).To(HaveKeyWithValue("release", fmt.Sprintf("v%d", number)))
	return found
}

// converges frees the Deployment and sees the release installed.
func (u *gated) converges(ctx context.Context, number int64) {
	GinkgoHelper()
	u.free(number)
	v := installed(ctx, number)
	Expect(v.Revisions()[0].Revision).To(Equal(number))
	until(ctx, "the conditions of a finished installation", finished)
	Expect(u.hook(ctx, number).GetAnnotations()).To(HaveKeyWithValue(harness.RevisionAnnotation, fmt.Sprint(number)))
	expectGone(ctx, configMap("goes", ""))
	Expect(inventories(ctx)).To(Equal([]string{fmt.Sprintf("capstan-inventory-%d", number)}))
}

// forgery is what somebody does to the ClusterOperator's status.
type forgery struct {
	what  string
	forge func(*configv1.ClusterOperatorStatus)
}

// recordSays changes the machine's record.
func recordSays(change func(map[string]any)) func(*configv1.ClusterOperatorStatus) {
	return func(s *configv1.ClusterOperatorStatus) {
		GinkgoHelper()
		extension := map[string]map[string]any{}
		Expect(json.Unmarshal(s.Extension.Raw, &extension)).To(Succeed())
		change(extension["clusterapi"])
		raw, err := json.Marshal(extension)
		Expect(err).NotTo(HaveOccurred())
		s.Extension.Raw = raw
	}
}
