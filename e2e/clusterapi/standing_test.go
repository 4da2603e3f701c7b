package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("An update of a definition that would lose data", func() {
	It("is refused with the instances counted, blocks upgrades, and is made when they are gone", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		definition := gamma.objects[0]
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, gamma)})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		first := installed(ctx, 1)
		Expect(env.Client.Create(ctx, custom("gamma", "mine"), administrator)).To(Succeed())
		before := fetched(ctx, definition)

		release(ctx, narrowed(newProvider("gamma").at(30)))
		v := until(ctx, "the update to be refused", inState(harness.Applying),
			says("InstallerControllerProgressing", "True", "EphemeralError", definition.GetName(), "is refused", "1 instance in 1 namespace (kubectl get gammas.v1.test.cluster.x-k8s.io -A -o yaml)", "Degraded at"),
			says("Upgradeable", "False", "EphemeralError", definition.GetName(), "is refused", "1 instance in 1 namespace"),
			says("Available", "True", "AsExpected"), says("Degraded", "False", "AsExpected"))
		Expect(v.Current()).To(Equal(first.Current()))
		until(ctx, "an Event of it", func(harness.View) error { return announced(ctx, "Refused", definition.GetName()) })
		Expect(field(fetched(ctx, definition), "spec")).To(Equal(field(before, "spec")))

		Expect(env.Client.Delete(ctx, custom("gamma", "mine"))).To(Succeed())
		Expect(operator.Advance(31 * time.Second)).To(Succeed()) // instances are asked for every 30 s
		installed(ctx, 2)
		Expect(fetched(ctx, definition).GetUID()).To(Equal(before.GetUID()))
		until(ctx, "the conditions of a finished installation", finished)
	})
})

var _ = Describe("A field that somebody else keeps changing", func() {
	It("is told with who it is, and written less and less often", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)
		contest(ctx)
		since := mark(ctx)
		for range 20 {
			Expect(interfere(ctx)).To(Succeed())
		}
		until(ctx, "the conditions to stay", says("Degraded", "False", "AsExpected"), says("Available", "True", "AsExpected"), says("Upgradeable", "True", "AsExpected"))
		written := requests(ctx, since).Where(func(r cluster.Request) bool {
			return r.Resource == "configmaps" && r.Name == "alpha" && r.Verb == "patch" && !r.DryRun
		})
		Expect(len(written)).To(BeNumerically("<=", 1), written.String())
	})

	It("is told of the current revision also while a newer one is listed that cannot be rendered", func(ctx SpecContext) {
		alpha := push(ctx, newProvider("alpha"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: alpha})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(env.SetImages(ctx, map[string]string{"alpha": "registry.example/alpha:latest"})).To(Succeed())
		until(ctx, "the inputs to be refused", inState(harness.Degraded))
		status(ctx, func(s *operatorv1alpha1.ClusterAPIStatus) {
			made := *s.Revisions[0].DeepCopy()
			made.Name, made.Revision, made.ContentID = "4.22.0-0badc0de-2", 2, strings.Repeat("0badc0de", 8)
			s.Revisions = append(s.Revisions, made)
			s.DesiredRevision = made.Name
		})
		contest(ctx)
		until(ctx, "the detail of it", func(v harness.View) error {
			if told := fmt.Sprint(detail(v)["contested"]); !strings.Contains(told, "rival") {
				return fmt.Errorf("it is told as contested that %s", told)
			}
			return nil
		})

		Expect(operator.Stop()).To(Succeed())
		operate(harness.OperatorOptions{})
		until(ctx, "the contest to be forgotten, as nobody contests any more", func(v harness.View) error {
			if told, still := detail(v)["contested"]; still {
				return fmt.Errorf("it is told as contested that %v", told)
			}
			return nil
		})
		Expect(env.SetImages(ctx, alpha)).To(Succeed())
		installed(ctx, 3)
	})
})

var _ = Describe("Events", func() {
	It("tell every transition, and a quick installation in one", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		since := mark(ctx)
		operate(harness.OperatorOptions{})
		v := installed(ctx, 1)
		until(ctx, "the Event", func(harness.View) error { return announced(ctx, harness.Installed, "Installed "+v.Current()) })
		list := events(ctx)
		Expect(list).To(HaveLen(1))
		for _, transition := range v.Record.Transitions {
			Expect(list[0].Note).To(ContainSubstring("--%s--> %s", transition.Event, transition.To))
		}
		Expect(requests(ctx, since).Where(func(r cluster.Request) bool { return r.Resource == "events" })).To(HaveLen(1))
	})

	It("tell once what stands, also when the operator is started anew", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(configMap("shared", "ours")))})
		Expect(env.Client.Create(ctx, configMap("shared", "foreign"), administrator)).To(Succeed())
		operator := operate(harness.OperatorOptions{})
		until(ctx, "the Event", func(harness.View) error { return announced(ctx, "Collision", "field manager administrator") })
		before := len(events(ctx))
		Expect(operator.Stop()).To(Succeed())
		operate(harness.OperatorOptions{})
		Expect(env.Client.Delete(ctx, configMap("shared", ""))).To(Succeed())
		installed(ctx, 1)
		until(ctx, "the Event of the installation", func(harness.View) error { return announced(ctx, harness.Installed, "RevisionApplied") })
		for _, event := range events(ctx)[before:] {
			Expect(event.Reason).NotTo(Equal("Collision"))
		}
	})
})

var _ = Describe("An Event that comes again", func() {
	It("is counted on the first one", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		all := &eventsv1.EventList{}
		Expect(env.Client.List(ctx, all, client.InNamespace("default"))).To(Succeed())
		before := map[string]bool{}
		for _, event := range all.Items {
			before[event.Name] = true
		}
		told := func(times int32) {
			GinkgoHelper()
			Expect(env.Client.Delete(ctx, &operatorv1alpha1.ClusterAPI{ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton}})).To(Succeed())
			until(ctx, "the loss to be told", inState(harness.WaitingOnInfra))
			eventually(ctx, fmt.Sprintf("an Event to tell it %d times", times), func(ctx context.Context) error {
				if err := env.Client.List(ctx, all, client.InNamespace("default")); err != nil {
					return err
				}
				for _, event := range all.Items {
					counted := event.Series == nil && times == 1 || event.Series != nil && event.Series.Count == times
					if !before[event.Name] && event.Reason == harness.WaitingOnInfra && counted {
						return nil
					}
				}
				return errors.New("there is none")
			})
		}
		told(1)
		Expect(env.CreateClusterAPI(ctx)).To(Succeed())
		until(ctx, "the way back", inState(harness.Installed))
		Expect(operator.Advance(11 * time.Minute)).To(Succeed()) // counts are written every ten minutes
		told(2)
	})
})

var _ = Describe("A workload that does not come up", func() {
	It("is told with what its pods suffer from, once it is late", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		crashing := map[string]string{"version": "one"}
		Expect(env.Cluster.CrashPods(ctx, crashing)).To(Succeed())
		since := mark(ctx)
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		soon(ctx, "the message to name the Deployment", stuckOn("Deployment openshift-cluster-api/alpha: 0/1 updated replicas available"))
		looked := func() cluster.RequestList {
			return requests(ctx, since).Where(func(r cluster.Request) bool { return r.Resource == "pods" })
		}
		Expect(looked()).To(BeEmpty(), "nothing is late yet")

		Expect(operator.Advance(31 * time.Second)).To(Succeed())
		v := until(ctx, "the message to name the pod", stuckOn("is CrashLoopBackOff (exit 1, 5 restarts)"))
		Expect(len(looked())).To(BeNumerically("<=", 2), looked().String())
		line := v.Condition("InstallerControllerProgressing").Message
		Expect(line).To(HavePrefix("Applying "))
		Expect(detail(v)).To(HaveKeyWithValue("waits", line))
		Expect(os.ReadFile(operator.Log)).To(ContainSubstring(line))

		for range 12 {
			Expect(operator.Advance(30 * time.Second)).To(Succeed())
		}
		until(ctx, "the machine to give up", inState(harness.Degraded), says("Degraded", "True", "EphemeralError", "CrashLoopBackOff"))
		until(ctx, "the Event to say the same", func(harness.View) error {
			return announced(ctx, harness.Degraded, "is CrashLoopBackOff (exit 1, 5 restarts)")
		})

		Expect(env.Cluster.ReleasePods(ctx, crashing)).To(Succeed())
		installed(ctx, 1)
	})

	It("is told with the quota that keeps its pods from being made", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		quota := object(fmt.Sprintf("{apiVersion: v1, kind: ResourceQuota, metadata: {name: tiny, namespace: %s}, spec: {hard: {pods: \"0\"}}}", harness.CAPINamespace))
		Expect(env.Client.Create(ctx, quota.DeepCopy(), administrator)).To(Succeed())
		eventually(ctx, "the quota to be enforced", func(ctx context.Context) error {
			if hard := field(fetched(ctx, quota), "status", "hard"); hard == nil {
				return errors.New("it has no status")
			}
			return nil
		})
		operator := operate(harness.OperatorOptions{SteeredClock: true})
		soon(ctx, "the message to name the Deployment", stuckOn("Deployment openshift-cluster-api/alpha"))
		Expect(operator.Advance(31 * time.Second)).To(Succeed())
		until(ctx, "the message to name the quota", stuckOn("its pods cannot be made: "), says("Progressing", "True", "Progressing", "exceeded quota: tiny"))
		Expect(env.Client.Delete(ctx, quota)).To(Succeed())
		Expect(env.Client.Delete(ctx, newProvider("alpha").find("Deployment", "alpha"))).To(Succeed()) // its controller would try again in minutes
		installed(ctx, 1)
	})
})

var _ = Describe("Metrics", func() {
	It("count what stands and what was done", func(ctx SpecContext) {
		gamma := newProvider("gamma").at(30)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), gamma)})
		metrics, err := env.NewMetrics()
		Expect(err).NotTo(HaveOccurred())
		operate(harness.OperatorOptions{Arguments: metrics.Arguments()})
		installed(ctx, 1)
		Expect(env.Client.Create(ctx, custom("gamma", "mine"), administrator)).To(Succeed())
		release(ctx, newProvider("alpha"))
		installed(ctx, 2)
		eventually(ctx, "the metrics", func(ctx context.Context) error {
			text, err := metrics.Text(ctx)
			for _, want := range []string{
				`capstan_machine_state{machine="clusterapi",state="Installed"} 1`, `capstan_standing{what="retained"} 1`, `capstan_standing{what="collision"} 0`,
				`capstan_objects{which="all"} 8`, `capstan_objects{which="done"} 8`, `capstan_object_actions_total{action="Created"} 16`,
				`capstan_object_actions_total{action="Deleted"} 7`, `capstan_machine_state_seconds_count{machine="clusterapi",state="Applying"} 2`,
			} {
				if !strings.Contains(text, want+"\n") {
					err = errors.Join(err, fmt.Errorf("there is no %s", want))
				}
			}
			if !strings.Contains(text, `rest_client_requests_total{code="200"`) {
				err = errors.Join(err, errors.New("the API server's answers are not counted, and so not its 429s"))
			}
			return err
		})
	})
})

const rival = client.FieldOwner("rival")

// interfere changes a field of ConfigMap alpha as the rival.
func interfere(ctx context.Context) error {
	merge := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"setting":"rival"}}`))
	return env.Client.Patch(ctx, configMap("alpha", ""), merge, rival)
}

// contest interferes until it is told, in the condition of what is kept and by an Event.
func contest(ctx context.Context) {
	GinkgoHelper()
	eventually(ctx, "the contest to be told", func(ctx context.Context) error {
		v, err := harness.See(ctx, env.Client)
		if err == nil {
			err = says("InstallerControllerProgressing", "False", "AsExpected", "field manager rival", "ConfigMap openshift-cluster-api/alpha")(v)
		}
		if err == nil {
			return nil
		}
		return errors.Join(err, interfere(ctx))
	})
	until(ctx, "an Event of it", func(harness.View) error { return announced(ctx, "Contested", "rival") })
}

// narrowed gives a provider's definition a schema that has no place for what its
// custom resources hold.
func narrowed(p *provider) *provider {
	GinkgoHelper()
	definition := p.objects[0]
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	versions[0].(map[string]any)["schema"] = map[string]any{"openAPIV3Schema": map[string]any{
		"type": "object", "properties": map[string]any{"spec": map[string]any{
			"type": "object", "properties": map[string]any{"other": map[string]any{"type": "string"}},
		}},
	}}
	Expect(unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")).To(Succeed())
	return p
}

// events are those about this world's ClusterAPI, the oldest first.
func events(ctx context.Context) []eventsv1.Event {
	GinkgoHelper()
	v, err := harness.See(ctx, env.Client)
	Expect(err).NotTo(HaveOccurred())
	all := &eventsv1.EventList{}
	Expect(env.Client.List(ctx, all, client.InNamespace("default"))).To(Succeed())
	var about []eventsv1.Event
	for _, event := range all.Items {
		if event.Regarding.Kind == "ClusterAPI" && event.Regarding.UID == v.ClusterAPI.UID {
			about = append(about, event)
		}
	}
	slices.SortFunc(about, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	return about
}

// announced is nil when there is an Event with this reason and text.
func announced(ctx context.Context, reason, text string) error {
	GinkgoHelper()
	var seen []string
	for _, event := range events(ctx) {
		if event.Reason == reason && strings.Contains(event.Note, text) {
			return nil
		}
		seen = append(seen, event.Reason+": "+event.Note)
	}
	return fmt.Errorf("no Event %s tells %q; there are %q", reason, text, seen)
}
