package guest

import (
	"testing"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

func TestEtcd_is_told_by_its_members_or_by_its_operator(t *testing.T) {
	fine := []operator{{name: "ClusterOperator dns", available: true, degraded: true}, {name: "ClusterOperator etcd", available: true}}
	for name, row := range map[string]struct {
		seen sight
		want guards.Etcd
	}{
		"nothing was read":        {sight{}, guards.Etcd{}},
		"no operator of it":       {sight{operators: fine[:1]}, guards.Etcd{}},
		"its operator is fine":    {sight{operators: fine}, guards.Etcd{Known: true}},
		"its operator is not":     {sight{operators: []operator{{name: "ClusterOperator etcd", available: true, degraded: true}}}, guards.Etcd{Known: true, Wrong: "the guest's ClusterOperator etcd (degraded)"}},
		"its members are fine":    {sight{etcd: Etcd{Known: true}}, guards.Etcd{Known: true}},
		"a member is not":         {sight{operators: fine, etcd: Etcd{Known: true, Unhealthy: []string{"a", "b"}}}, guards.Etcd{Known: true, Wrong: "these members of etcd are not healthy: a, b"}},
		"nobody can say of which": {sight{operators: fine, etcd: Etcd{Known: true, Problem: "quorum lost"}}, guards.Etcd{Known: true, Wrong: "what the guest says of the members of etcd: quorum lost"}},
	} {
		if got := row.seen.etcdHealth(); got != row.want {
			t.Errorf("%s: it is %+v, want %+v", name, got, row.want)
		}
	}
}
