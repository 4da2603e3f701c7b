package render_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/render"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

func TestRender_tells_no_more_breaches_than_can_be_read(t *testing.T) {
	subjects := strings.Repeat("{kind: User, name: eve}, ", 30)
	var manifests strings.Builder
	for i := range 100 {
		fmt.Fprintf(&manifests, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a%d}\nsubjects: [%s]\n", i, subjects)
	}
	_, err := render.Render(render.Input{
		Profiles: []render.Profile{{Image: "registry.example/a@sha256:" + strings.Repeat("0a", 32), Name: "default", Metadata: []byte("name: a\n"), Manifests: []byte(manifests.String())}},
		Policy:   &policy.Policy{},
	})
	problems, _ := errors.AsType[render.ProblemsError](err)
	// 20 subjects, how many more there are, and the role that is missing.
	if len(problems) != 1001 || !strings.HasPrefix(problems[1000].Cause, "there are 1200 problems more") {
		t.Errorf("%d problems: %.500v", len(problems), err)
	}
}
