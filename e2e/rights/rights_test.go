package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/e2e/harness"
)

func TestProblems_are_rights_that_nothing_used_and_refusals_that_nobody_asked_for(t *testing.T) {
	rights := rightsIn("capstan", "Role r", "openshift-cluster-api", rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"create", "delete", "list", "watch", "bind"}})
	rights = append(rights, rightsIn("capstan", "ClusterRole c", "", rbacv1.PolicyRule{APIGroups: []string{"g"}, Resources: []string{"*"}, Verbs: []string{"get"}})...)
	rights = append(rights, rightsIn("capstan", "ClusterRole c", "", rbacv1.PolicyRule{APIGroups: []string{"h"}, Resources: []string{"things"}, ResourceNames: []string{"one"}, Verbs: []string{"get", "patch"}})...)
	rights = append(rights, rightsIn("capstan", "ClusterRole c", "", rbacv1.PolicyRule{APIGroups: []string{"p"}, Resources: []string{"things"}, Verbs: []string{"get", "patch"}})...)
	rights = append(rights, rightsIn("capstan", "ClusterRole s", "", rbacv1.PolicyRule{APIGroups: []string{"s"}, Resources: []string{"told", "untold"}, Verbs: []string{"get"}})...)
	rights = append(rights, rightsIn("capstan-webhooks", "ClusterRole w", "", rbacv1.PolicyRule{APIGroups: []string{"p"}, Resources: []string{"things"}, Verbs: []string{"get", "watch"}})...)
	rights = append(rights, rightsIn("capstan", "ClusterRole i", "", rbacv1.PolicyRule{APIGroups: []string{"config.openshift.io"}, Resources: []string{"infrastructures", "apiservers"}, Verbs: []string{"get"}})...)
	uses := map[string][]harness.Use{
		"clusterapi": {
			{Verb: "patch", Group: "p", Resource: "things"},
			{Verb: "patch", Group: "s", Resource: "told/status"},
			{Verb: "update", Group: "s", Resource: "untold/status"},
			{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "openshift-cluster-api"},
			{Verb: "watch", Group: "apps", Resource: "deployments", Namespace: "openshift-cluster-api"},
			{Verb: "delete", Group: "apps", Resource: "deployments", Namespace: "elsewhere"},
			{Verb: "get", Group: "g", Resource: "widgets"},
			{Verb: "get", Group: "h", Resource: "things", Name: "two"},
			{Verb: "patch", Group: "h", Resource: "things", Name: "one", Refused: true},
			{Verb: "list", Resource: "pods", Namespace: "elsewhere", Refused: true},
			{Verb: "list", Resource: "pods", Namespace: "default", Refused: true},
			{Verb: "get", Resource: "configmaps", Namespace: "kube-system", Name: "a", Refused: true},
			{Verb: "get", Resource: "secrets", Namespace: "openshift-config", Name: "a", Refused: true},
			{Verb: "get", Resource: "services", Namespace: "openshift-monitoring", Name: "a", Refused: true},
			{Verb: "patch", Resource: "configmaps", Namespace: "openshift-cluster-api", Name: "a", Refused: true},
			{Account: "capstan-webhooks", Verb: "list", Resource: "pods", Namespace: "elsewhere", Refused: true},
			{Account: "capstan-webhooks", Verb: "list", Group: "p", Resource: "things"},
		},
		"faults": {
			{Verb: "list", Resource: "pods", Namespace: "elsewhere", Refused: true},
			{Verb: "patch", Resource: "configmaps", Namespace: "openshift-cluster-api", Name: "a", Refused: true},
			{Account: "capstan-webhooks", Verb: "patch", Resource: "configmaps", Namespace: "openshift-cluster-api", Name: "a", Refused: true},
			{Verb: "patch", Resource: "secrets", Namespace: "openshift-cluster-api", Name: "a", Refused: true},
		},
		"release": {{Verb: "list", Resource: "pods", Namespace: "elsewhere", Refused: true}},
	}
	var all []use
	for suite, of := range uses {
		for _, u := range of {
			if u.Account == "" {
				u.Account = "capstan"
			}
			all = append(all, use{u, suite})
		}
	}
	got := problems(rights, all)
	want := []string{
		"capstan lacks the right to get configmaps kube-system/a in clusterapi",
		"capstan lacks the right to get secrets openshift-config/a in clusterapi",
		"capstan lacks the right to get services openshift-monitoring/a in clusterapi",
		"capstan lacks the right to list pods default in clusterapi",
		"capstan lacks the right to list pods elsewhere in release",
		"capstan lacks the right to patch configmaps openshift-cluster-api/a in clusterapi",
		"capstan lacks the right to patch secrets openshift-cluster-api/a in faults",
		"capstan lacks the right to patch things.h one in clusterapi",
		"capstan-webhooks lacks the right to list pods elsewhere in clusterapi",
		"capstan-webhooks lacks the right to patch configmaps openshift-cluster-api/a in faults",
		"nothing uses the right of ClusterRole c: get things.h one",
		"nothing uses the right of ClusterRole c: patch things.h one",
		"nothing uses the right of ClusterRole i: get apiservers.config.openshift.io",
		"nothing uses the right of ClusterRole s: get untold.s",
		"nothing uses the right of ClusterRole w: get things.p",
		"nothing uses the right of Role r: delete deployments.apps in openshift-cluster-api",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompare_reads_what_suites_left_and_fails_when_there_is_nothing(t *testing.T) {
	folder := t.TempDir()
	if _, err := compare(folder); err == nil {
		t.Error("nothing was left, and nothing is wrong")
	}
	for suite, uses := range map[string][]harness.Use{
		"one": {{Account: "capstan", Verb: "list", Group: "apiregistration.k8s.io", Resource: "apiservices"}},
		"two": {
			{Account: "capstan", Verb: "get", Resource: "nodes", Name: "a", Refused: true},
			{Account: "capstan-webhooks", Verb: "create", Group: "authentication.k8s.io", Resource: "tokenreviews"},
		},
	} {
		text, err := json.Marshal(uses)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(folder, suite), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, suite, "cluster.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := compare(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"capstan lacks the right to get nodes a in two",
		"nothing uses the right of ClusterRole capstan-webhooks: create subjectaccessreviews.authorization.k8s.io",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("%q is not among %v", want, found)
		}
	}
	for _, used := range []string{"apiservices.apiregistration", "ClusterRole capstan-webhooks: create tokenreviews"} {
		if slices.ContainsFunc(found, func(p string) bool { return strings.Contains(p, used) }) {
			t.Errorf("%q is among %v", used, found)
		}
	}
}

func TestRights_of_deploy_are_written_by_name(t *testing.T) {
	objects, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	rights, err := rightsOf(objects, harness.ServiceAccount)
	if err != nil {
		t.Fatal(err)
	}
	checkers, err := rightsOf(objects, harness.WebhooksAccount)
	if err != nil {
		t.Fatal(err)
	}
	if len(checkers) == 0 {
		t.Error("the checker has no rights")
	}
	namespaced := []string{"configmaps", "secrets", "services", "serviceaccounts", "pods", "persistentvolumeclaims", "events", "leases", "roles", "rolebindings", "endpointslices"}
	for _, r := range append(slices.Clone(rights), checkers...) {
		_, subresource, has := strings.Cut(r.resource, "/")
		switch {
		case r.group == "*", r.verb == "*", r.resource == "*" && r.group != "cluster.x-k8s.io" && !strings.HasSuffix(r.group, ".cluster.x-k8s.io"):
			t.Errorf("%s stands for more than it says", r)
		case has && subresource != "status":
			t.Errorf("%s is a subresource", r)
		case r.namespace == "" && (slices.Contains(namespaced, r.resource) || slices.Contains([]string{"apps", "batch", "monitoring.coreos.com", "networking.k8s.io", "policy"}, r.group)):
			t.Errorf("%s is given in all namespaces", r)
		}
	}
	if len(rights) < 100 {
		t.Errorf("there are only %d rights", len(rights))
	}
}
