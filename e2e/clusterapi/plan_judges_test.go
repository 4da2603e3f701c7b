package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// policyFor is an admission policy about instances of the definition with a label, and what binds it.
func policyFor(name, expression string, label ...string) []*unstructured.Unstructured {
	GinkgoHelper()
	selector := ""
	if len(label) > 0 {
		selector = fmt.Sprintf(`objectSelector: {matchLabels: {%s: %q}}, `, label[0], label[1])
	}
	return []*unstructured.Unstructured{
		object(fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %s}, spec: {failurePolicy: Fail, matchConstraints: {%s
			resourceRules: [{apiGroups: [test.cluster.x-k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [alphas]}]}, validations: [{expression: '%s', message: not by the release}]}}`,
			name, selector, expression)),
		object(fmt.Sprintf("{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: %[1]s}, spec: {policyName: %[1]s, validationActions: [Deny]}}", name)),
	}
}

// webhookFor is a webhook about instances of the definition with a label, and, if it refuses none, about the end of such too. Nobody
// answers behind its Service.
func webhookFor(name, failurePolicy string, label ...string) *unstructured.Unstructured {
	GinkgoHelper()
	selector, operations := "", "CREATE, UPDATE"
	if failurePolicy == "Ignore" {
		operations += ", DELETE"
	}
	if len(label) > 0 {
		selector = fmt.Sprintf(`objectSelector: {matchLabels: {%s: %q}}, `, label[0], label[1])
	}
	return object(fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: %[1]s, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}, webhooks: [
		{name: %[1]s.test.cluster.x-k8s.io, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: %[2]s, timeoutSeconds: 1, %[3]s
		clientConfig: {service: {namespace: openshift-cluster-api, name: alpha}}, rules: [{apiGroups: [test.cluster.x-k8s.io], apiVersions: [v1], operations: [%[4]s], resources: [alphas]}]}]}`,
		name, failurePolicy, selector, operations))
}

func labelled(o *unstructured.Unstructured, label, value string) *unstructured.Unstructured {
	o.SetLabels(map[string]string{label: value})
	return o
}

// judges is a policy, and a webhook, that come, change and go, and let through all that they are asked about.
func (h *history) judges(context.Context) {
	name := []string{"policy", "webhook"}[h.IntN(2)]
	if h.judging[name] == h.round {
		return // it is not there yet
	}
	was := h.without(name)
	if was && h.IntN(2) == 0 {
		h.note("the %s goes", name)
		return
	}
	h.judging[name] = h.round
	if name == "policy" {
		h.extra = append(h.extra, policyFor(name, fmt.Sprintf("%d > 0", h.round))...)
	} else {
		h.extra = append(h.extra, webhookFor(name, "Ignore"))
	}
	h.note("the %s comes, or changes: %t", name, was)
}

// gate is a policy that refuses an object first, and lets it through when it comes.
func (h *history) gate(context.Context) {
	if h.judging["gate"] == h.round {
		return // it is not there yet
	}
	h.judging["gate"] = h.round
	was := h.without("gate")
	if h.without("gated") {
		h.note("the gate goes, with what came through it")
		return
	}
	if !was {
		h.extra = append(h.extra, policyFor("gate", "false", "gated", "yes")...)
		h.note("the gate comes")
		return
	}
	h.extra = append(append(h.extra, policyFor("gate", "true", "gated", "yes")...), labelled(alpha("gated", "first"), "gated", "yes"))
	h.note("the gate opens")
}

// refusedLater has the release bring an object, and a policy that refuses it.
func (h *history) refusedLater(context.Context) {
	name := fmt.Sprintf("later-%d", h.round)
	h.laterBy("ValidatingAdmissionPolicy "+name, name, policyFor(name, "false", "later", name)...)
}

// unansweredLater has the release bring an object, and a webhook without which it may not be written and that nobody answers.
func (h *history) unansweredLater(context.Context) {
	name := fmt.Sprintf("later-%d", h.round)
	h.laterBy("ValidatingWebhookConfiguration "+name, name, webhookFor(name, "Fail", "later", name))
}

func (h *history) laterBy(judge, name string, objects ...*unstructured.Unstructured) {
	h.extra = append(append(h.extra, objects...), labelled(alpha(name, "first"), "later", name))
	h.note("%s, which refuses what comes with it", judge)
	h.hazard = &hazard{later: judge, object: name, undo: func(context.Context) { h.without(name) }}
}

// orElse waits until what a plan tells to come later was refused, or has come: whoever judges comes into force a moment after it was
// written. It says which.
func (h *history) orElse(ctx context.Context, p planned) (refused bool) {
	GinkgoHelper()
	told := p.of("Alpha", h.hazard.object)
	Expect(p.Stops).To(BeEmpty(), "%s", h.did)
	Expect(told).To(And(HaveField("How", "later"), HaveField("Verdict", "create"), HaveField("Why", ContainSubstring(h.hazard.later))), "%s", h.did)
	refusal := regexp.MustCompile("(?i)alphas?[ .][^;]*" + h.hazard.object + "[^;]*(denied request|failed calling webhook)") // who judges has this name too
	until(ctx, "the operator to tell that "+h.hazard.object+" was refused, or to be done", func(v harness.View) error {
		text, err := json.Marshal(v.ClusterOperator.Status.Conditions)
		if refused = err == nil && refusal.Match(text); refused || v.Current() == p.To.Name {
			return nil
		}
		return fmt.Errorf("it does neither: %w", err)
	})
	return refused
}

var _ = Describe("capstan plan", func() {
	It("marks later, with a reason, what a webhook or a policy of the same release will judge", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(alpha("here", "first")))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)

		By("a policy that refuses one object of the release, and a webhook for all")
		brought := func(expression string) []*unstructured.Unstructured {
			return append(policyFor("policy", expression, "of", "us"), labelled(alpha("ours", "first"), "of", "us"), alpha("here", "first"), configMap("more", "one"))
		}
		images := push(ctx, newProvider("alpha").with(brought("false")...).with(webhookFor("webhook", "Ignore")))
		since := mark(ctx)
		p := admin().plan(ctx, codeChanges, imageFlags(images)...)
		lookedOnly(ctx, since)
		Expect(p.Stops).To(BeEmpty())
		Expect(p.of("Alpha", "ours")).To(And(HaveField("Verdict", "create"), HaveField("How", "later"), HaveField("Why", And(
			MatchRegexp(`ValidatingAdmissionPolicy policy, which has a say in it, comes in wave \d`),
			MatchRegexp(`webhook webhook\.test\.cluster\.x-k8s\.io of ValidatingWebhookConfiguration webhook, which has a say in it, comes in wave \d`)))))
		Expect(p.of("Alpha", "here")).To(And(HaveField("Verdict", "mark"), HaveField("How", "later"), HaveField("Why", Not(ContainSubstring("Policy")))))
		Expect(p.of("ConfigMap", "more")).To(And(HaveField("Verdict", "create"), HaveField("How", "tried"), HaveField("Why", "")))
		Expect(admin().run(ctx, codeChanges, append([]string{"plan"}, withCache(imageFlags(images))...)...)).To(
			ContainSubstring("mark    Alpha openshift-cluster-api/here (later): webhook webhook.test.cluster.x-k8s.io of"))

		By("the policy that is there by then, and refuses it")
		Expect(env.SetImages(ctx, push(ctx, newProvider("alpha").with(policyFor("policy", "false", "of", "us")...).with(alpha("here", "first"))))).To(Succeed())
		installed(ctx, 2)
		images = push(ctx, newProvider("alpha").with(brought("false")...))
		eventually(ctx, "the policy to be in force", func(ctx context.Context) error {
			if p = admin().anyPlan(ctx, imageFlags(images)...); p.of("Alpha", "ours").Verdict != "deny" {
				return fmt.Errorf("it is not: %v", p.of("Alpha", "ours"))
			}
			return nil
		})
		Expect(p.of("Alpha", "ours")).To(And(HaveField("How", "tried"), HaveField("Why", ContainSubstring("not by the release"))))
		Expect(p.stops()).To(ContainElement("deny"))

		By("the same policy, which the release changes")
		images = push(ctx, newProvider("alpha").with(brought("true")...))
		before := photograph(ctx, instances)
		p = admin().plan(ctx, codeChanges, imageFlags(images)...)
		Expect(p.of("Alpha", "ours")).To(And(HaveField("Verdict", "create"), HaveField("How", "later"), HaveField("Why", And(
			ContainSubstring("ValidatingAdmissionPolicy policy changes in wave"), ContainSubstring("not by the release")))))
		Expect(env.SetImages(ctx, images)).To(Succeed())
		installed(ctx, p.To.Number)
		cameTrue(ctx, p, before, instances)
	})
})
