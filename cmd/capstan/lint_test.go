package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capstan-capi/capstan/phases/render"
)

func TestLint_sound_images_have_no_problem(t *testing.T) {
	if out := mustCapstan(t, "lint", imageFolder(t), awsFolder(t)); out != "no problem in 2 profiles\n" {
		t.Errorf("got %q", out)
	}
	out := mustCapstan(t, "lint", "-o", "json", imageFolder(t))
	if diff := cmp.Diff("{\n  \"profiles\": 1,\n  \"problems\": []\n}\n", out); diff != "" {
		t.Error(diff)
	}
}

func TestLint_reports_everything_at_once_and_fails(t *testing.T) {
	aws := awsFolder(t)
	ref := push(t, map[string]string{
		"capi-operator-manifests/p/metadata.yaml":  "name: p\nselfImageRef: quay.io/self\n",
		"capi-operator-manifests/p/manifests.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: kube-system}\n",
	})
	out, _, err := capstan(t, "lint", aws, ref, "/not/there")
	if err == nil || err.Error() != "3 problems in 2 profiles" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{
		"image /not/there: there is no such folder; an image is named by its digest",
		"image " + aws + ", profile aws, file manifests.yaml, document 1, line 1, test.cluster.x-k8s.io/v1 Thing <a>, field kind: neither Kubernetes nor",
		"image " + ref + ", profile p, file manifests.yaml, document 1, line 1, Secret kube-system/s, field metadata.namespace, rule namespace of the policy: namespace \"kube-system\" is not one of the providers', which are openshift-cluster-api",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	if lines := strings.Count(out, "\n"); lines != 3 {
		t.Errorf("%d lines:\n%s", lines, out)
	}
}

func TestLint_JSON_has_a_field_for_every_part_of_a_problem(t *testing.T) {
	aws := awsFolder(t)
	out, _, err := capstan(t, "lint", "-o", "json", aws)
	if err == nil {
		t.Error("a problem must be an error")
	}
	var got report
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := report{Profiles: 1, Problems: []render.Problem{{
		Image: aws, Profile: "aws", File: "manifests.yaml", Document: 1, Line: 1, Path: "kind", Object: "test.cluster.x-k8s.io/v1 Thing <a>",
		Cause: "neither Kubernetes nor a CustomResourceDefinition of these images defines test.cluster.x-k8s.io/v1 Thing: bring its CustomResourceDefinition, or leave the object out",
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLint_another_profile_s_object_is_named_by_its_folder(t *testing.T) {
	one, two := awsFolder(t), write(t, map[string]string{"b/metadata.yaml": "name: b\n", "b/manifests.yaml": awsManifests})
	out, _, _ := capstan(t, "lint", imageFolder(t), one, two)
	if !strings.Contains(out, "the same object is in image "+one+", profile aws") && !strings.Contains(out, "the same object is in image "+two+", profile b") {
		t.Errorf("got %s", out)
	}
}

func TestLint_takes_namespaces_and_values(t *testing.T) {
	dir := write(t, map[string]string{
		"a/metadata.yaml": "name: a\n", "a/manifests.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: '${WHERE}'}\n",
	})
	mustCapstan(t, "lint", dir, "--set", "WHERE=there", "--namespace", "here", "--namespace", "there")
}

func TestLint_lets_an_exception_through_and_nothing_else(t *testing.T) {
	dir := write(t, map[string]string{
		"a/metadata.yaml":  "name: a\n",
		"a/manifests.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{apiGroups: [''], resources: [pods/exec], verbs: [create]}]\n",
	})
	if out, _, err := capstan(t, "lint", dir); err == nil || !strings.Contains(out, "document 1, line 1, ClusterRole r, field rules[0].resources, rule permission of the policy: pods/exec may give what is behind it") {
		t.Errorf("got %s, %v", out, err)
	}
	exceptions := func(rule string) string {
		return filepath.Join(write(t, map[string]string{"list.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: exceptions}\ndata:\n" +
			"  shell: |\n    reason: support\n    image: registry.example/a\n    rule: " + rule + "\n    object: ClusterRole r\n"}), "list.yaml")
	}
	mustCapstan(t, "lint", dir, "--exceptions", exceptions("permission"))
	for file, want := range map[string]string{
		exceptions("role"):        "1 problem in 1 profile",
		exceptions("roles"):       `exception shell: there is no rule "roles"`,
		"/not/there":              "reading the exceptions: open /not/there",
		dir + "/a/manifests.yaml": "it has no ConfigMap, but ClusterRole",
	} {
		if _, _, err := capstan(t, "lint", dir, "--exceptions", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}

func TestLint_refuses_command_lines_that_make_no_sense(t *testing.T) {
	for want, args := range map[string][]string{
		"no provider image is given":              nil,
		`--output "xml" is neither text nor json`: {imageFolder(t), "-o", "xml"},
		`--set "A" is not of the form KEY=VALUE`:  {imageFolder(t), "--set", "A"},
	} {
		out, _, err := capstan(t, append([]string{"lint"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("want %q, got %v and %q", want, err, out)
		}
	}
}

func TestLint_and_render_tell_what_the_operator_would_refuse_to_apply(t *testing.T) {
	for manifests, want := range map[string]string{
		`{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: openshift-cluster-api, creationTimestamp: "2024-01-01T00:00:00Z"}}`:                                "field metadata.creationTimestamp: must not be set in a manifest",
		"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: openshift-cluster-api, uid: u}}":                                                                   "field metadata.uid: must not be set in a manifest: only a cluster can know it",
		"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: openshift-cluster-api, annotations: {capi-operator.openshift.io/owner: o}}}":                       "field metadata.annotations.capi-operator.openshift.io/owner: must not be set in a manifest: Capstan writes it",
		"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: openshift-cluster-api, annotations: {capi-operator.openshift.io/complete-when: self.a.b}}}":        "not bool",
		"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: openshift-cluster-api, annotations: {capi-operator.openshift.io/adopt-existing: sometimes}}}":      `is "sometimes"; it may be "always" or "force"`,
		"{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: openshift-cluster-api, annotations: {capi-operator.openshift.io/on-immutable-change: sometimes}}}": `is "sometimes"; it may be "recreate"`,
	} {
		dir := write(t, map[string]string{"a/metadata.yaml": "name: a\n", "a/manifests.yaml": manifests + "\n"})
		out, _, err := capstan(t, "lint", dir)
		if err == nil || err.Error() != "1 problem in 1 profile" || !strings.Contains(out, want) {
			t.Errorf("%s: lint tells %v, %s", manifests, err, out)
		}
		_, errs, err := capstan(t, "render", "--dir", dir, "--platform", "AWS", "--release-version", "4.22.5")
		if err == nil || !strings.Contains(errs, want) {
			t.Errorf("%s: render tells %v, %s", manifests, err, errs)
		}
	}
}
