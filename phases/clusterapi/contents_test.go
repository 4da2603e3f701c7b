package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/render"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

func TestRender_asksForExceptionsOnlyWhenSomethingBreaksARule(t *testing.T) {
	exceptions := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "operator", Name: ExceptionsConfigMap}}
	live := fake.NewClientBuilder().WithObjects(exceptions).Build()
	now := time.Now()
	p := &Phases{Live: live, OperatorNamespace: "operator", Contents: &policy.Policy{Namespaces: []string{"capi"}}, Now: func() time.Time { return now }}
	profile := func(namespace string) []render.Profile {
		return []render.Profile{{
			Image: "registry.example/a@sha256:" + strings.Repeat("0a", 32), Name: "default", Metadata: []byte("name: a\n"),
			Manifests: []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: " + namespace + "}\n"),
		}}
	}
	w := world{platform: "AWS"}

	unasked := &Phases{Contents: p.Contents, Now: p.Now} // has nobody to ask
	if r := unasked.render(t.Context(), w, "one", profile("capi")); r.err != nil || r.revision == nil || r.askedAgain(p.Now) {
		t.Fatalf("got %+v", r)
	}
	r := p.render(t.Context(), w, "one", profile("other"))
	for _, want := range []string{"document 1", "line 1", ", Secret other/s", "rule namespace of the policy", "exceptions: ConfigMap operator/capi-installer-exceptions;"} {
		if r.err == nil || !strings.Contains(r.err.Error(), want) {
			t.Errorf("got %v, want %s", r.err, want)
		}
	}
	if !machine.IsTerminal(r.err) || r.revision != nil || r.askedAgain(p.Now) {
		t.Errorf("got %+v", r)
	}
	if now = now.Add(askAgainForExceptions); !r.askedAgain(p.Now) {
		t.Error("exceptions are not asked for again")
	}

	for value, want := range map[string]string{
		"reason: because\nimage: registry.example/a\nrule: namespace\nobject: Secret other/s": "",
		"reason: because\nimage: registry.example/b\nrule: namespace\nobject: Secret other/s": "rule namespace of the policy",
		"reason: because\nimage: registry.example/a\nrule: all\nobject: Secret other/s":       `there is no rule "all"`,
	} {
		exceptions.Data = map[string]string{"mine": value}
		if err := live.Update(t.Context(), exceptions); err != nil {
			t.Fatal(err)
		}
		switch r := p.render(t.Context(), w, "one", profile("other")); {
		case want == "" && (r.err != nil || r.revision == nil):
			t.Errorf("%s: got %v", value, r.err)
		case want != "" && (r.err == nil || !strings.Contains(r.err.Error(), want) || !machine.IsTerminal(r.err)):
			t.Errorf("%s: got %v, want %s", value, r.err, want)
		}
	}

	p.Live = failing{}
	if r := p.render(t.Context(), w, "one", profile("other")); r.err == nil || machine.IsTerminal(r.err) || r.inputs == "one" {
		t.Errorf("a failure to look for them is remembered: %+v", r)
	}
}

// failing is an API server that does not answer.
type failing struct{ client.Reader }

func (failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("nobody answers")
}

func TestRender_says_the_way_to_an_exception_however_many_rules_are_broken(t *testing.T) {
	image := "quay.example.com/openshift-release-dev/ocp-v4.0-art-dev@sha256:" + strings.Repeat("0a", 32)
	p := &Phases{Live: fake.NewClientBuilder().Build(), OperatorNamespace: "operator", Contents: &policy.Policy{}, Now: time.Now}
	var manifests strings.Builder
	for i := range 3 {
		fmt.Fprintf(&manifests, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: %s-%d}\nrules: [{apiGroups: [\"\"], resources: [pods/exec], verbs: [create]}]\n", strings.Repeat("r", 200), i)
	}
	r := p.render(t.Context(), world{platform: "AWS"}, "one", []render.Profile{{Image: image, Name: "default", Metadata: []byte("name: a\n"), Manifests: []byte(manifests.String())}})
	if r.err == nil {
		t.Fatal("it is rendered")
	}
	told := machine.Shorten(r.err.Error(), machine.MaxMessage)
	for _, want := range []string{
		"3 breaches of the rules for images", "exceptions: ConfigMap operator/capi-installer-exceptions", "capstan lint " + image,
		" ClusterRole " + strings.Repeat("r", 200) + "-0, field rules[0].resources, rule permission of the policy",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("it lacks %q: %s", want, told)
		}
	}
}
