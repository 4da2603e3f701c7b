package packaging

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A kustomization as the providers of OpenShift have it: with the component and
// the containerised transformers of OpenShift's own packaging tool, and their settings.
var openShiftFiles = map[string]string{
	"openshift/kustomization.yaml": `
components: [tools/vendor/manifests-gen]
resources: [provider.yaml, exclude-resources-config.yaml, rename-resources-config.yaml, policy.yaml]
transformers:
- tools/vendor/manifests-gen/transformers/exclude-resources.yaml
- tools/vendor/manifests-gen/transformers/rename-resources.yaml
images: [{name: example.com/upstream, newName: registry.ci.openshift.org/openshift, newTag: foo}]
`,
	"openshift/provider.yaml": `
{apiVersion: v1, kind: Namespace, metadata: {name: system}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: system}, spec: {template: {spec: {containers: [{name: manager, image: "example.com/upstream:v1"}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}, rules: [{apiGroups: [x.io], resources: [fooclusters, foopools], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: manager}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: fooclusters.x.io}, spec: {group: x.io, names: {kind: FooCluster, plural: fooclusters, singular: foocluster}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: foopools.x.io}, spec: {group: x.io, names: {kind: FooPool, plural: foopools}}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hooks}, webhooks: [{name: a, rules: [{apiGroups: [x.io], resources: [fooclusters]}]}, {name: b, rules: [{apiGroups: [x.io], resources: [foopools]}]}]}
`,
	"openshift/policy.yaml": "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: deny}}\n",
	"openshift/exclude-resources-config.yaml": `
{apiVersion: v1, kind: ConfigMap, metadata: {name: exclude-resources-config, annotations: {config.kubernetes.io/local-config: "true"}}, data: {excludeCRDs: "foopools.x.io\n"}}
`,
	"openshift/rename-resources-config.yaml": `
{apiVersion: v1, kind: ConfigMap, metadata: {name: rename-resources-config, annotations: {config.kubernetes.io/local-config: "true"}}, data: {renameResources: "rbac.authorization.k8s.io/ClusterRole/manager=openshift-manager\n"}}
`,
	"openshift/tools/vendor/manifests-gen/kustomization.yaml": `
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
namespace: openshift-cluster-api
patches:
- target: {kind: ValidatingWebhookConfiguration}
  patch: '[{"op": "add", "path": "/webhooks/0/namespaceSelector", "value": {"matchLabels": {"kubernetes.io/metadata.name": "openshift-cluster-api"}}}]'
`,
	"openshift/tools/vendor/manifests-gen/transformers/exclude-resources.yaml": containerised("exclude-resources"),
	"openshift/tools/vendor/manifests-gen/transformers/rename-resources.yaml":  containerised("rename-resources"),
}

func containerised(name string) string {
	return `
apiVersion: v1
kind: ConfigMap
metadata:
  name: ` + name + `
  annotations:
    config.kubernetes.io/function: |
      container: {image: example.com/functions/interpreter}
data: {source: program}
`
}

// openShift writes openShiftFiles, with some replaced, and makes their tools
// folder the working one, as the Makefiles of providers do.
func openShift(t *testing.T, replaced map[string]string) {
	t.Helper()
	root := t.TempDir()
	for name, content := range openShiftFiles {
		if other, is := replaced[name]; is {
			content = other
		}
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "openshift", "tools"))
}

const wantSummary = `- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  name: openshift-manager
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  name: manager
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  name: fooclusters.x.io
- apiVersion: apps/v1
  kind: Deployment
  name: manager
  namespace: openshift-cluster-api
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  name: deny
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  name: openshift-cluster-api-protect-foocluster
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  name: openshift-cluster-api-protect-foocluster
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingWebhookConfiguration
  name: hooks
`

func TestCommand_runs_unchanged_in_the_Makefiles_of_OpenShift(t *testing.T) {
	for name, args := range map[string][]string{
		"with one dash": {
			"-manifests-path", "../out", "-kustomize-dir=../../openshift", "-name", "foo", "-attribute", "type=infrastructure",
			"-install-order=10", "-attribute", "version=v1.2.3", "-self-image-ref", "registry.ci.openshift.org/openshift:foo",
			"-protect-cluster-resource", "foocluster", "-manifests-summary",
		},
		"with two dashes": {
			"--manifests-path", "../out", "--kustomize-dir=../../openshift", "--name", "foo", "--attribute", "type=infrastructure",
			"--install-order", "10", "--attribute", "version=v1.2.3", "--self-image-ref", "registry.ci.openshift.org/openshift:foo",
			"--protect-cluster-resource", "foocluster", "--manifests-summary",
		},
	} {
		t.Run(name, func(t *testing.T) {
			openShift(t, nil)
			out, err := run(args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, "../out/default/manifests-summary.yaml"); got != wantSummary {
				t.Errorf("the summary is\n%s\nwant\n%s", got, wantSummary)
			}
			want := "name: foo\ninstallOrder: 10\nselfImageRef: registry.ci.openshift.org/openshift:foo\nattributes:\n  type: infrastructure\n  version: v1.2.3\n"
			if got := read(t, "../out/default/metadata.yaml"); got != want {
				t.Errorf("the metadata is\n%s\nwant\n%s", got, want)
			}
			manifests := read(t, "../out/default/manifests.yaml")
			for _, absent := range []string{"foopools", "-resources", "local-config", "name: system"} {
				if strings.Contains(manifests, absent) {
					t.Errorf("%q is in\n%s", absent, manifests)
				}
			}
			for _, line := range []string{
				"../out/default: 8 objects", "  1 ClusterRoleBinding\n", "excluded CustomResourceDefinition foopools.x.io\n",
				"renamed ClusterRole manager to openshift-manager, references that followed: 1\n",
				"protected from deletion: the fooclusters.x.io named like the cluster's infrastructure\n",
			} {
				if !strings.Contains(out, line) {
					t.Errorf("%q is not in the report\n%s", line, out)
				}
			}
		})
	}
}

func TestCommand_takes_the_settings_also_without_their_transformers(t *testing.T) {
	openShift(t, map[string]string{"openshift/kustomization.yaml": `
resources: [provider.yaml, exclude-resources-config.yaml, rename-resources-config.yaml, policy.yaml]
images: [{name: example.com/upstream, newName: registry.ci.openshift.org/openshift, newTag: foo}]
`})
	args := []string{"--manifests-path", "../out", "--kustomize-dir", "..", "--name", "foo", "--protect-cluster-resource", "foocluster", "--manifests-summary"}
	if _, err := run(args...); err != nil {
		t.Fatal(err)
	}
	if got := read(t, "../out/default/manifests-summary.yaml"); got != wantSummary {
		t.Errorf("the summary is\n%s\nwant\n%s", got, wantSummary)
	}
}

func TestCommand_finds_the_settings_among_other_documents(t *testing.T) {
	exclude := openShiftFiles["openshift/exclude-resources-config.yaml"]
	provider := openShiftFiles["openshift/provider.yaml"]
	for name, file := range map[string]string{
		"first":                    exclude + "---\n" + provider,
		"last":                     provider + "---\n" + exclude,
		"after a marker with text": "# comment\n--- # settings" + exclude + "--- \n" + provider,
		"with other line ends":     strings.ReplaceAll("---\n"+exclude+"---\n"+provider, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			openShift(t, map[string]string{
				"openshift/exclude-resources-config.yaml": file,
				"openshift/provider.yaml":                 "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}",
			})
			if _, err := run("--manifests-path", "../out", "--kustomize-dir", "..", "--name", "foo"); err != nil {
				t.Fatal(err)
			}
			manifests := read(t, "../out/default/manifests.yaml")
			if strings.Contains(manifests, "foopools") || !strings.Contains(manifests, "name: fooclusters.x.io") || !strings.Contains(manifests, "kind: Deployment") {
				t.Errorf("got\n%s", manifests)
			}
		})
	}
}

func TestBuild_gives_the_same_bytes_for_any_order_of_objects(t *testing.T) {
	var documents []string
	for _, file := range []string{"provider", "policy", "exclude-resources-config", "rename-resources-config"} {
		documents = append(documents, openShiftFiles["openshift/"+file+".yaml"])
	}
	text := strings.ReplaceAll(strings.Join(documents, "\n---\n"), "example.com/upstream:v1", "registry.ci.openshift.org/openshift:foo")
	options := Options{Name: "foo", ProtectClusterResource: "foocluster", ManifestsSummary: true}
	var want *Profile
	rapid.Check(t, func(r *rapid.T) {
		got, err := build(options, rapid.Permutation(parse(t, text)).Draw(r, "order"))
		if err != nil {
			r.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got.Manifests, want.Manifests) || !bytes.Equal(got.Summary, want.Summary) || !bytes.Equal(got.Metadata, want.Metadata) {
			r.Fatalf("got:\n%s\nwant:\n%s", got.Manifests, want.Manifests)
		}
	})
}

func TestCommand_refuses_transformers_that_it_does_not_know(t *testing.T) {
	const file = "openshift/tools/vendor/manifests-gen/transformers/rename-resources.yaml"
	openShift(t, map[string]string{file: containerised("mine")})
	if _, err := run("--manifests-path", "../out", "--kustomize-dir", "..", "--name", "foo"); err == nil || !strings.Contains(err.Error(), "plugins") {
		t.Errorf("got %v", err)
	}
}

func TestDoubleDashes_leaves_values_alone(t *testing.T) {
	flags := Command(nil).Flags()
	for in, want := range map[string]string{
		"-name core":                       "--name core",
		"-name -name":                      "--name -name",
		"--name -check -check":             "--name -check --check",
		"-manifests-summary -name=-name":   "--manifests-summary --name=-name",
		"-unknown -attribute type=-name":   "-unknown --attribute type=-name",
		"-check -- -name":                  "--check -- -name",
		"name -name":                       "name --name",
		"--kustomize-dir=.. --name":        "--kustomize-dir=.. --name",
		"-manifests-summary=false -name x": "--manifests-summary=false --name x",
	} {
		if got := strings.Join(doubleDashes(strings.Fields(in), flags), " "); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
