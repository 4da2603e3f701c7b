package clusterapi

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

// letThrough is a ConfigMap with an exception for a Secret.
func letThrough() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operator", Name: ExceptionsConfigMap},
		Data:       map[string]string{"mine": "reason: because\nimage: registry.example/a\nrule: namespace\nobject: Secret other/s"},
	}
}

func TestRender_what_was_refused_is_rendered_again_only_when_the_exceptions_differ(t *testing.T) {
	live := fake.NewClientBuilder().Build()
	p := &Phases{Live: live, OperatorNamespace: "operator", Contents: &policy.Policy{Namespaces: []string{"capi"}}, Now: time.Now}
	profiles := []render.Profile{{
		Image: "registry.example/a@sha256:" + strings.Repeat("0a", 32), Name: "default", Metadata: []byte("name: a\n"),
		Manifests: []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: other}\n"),
	}}
	look := func() rendered {
		p.memory.rendered = p.render(t.Context(), world{platform: "AWS"}, "one", profiles)
		return p.memory.rendered
	}
	first := look()
	if again := look(); first.err == nil || again.err != first.err { //nolint:errorlint // the very same, not one like it
		t.Errorf("got %v, then %v", first.err, again.err)
	}
	if err := live.Create(t.Context(), letThrough()); err != nil {
		t.Fatal(err)
	}
	if r := look(); r.err != nil || r.revision == nil || !r.refused.IsZero() {
		t.Errorf("not let through: %v", r.err)
	}
}

func TestPublish_lists_nothing_that_an_exception_let_through_that_is_gone(t *testing.T) {
	for name, row := range map[string]struct {
		there  []client.Object
		listed int
	}{
		"as it was": {[]client.Object{letThrough()}, 2},
		"withdrawn": {nil, 1},
	} {
		api := listing(1)
		p := planned(&remembering{stored: engine.Inventories{Seen: true}}, api, "")
		p.Client, p.Live, p.OperatorNamespace = serving(t, api), fake.NewClientBuilder().WithObjects(row.there...).Build(), "operator"
		p.memory.rendered = rendered{inputs: "one", exceptions: maps.Clone(letThrough().Data), excepted: true}
		if err := p.publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(api), api); err != nil {
			t.Fatal(err)
		}
		if got := len(api.Status.Revisions); got != row.listed {
			t.Errorf("%s: %d revisions are listed, want %d", name, got, row.listed)
		}
		if forgotten := p.memory.rendered.inputs == ""; forgotten != (row.listed == 1) || forgotten != (p.lookAgain > 0) {
			t.Errorf("%s: the rendering is forgotten: %t, and looked at again in %s", name, forgotten, p.lookAgain)
		}
	}
}
