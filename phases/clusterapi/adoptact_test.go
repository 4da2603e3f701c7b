package clusterapi

import (
	"strings"
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

const adopting = "by: anna\nat: 2026-01-31T12:00:00Z\nreason: r\nrevision: 2\nobject: "

func TestAdopts_is_what_an_act_names_for_the_newest_revision(t *testing.T) {
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		text   string
		newest int64
		void   string
		ended  bool
	}{
		"one that counts":         {adopting + "ConfigMap openshift-cluster-api/a 12-34", 2, "", false},
		"for an older revision":   {adopting + "ConfigMap openshift-cluster-api/a 12-34", 3, "it is for revision 2, and the newest is 3", true},
		"for one that is not yet": {adopting + "ConfigMap openshift-cluster-api/a 12-34", 1, "it is for revision 2, and the newest is 1", true},
		"of another namespace":    {adopting + "ConfigMap default/a 12-34", 2, "only what is in the providers' namespaces", false},
		"of a definition":         {adopting + "CustomResourceDefinition.apiextensions.k8s.io as.test 12-34", 2, "list it in spec.unmanagedCustomResourceDefinitions", false},
		"of the namespace itself": {adopting + "Namespace openshift-cluster-api 12-34", 2, "", false},
	} {
		p := acting(policies(), noon, map[string]string{acts.AdoptAct: row.text})
		p.Contents = &policy.Policy{Namespaces: []string{"openshift-cluster-api"}}
		p.world.api.Status.Revisions = []operatorv1alpha1.ClusterAPIInstallerRevision{{Name: "r", Revision: row.newest}}
		told := p.readActs(t.Context())
		if len(told) != 1 || (told[0].Void == "") != (row.void == "") || !strings.Contains(told[0].Void, row.void) || told[0].Ended != row.ended {
			t.Errorf("%s: told is %+v", name, told)
		}
		uids, revision := p.adopts()
		if (len(uids) == 1 && revision == 2) != (row.void == "") {
			t.Errorf("%s: %v of revision %d", name, uids, revision)
		}
		for _, uid := range uids {
			if uid != "12-34" {
				t.Errorf("%s: the UID is %s", name, uid)
			}
		}
	}
}

func TestJudgeAdoption_names_the_way_out(t *testing.T) {
	p := acting(policies(), time.Time{}, nil)
	p.Contents = &policy.Policy{Namespaces: []string{"openshift-cluster-api"}}
	all := []guards.Collision{
		{Object: "ConfigMap openshift-cluster-api/a", UID: "1", Adoptable: true},
		{Object: "ConfigMap default/a", UID: "1", Adoptable: true},
		{Object: "Deployment openshift-cluster-api/a", Group: "apps", UID: "1", Holder: "its controller Node n"},
		{Object: "CustomResourceDefinition as.test", Group: "apiextensions.k8s.io", UID: "1", Adoptable: true},
		{Object: "ConfigMap openshift-cluster-api/unread"},
	}
	p.judgeAdoption(all)
	for i, want := range []string{"", "have its owner rename or remove it", "it belongs to its controller Node n: have that let go of it", "list it in spec.unmanaged", ""} {
		if c := all[i]; c.Adoptable != (i == 0) || !strings.Contains(c.WayOut, want) || (want == "") != (c.WayOut == "") {
			t.Errorf("%s: adoptable %v, %q", c.Named(), c.Adoptable, c.WayOut)
		}
	}
}

func TestChanged_names_fields_and_no_values(t *testing.T) {
	changes := []engine.Change{{Path: ".a", From: "secret", To: "other", Managers: []string{"kubectl"}}, {Path: ".b", Added: true}, {Path: ".c", Removed: true}}
	for range maxChanged {
		changes = append(changes, engine.Change{Path: ".d"})
	}
	got := changed(changes)
	if len(got) != maxChanged+1 || strings.Join(got[:3], "|") != "~ .a (held by kubectl)|+ .b|- .c" || got[maxChanged] != "and 3 more" {
		t.Errorf("%q", got)
	}
}
