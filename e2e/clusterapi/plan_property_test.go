package clusterapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// releasesVariable says how many random releases are planned and installed; make test-plan sets it.
const releasesVariable = "PLAN_RELEASES"

// seedVariable repeats a run.
const seedVariable = "PLAN_SEED"

func numberIn(variable string, otherwise int64) int64 {
	number, err := strconv.ParseInt(os.Getenv(variable), 10, 64)
	if err != nil {
		return otherwise
	}
	return number
}

var _ = Describe("What capstan plan says", Label("plan"), func() {
	It("is what happens, whatever the next release brings and finds", func(ctx SpecContext) {
		seed := numberIn(seedVariable, time.Now().UnixNano())
		AddReportEntry("to repeat it", fmt.Sprintf("%s=%d", seedVariable, seed), ReportEntryVisibilityAlways)
		h := newHistory(rand.New(rand.NewPCG(uint64(seed), 0)))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, h.provider())})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		counts := map[string]int{}
		for round := range numberIn(releasesVariable, 10) {
			By(fmt.Sprintf("release %d", round+1))
			h.next(ctx)
			images := push(ctx, h.provider())
			p := admin().anyPlan(ctx, imageFlags(images)...)
			for _, o := range p.all() {
				counts[o.Verdict+" "+o.How]++
				if o.Object.Kind == "Secret" {
					counts["Secret "+o.Verdict+" "+o.How]++
				}
			}
			Expect(fmt.Sprint(p)).NotTo(Or(ContainSubstring(hidden), ContainSubstring(base64.StdEncoding.EncodeToString([]byte(hidden))[:24])))
			before := photograph(ctx, instances)
			Expect(env.SetImages(ctx, images)).To(Succeed())
			switch {
			case h.hazard == nil:
				Expect(p.Stops).To(BeEmpty(), "%s", h.did)
				installed(ctx, p.To.Number)
				cameTrue(ctx, p, before, instances)
				continue
			case h.hazard.later != "":
				refused := h.orElse(ctx, p)
				if counts[fmt.Sprintf("later refused: %t", refused)]++; !refused {
					installed(ctx, p.To.Number)
					cameTrue(ctx, p, before, instances)
				}
			default:
				h.stopped(ctx, p)
			}
			h.recover(ctx)
			Expect(env.SetImages(ctx, push(ctx, h.provider()))).To(Succeed())
			installed(ctx, p.To.Number+1)
		}
		AddReportEntry("what was planned", fmt.Sprint(counts), ReportEntryVisibilityAlways)
	}, NodeTimeout(2*time.Hour))
})

// instances are of the definition that random releases change.
var instances = schema.GroupVersionKind{Group: "test.cluster.x-k8s.io", Version: "v1", Kind: "Alpha"}

// anyPlan runs capstan plan, whatever it answers.
func (c command) anyPlan(ctx context.Context, args ...string) planned {
	GinkgoHelper()
	return c.plan(ctx, codeNothing, append(args, "--exit-code=false")...)
}

// history is a random history of releases, and of what others do between them.
type history struct {
	*rand.Rand
	round    int
	settings map[string]string // of ConfigMaps
	secrets  map[string]string // of Secrets
	fields   map[string]bool   // of the definition's spec
	pods     string            // of the Deployment, which changes with it
	selector string            // which cannot be changed
	together bool              // there is an instance of the definition in the release
	extra    []*unstructured.Unstructured
	taken    *unstructured.Unstructured // what somebody has in the room
	roomed   int                        // the round in which the room has come last
	judging  map[string]int             // the rounds in which judges have come or changed last, by name
	hazard   *hazard
	did      []string
}

// hazard is what the next release must not get over.
type hazard struct {
	stop   string // as the plan calls it
	later  string // what comes with the release and refuses it, where that is no stop
	object string // the name of what is in the way
	undo   func(context.Context)
}

func newHistory(random *rand.Rand) *history {
	return &history{Rand: random, settings: map[string]string{"one": "1", "two": "2"}, secrets: map[string]string{"one": "1"}, fields: map[string]bool{"first": true, "second": true}, pods: "a", selector: "alpha", judging: map[string]int{}}
}

// provider is the release as it is now.
func (h *history) provider() *provider {
	GinkgoHelper()
	p := newProvider("alpha")
	properties := map[string]any{}
	for field := range h.fields {
		properties[field] = map[string]any{"type": "string"}
	}
	p.set("CustomResourceDefinition", "alphas.test.cluster.x-k8s.io", []any{map[string]any{
		"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": properties}},
		}},
	}}, "spec", "versions")
	p.set("Deployment", "alpha", h.selector, "spec", "selector", "matchLabels", "app")
	p.set("Service", "alpha", h.selector, "spec", "selector", "app")
	p.set("Deployment", "alpha", map[string]any{"app": h.selector, "pods": h.pods}, "spec", "template", "metadata", "labels")
	p.set("Deployment", "alpha", map[string]any{"capi-operator.openshift.io/on-immutable-change": "recreate"}, "metadata", "annotations")
	for name, setting := range h.settings {
		p.with(configMap("setting-"+name, setting))
	}
	for name, content := range h.secrets {
		p.with(secret("secret-"+name, content))
	}
	if h.together {
		p.with(alpha("together", "first"))
	}
	return p.with(h.extra...)
}

// secret is one in the namespace of Cluster API, with a key that stays and one that is its content's.
func secret(name, content string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: %s}, data: {key: %q, %q: b25l}}",
		name, harness.CAPINamespace, base64.StdEncoding.EncodeToString([]byte(hidden+content)), "of-"+content))
}

// hidden is in every Secret, and in no plan.
const hidden = "what-nobody-is-to-see-"

func alpha(name, field string) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: test.cluster.x-k8s.io/v1, kind: Alpha, metadata: {name: %s, namespace: %s}, spec: {%s: x}}", name, harness.CAPINamespace, field))
}

// next makes the next release, and does to the cluster what others do.
func (h *history) next(ctx context.Context) {
	h.round++
	h.hazard, h.did = nil, nil
	changes := []func(context.Context){h.setting, h.setting, h.secret, h.secret, h.leaves, h.pod, h.anotherSelector, h.instance, h.widened, h.drift, h.room, h.judges, h.gate}
	for range 1 + h.IntN(4) {
		changes[h.IntN(len(changes))](ctx)
	}
	if hazards := []func(context.Context){h.narrowed, h.foreign, h.denied, h.refusedLater, h.unansweredLater}; h.IntN(2) == 0 {
		hazards[h.IntN(len(hazards))](ctx)
	}
}

func (h *history) note(format string, args ...any) {
	h.did = append(h.did, fmt.Sprintf(format, args...))
}

func (h *history) setting(context.Context) {
	name := string(rune('a' + h.IntN(4)))
	h.settings[name] = strconv.Itoa(h.round)
	h.note("setting %s", name)
}

// secret has a Secret come, change or go.
func (h *history) secret(context.Context) {
	name := string(rune('a' + h.IntN(2)))
	if _, is := h.secrets[name]; is && h.IntN(3) == 0 {
		delete(h.secrets, name)
		h.note("secret %s leaves", name)
		return
	}
	h.secrets[name] = strconv.Itoa(h.round)
	h.note("secret %s", name)
}

func (h *history) leaves(context.Context) {
	for _, name := range []string{"a", "b", "one"} {
		if _, is := h.settings[name]; is && h.IntN(2) == 0 {
			delete(h.settings, name)
			h.note("setting %s leaves", name)
		}
	}
}

func (h *history) pod(context.Context) {
	h.pods = strconv.Itoa(h.round)
	h.note("other pods")
}

func (h *history) anotherSelector(context.Context) {
	h.selector = fmt.Sprintf("alpha-%d", h.round)
	h.note("another selector")
}

func (h *history) instance(context.Context) {
	h.together = !h.together
	h.note("instance %t", h.together)
}

func (h *history) widened(context.Context) {
	h.fields[fmt.Sprintf("more%d", h.round)] = true
	h.note("a field more")
}

// drift has an administrator add a field of his own to one of the settings.
func (h *history) drift(ctx context.Context) {
	GinkgoHelper()
	live := configMap("setting-two", "drifted")
	Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(live), live)).To(Succeed())
	Expect(unstructured.SetNestedField(live.Object, "mine", "data", "mine")).To(Succeed())
	Expect(env.Client.Update(ctx, live, harness.Administrator)).To(Succeed())
	h.note("a field of an administrator")
}

// room is a Namespace that comes and goes, and in which somebody may have something when it goes.
func (h *history) room(ctx context.Context) {
	GinkgoHelper()
	const name = "room"
	if h.roomed == h.round {
		return // it is not there yet
	}
	if h.without(name) {
		if h.IntN(2) == 0 && h.taken == nil {
			h.taken = object("{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: " + name + "}}")
			Expect(env.Client.Create(ctx, h.taken)).To(Succeed())
		}
		h.note("the room goes, and is taken: %t", h.taken != nil)
		return
	}
	h.extra = append(h.extra, object("{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}"))
	h.roomed = h.round
	h.note("the room comes")
}

// narrowed takes a field from the schema that an instance uses.
func (h *history) narrowed(ctx context.Context) {
	GinkgoHelper()
	delete(h.fields, "second")
	user := alpha(fmt.Sprintf("user-%d", h.round), "second")
	Expect(env.Client.Create(ctx, user)).To(Succeed())
	h.note("a schema without what %s uses", user.GetName())
	h.hazard = &hazard{stop: "refuse", object: "alphas.test.cluster.x-k8s.io", undo: func(ctx context.Context) {
		h.fields["second"] = true
		Expect(env.Client.Delete(ctx, user)).To(Succeed())
	}}
}

// foreign has somebody else have an object that the release brings.
func (h *history) foreign(ctx context.Context) {
	GinkgoHelper()
	name := fmt.Sprintf("foreign-%d", h.round)
	Expect(env.Client.Create(ctx, configMap(name, "theirs"))).To(Succeed())
	h.extra = append(h.extra, configMap(name, "ours"))
	h.note("an object of somebody else")
	h.hazard = &hazard{stop: "collide", object: name, undo: func(context.Context) { h.without(name) }}
}

// denied has a policy that names the operator's account refuse an object that the release brings.
func (h *history) denied(ctx context.Context) {
	GinkgoHelper()
	name := fmt.Sprintf("denied-%d", h.round)
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: ptr.To(admissionregistrationv1.Fail),
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			},
		}}},
		MatchConditions: []admissionregistrationv1.MatchCondition{
			{Name: "account", Expression: fmt.Sprintf("request.userInfo.username == 'system:serviceaccount:%s:%s'", harness.OperatorNamespace, harness.ServiceAccount)},
			{Name: "object", Expression: fmt.Sprintf("request.name == '%s'", name)},
		},
		Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "not by this account"}},
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	Expect(env.Client.Create(ctx, policy)).To(Succeed())
	Expect(env.Client.Create(ctx, binding)).To(Succeed())
	h.extra = append(h.extra, configMap(name, "ours"))
	h.note("a policy that names the operator")
	eventually(ctx, "the policy to be in force", func(ctx context.Context) error {
		config, err := env.OperatorConfig()
		if err != nil {
			return err
		}
		operator, err := harness.NewClient(config)
		if err != nil {
			return err
		}
		probe := configMap(name, "probe")
		probe.SetLabels(map[string]string{harness.ManagedByLabel: "alpha"}) // else it is another policy that refuses
		if err := operator.Create(ctx, probe, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "not by this account") {
			return fmt.Errorf("it is not: %w", err)
		}
		return nil
	})
	h.hazard = &hazard{stop: "deny", object: name, undo: func(ctx context.Context) {
		Expect(env.Client.Delete(ctx, binding)).To(Succeed())
		Expect(env.Client.Delete(ctx, policy)).To(Succeed())
		h.without(name)
	}}
}

// without takes an object out of the release, and says whether it was there.
func (h *history) without(name string) bool {
	before := len(h.extra)
	h.extra = slices.DeleteFunc(h.extra, func(o *unstructured.Unstructured) bool { return o.GetName() == name })
	return len(h.extra) < before
}

// stopped expects that the operator tells of the hazard, as the plan did, and installs nothing.
func (h *history) stopped(ctx context.Context, p planned) {
	GinkgoHelper()
	Expect(p.stops()).To(ContainElement(h.hazard.stop), "%s", h.did)
	until(ctx, "the operator to tell of "+h.hazard.object, func(v harness.View) error {
		if text, err := json.Marshal(v.ClusterOperator.Status.Conditions); err != nil || !strings.Contains(string(text), h.hazard.object) {
			return fmt.Errorf("it does not tell of it: %w", err)
		}
		if v.Current() == p.To.Name {
			return fmt.Errorf("%s is installed", p.To.Name)
		}
		return nil
	})
}

// recover takes the hazard out of the way, for the release after.
func (h *history) recover(ctx context.Context) {
	GinkgoHelper()
	h.hazard.undo(ctx)
	h.hazard = nil
}
