package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	service = `apiVersion: v1
kind: Service
metadata:
  name: hook
  namespace: capi
spec:
  ports:
  - port: 443
`
	webhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: v
webhooks:
- name: a.example.com
  clientConfig:
    service: {name: hook, namespace: capi, path: /a}
`
	things = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
  - name: v1alpha1
    served: false
    schema: {openAPIV3Schema: {type: object}}
`
	thing = `apiVersion: example.com/v1
kind: Thing
metadata:
  name: t
  namespace: capi
`
	manager = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: manager
  namespace: capi
spec:
  template:
    spec:
      containers:
      - image: quay.io/self
`
)

// on is a profile called after its platform, with these documents.
func on(platform string, documents ...string) Profile {
	p := profile("p" + strings.ToLower(platform))
	p.Metadata = append(p.Metadata, "\nocpPlatform: \""+platform+"\"\n"...)
	p.Manifests = []byte(strings.Join(documents, "---\n"))
	return p
}

// self is the same with quay.io/self as its selfImageRef.
func self(p Profile) Profile {
	p.Metadata = append(p.Metadata, "selfImageRef: quay.io/self\n"...)
	return p
}

// linted are the problems as `profile path: cause`.
func linted(profiles ...Profile) []string {
	texts := []string{}
	for _, p := range Lint(profiles, LintOptions{Namespaces: []string{"capi"}}) {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.Image, "registry.example.com/capi/"), "@")
		texts = append(texts, name+" "+p.Path+": "+p.Cause)
	}
	return texts
}

func before(text, mark string) string {
	start, _, _ := strings.Cut(text, mark)
	return start
}

func in(namespace string) string { return configMap("c\n  namespace: " + namespace) }

func TestLint(t *testing.T) {
	for name, row := range map[string]struct {
		profiles []Profile
		want     []string // beginnings; none: nothing is wrong
	}{
		"a sound set":                             {[]Profile{self(on("", service, webhook, things, thing, manager))}, nil},
		"kinds without namespace need none":       {[]Profile{on("", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: capi\n")}, nil},
		"CompatibilityRequirement is OpenShift's": {[]Profile{on("", "apiVersion: apiextensions.openshift.io/v1alpha1\nkind: CompatibilityRequirement\nmetadata:\n  name: c\n")}, nil},

		"an object twice in one profile": {[]Profile{on("", service, service)}, []string{"p : the same object is in document 1, line 1 of this file"}},
		"an object in two profiles":      {[]Profile{on("", service), on("AWS", service)}, []string{"paws : the same object is in image registry.example.com/capi/p@"}},
		"an object of two platforms":     {[]Profile{on("GCP", service), on("AWS", service)}, nil},

		"an unknown platform":              {[]Profile{on("Amazon", service)}, []string{`pamazon ocpPlatform: unknown platform "Amazon"`}},
		"bad metadata hides no bad object": {[]Profile{on("Amazon", "kind: A")}, []string{"pamazon apiVersion: is missing", "pamazon metadata: the object has no metadata", "pamazon ocpPlatform: unknown platform"}},
		"an unset variable":                {[]Profile{on("", strings.Replace(service, "hook", "${NAME}", 1))}, []string{"p : variable NAME has neither a value nor a default"}},

		"metadata that cannot be read":             {[]Profile{{Image: image("p"), Name: "default", Metadata: []byte("["), Manifests: []byte(manager)}}, []string{"p : not valid YAML"}},
		"selfImageRef that no object has":          {[]Profile{self(on("", service))}, []string{`p selfImageRef: "quay.io/self" is in none of the manifests`}},
		"selfImageRef in a comment is not a use":   {[]Profile{self(on("", "# quay.io/self\n"+service))}, []string{`p selfImageRef: "quay.io/self" is in none`}},
		"selfImageRef in what is refused alone":    {[]Profile{self(on("", strings.Replace(manager, "namespace: capi", "namespace: kube-system", 1)))}, []string{"p metadata.namespace: namespace kube-system is not allowed"}},
		"containers without selfImageRef":          {[]Profile{on("", manager)}, []string{"p selfImageRef: is not given, but apps/v1 Deployment capi/manager runs containers"}},
		"a CronJob runs containers":                {[]Profile{on("", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j, namespace: capi}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a}]}}}}}\n")}, []string{"p selfImageRef: is not given"}},
		"an object in another namespace":           {[]Profile{on("", in("kube-system"))}, []string{"p metadata.namespace: namespace kube-system is not allowed, only capi is"}},
		"an object without namespace":              {[]Profile{on("", configMap("c"))}, []string{"p metadata.namespace: is missing: a ConfigMap lives in a namespace"}},
		"an instance of a namespaced kind of ours": {[]Profile{on("", things, strings.Replace(thing, "  namespace: capi\n", "", 1))}, []string{"p metadata.namespace: is missing: a Thing"}},
		"an instance of a kind without namespace":  {[]Profile{on("", strings.Replace(things, "Namespaced", "Cluster", 1), strings.Replace(thing, "  namespace: capi\n", "", 1))}, nil},

		"a version without schema":      {[]Profile{on("", strings.Replace(things, "    schema: {openAPIV3Schema: {type: object}}\n  - name", "  - name", 1))}, []string{"p spec.versions[0].schema.openAPIV3Schema: is missing: version v1 has no schema"}},
		"a version with empty schema":   {[]Profile{on("", strings.Replace(things, "{type: object}}\n  - name", "{}}\n  - name", 1))}, []string{"p spec.versions[0].schema.openAPIV3Schema: is missing"}},
		"a definition without versions": {[]Profile{on("", before(things, "  versions"))}, []string{"p spec.versions: is empty"}},

		"a webhook without Service":                              {[]Profile{on("", webhook)}, []string{"p webhooks[0].clientConfig.service: no profile brings the Service capi/hook"}},
		"a webhook with a Service of the core":                   {[]Profile{on("", service), on("AWS", webhook)}, nil},
		"a webhook with another platform's":                      {[]Profile{on("GCP", service), on("AWS", webhook)}, []string{"paws webhooks[0].clientConfig.service: no profile brings"}},
		"a core webhook with a platform's":                       {[]Profile{on("", webhook), on("AWS", service)}, []string{"p webhooks[0].clientConfig.service: no profile brings"}},
		"a webhook to a port that is not there":                  {[]Profile{on("", service, strings.Replace(webhook, "path", "port: 9443, path", 1))}, []string{"p webhooks[0].clientConfig.service: the Service capi/hook has no port 9443"}},
		"a webhook to a namespace that YAML takes for a boolean": {[]Profile{on("", service, strings.Replace(webhook, "namespace: capi", "namespace: n", 1))}, []string{"p webhooks[0].clientConfig.service: must give the Service's namespace and name, as strings"}},
		"a webhook by URL":                                       {[]Profile{on("", strings.Replace(webhook, "service: {name: hook, namespace: capi, path: /a}", "url: https://example.com", 1))}, nil},
		"a conversion webhook without Service":                   {[]Profile{on("", things+"  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hook, namespace: capi}}}}\n")}, []string{"p spec.conversion.webhook.clientConfig.service: no profile brings"}},
		"an API service without Service":                         {[]Profile{on("", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.example.com}\nspec: {service: {name: hook, namespace: capi}}\n")}, []string{"p spec.service: no profile brings"}},

		"a kind that nobody defines":              {[]Profile{on("", strings.Replace(thing, "example.com/v1", "cert-manager.io/v1", 1))}, []string{"p kind: neither Kubernetes nor a CustomResourceDefinition of these images defines cert-manager.io/v1 Thing: bring its CustomResourceDefinition, or leave the object out"}},
		"a version that is not served":            {[]Profile{on("", things, strings.Replace(thing, "/v1", "/v1alpha1", 1))}, []string{"p kind: neither Kubernetes nor a CustomResourceDefinition of these images defines example.com/v1alpha1 Thing: bring its CustomResourceDefinition, or leave the object out (it is served in v1)"}},
		"a version that Kubernetes does not have": {[]Profile{on("", strings.Replace(before(webhook, "webhooks"), "/v1", "/v2", 1))}, []string{"p kind: neither Kubernetes"}},
		"a kind of another platform":              {[]Profile{on("GCP", things), on("AWS", thing)}, []string{"paws kind: only profiles of other platforms define example.com/v1 Thing"}},
		"a kind of the core":                      {[]Profile{on("", things), on("AWS", thing)}, nil},
		"a list is no object":                     {[]Profile{on("", "apiVersion: v1\nkind: ConfigMapList\nmetadata:\n  name: l\n")}, []string{"p kind: neither Kubernetes"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := linted(row.profiles...)
			ok := len(got) == len(row.want)
			for i := range row.want {
				ok = ok && strings.HasPrefix(got[i], row.want[i])
			}
			if !ok {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

func TestLint_problems_name_image_profile_file_document_line_object_and_path(t *testing.T) {
	p := on("", service, webhook, things, in("other"))
	p.Manifests = []byte(strings.Replace(string(p.Manifests), "capi, path", "gone, path", 1))
	want := ProblemsError{{
		Image: p.Image, Profile: "default", File: manifestsFile, Document: 2, Line: 10,
		Object: "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration v", Path: "webhooks[0].clientConfig.service",
		Cause: "no profile brings the Service gone/hook: the API server could not call it, and would refuse every request that needs it",
	}, {
		Image: p.Image, Profile: "default", File: manifestsFile, Document: 4, Line: 36,
		Object: "v1 ConfigMap other/c", Path: "metadata.namespace", Cause: "namespace other is not allowed, only capi is",
	}}
	if diff := cmp.Diff(want, Lint([]Profile{p}, LintOptions{Namespaces: []string{"capi"}})); diff != "" {
		t.Error(diff)
	}
}

func TestLint_selfImageRef_is_reported_with_its_line(t *testing.T) {
	for want, p := range map[string]Profile{"document 1, line 4": self(on("", service)), "document 1, line 1": on("", manager)} {
		found := Lint([]Profile{p}, LintOptions{Namespaces: []string{"capi"}})
		if len(found) != 1 || !strings.Contains(found[0].String(), "file metadata.yaml, "+want+", field selfImageRef") {
			t.Errorf("want %s, got %v", want, found)
		}
	}
}

func TestLint_more_components_than_a_cluster_of_a_platform_can_have(t *testing.T) {
	var profiles []Profile
	for i, platform := range slices.Repeat([]string{"", "AWS", "VSphere"}, maxComponents/2) {
		p := on(platform, strings.Replace(in("capi"), "name: c", fmt.Sprintf("name: c%d", i), 1))
		p.Name = fmt.Sprintf("p%d", i)
		profiles = append(profiles, p)
	}
	if found := linted(profiles...); len(found) != 0 {
		t.Errorf("%d on each platform are allowed: %q", maxComponents, found)
	}
	one := on("AWS", in("capi"))
	want := []string{fmt.Sprintf(` : these images make %d components on platform "AWS", and a cluster has at most 32: remove 1`, maxComponents+1)}
	if diff := cmp.Diff(want, linted(append(profiles, one)...)); diff != "" {
		t.Error(diff)
	}
}

func TestLint_no_order_of_the_profiles_changes_what_is_reported(t *testing.T) {
	profiles := []Profile{on("", service, webhook), on("AWS", service, thing), on("GCP", service)}
	forth := Lint(profiles, LintOptions{})
	profiles[0], profiles[2] = profiles[2], profiles[0]
	if diff := cmp.Diff(forth, Lint(profiles, LintOptions{})); diff != "" || len(forth) == 0 {
		t.Errorf("%d problems, %s", len(forth), diff)
	}
}

func TestRender_bad_metadata_does_not_hide_what_is_wrong_with_the_manifests(t *testing.T) {
	p := manifests("apiVersion: v1\nkind: ConfigMap\n")
	p.Metadata = append(p.Metadata, "colour: red\n"...)
	var paths []string
	for _, problem := range problems(t, Input{Profiles: []Profile{p}}) {
		paths = append(paths, problem.File+" "+problem.Path)
	}
	if diff := cmp.Diff([]string{"manifests.yaml metadata", "metadata.yaml colour"}, paths); diff != "" {
		t.Error(diff)
	}
}
