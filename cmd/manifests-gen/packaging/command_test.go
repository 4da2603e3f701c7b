package packaging

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager}
spec: {template: {spec: {containers: [{name: manager, image: "registry.ci.openshift.org/openshift:self"}]}}}
`

// write makes a kustomization of the given resources and returns its folder.
func write(t *testing.T, resources ...string) string {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{"kustomization.yaml": "namespace: capa-system\nresources:\n"}
	for i, resource := range resources {
		name := string(rune('a'+i)) + ".yaml"
		files[name] = resource
		files["kustomization.yaml"] += "- " + name + "\n"
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func run(args ...string) (string, error) {
	command := Command(args)
	var out bytes.Buffer
	command.SetOut(&out)
	command.SetErr(&out)
	err := command.Execute()
	return out.String(), err
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestCommand_writes_both_files_of_the_profile(t *testing.T) {
	output := t.TempDir()
	out, err := run(
		"--manifests-path", output, "--kustomize-dir", write(t, deployment), "--profile-name", "tech-preview",
		"--name", "infrastructure-aws", "--platform", "AWS", "--install-order", "20",
		"--self-image-ref", "registry.ci.openshift.org/openshift:self",
		"--attribute", "version=v2.12.1", "--attribute", "type=infrastructure", "--attribute", "note=a=b,c",
	)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, filepath.Join(output, "tech-preview")+": 1 objects") {
		t.Errorf("unexpected report: %s", out)
	}
	want := `name: infrastructure-aws
installOrder: 20
ocpPlatform: AWS
selfImageRef: registry.ci.openshift.org/openshift:self
attributes:
  note: a=b,c
  type: infrastructure
  version: v2.12.1
`
	if got := read(t, filepath.Join(output, "tech-preview", "metadata.yaml")); got != want {
		t.Errorf("metadata.yaml is\n%s\nwant\n%s", got, want)
	}
	if got := read(t, filepath.Join(output, "tech-preview", "manifests.yaml")); !strings.Contains(got, "namespace: openshift-cluster-api") {
		t.Errorf("manifests.yaml is\n%s", got)
	}
}

func TestCommand_without_options_gives_a_default_profile_for_every_platform(t *testing.T) {
	output := t.TempDir()
	if _, err := run("--manifests-path", output, "--kustomize-dir", write(t, deployment), "--name", "core"); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, filepath.Join(output, "default", "metadata.yaml")), "name: core\ninstallOrder: 0\n"; got != want {
		t.Errorf("metadata.yaml is %q, want %q", got, want)
	}
}

func TestCommand_gives_the_same_bytes_for_any_order_of_resources(t *testing.T) {
	other := "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"
	first, second := t.TempDir(), t.TempDir()
	for output, folder := range map[string]string{first: write(t, deployment, other), second: write(t, other, deployment)} {
		if _, err := run("--manifests-path", output, "--kustomize-dir", folder, "--name", "core"); err != nil {
			t.Fatal(err)
		}
	}
	a, b := read(t, filepath.Join(first, "default", "manifests.yaml")), read(t, filepath.Join(second, "default", "manifests.yaml"))
	if a != b {
		t.Errorf("one order gives\n%s\nthe other\n%s", a, b)
	}
}

func TestCommand_refuses_bad_input_and_writes_nothing(t *testing.T) {
	good := write(t, deployment)
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"a missing flag":                   {[]string{"--kustomize-dir", good}, `required flag(s) "name" not set`},
		"an unknown platform":              {[]string{"--kustomize-dir", good, "--name", "core", "--platform", "aws"}, `--platform "aws" is not a platform of OpenShift: use one of AWS,`},
		"a component name with a dot":      {[]string{"--kustomize-dir", good, "--name", "core.x"}, `--name "core.x"`},
		"an endless component name":        {[]string{"--kustomize-dir", good, "--name", strings.Repeat("x", 64)}, "1 to 63"},
		"a profile name that leaves":       {[]string{"--kustomize-dir", good, "--name", "core", "--profile-name", "../x"}, `--profile-name "../x"`},
		"an empty kustomize dir":           {[]string{"--kustomize-dir", "", "--name", "core"}, "--kustomize-dir is empty"},
		"an attribute without a value":     {[]string{"--kustomize-dir", good, "--name", "core", "--attribute", "version"}, `--attribute "version" is not of the form key=value`},
		"an attribute twice":               {[]string{"--kustomize-dir", good, "--name", "core", "--attribute", "a=1", "--attribute", "a=2"}, `--attribute a is given twice, as "1" and "2"`},
		"an image reference nobody uses":   {[]string{"--kustomize-dir", good, "--name", "core", "--self-image-ref", "example.com/x"}, "the containers use registry.ci.openshift.org/openshift:self"},
		"a folder that is no kustomize":    {[]string{"--kustomize-dir", t.TempDir(), "--name", "core"}, "running kustomize on "},
		"an object that cannot be fitted":  {[]string{"--kustomize-dir", write(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}"), "--name", "core"}, "Deployment openshift-cluster-api/d: field spec.template.spec.containers is empty"},
		"an argument that is not a flag":   {[]string{"--kustomize-dir", good, "--name", "core", "extra"}, `"extra"`},
		"a name that ends in a dash":       {[]string{"--kustomize-dir", good, "--name", "core-"}, `--name "core-"`},
		"an order of more than 32 bits":    {[]string{"--kustomize-dir", good, "--name", "core", "--install-order", "2147483648"}, "32 bits"},
		"an unknown cluster resource":      {[]string{"--kustomize-dir", good, "--name", "core", "--protect-cluster-resource", "x"}, "no CustomResourceDefinition has this singular name; those of clusters are: none"},
		"an order that is no whole number": {[]string{"--kustomize-dir", good, "--name", "core", "--install-order", "first"}, "--install-order"},
	} {
		t.Run(name, func(t *testing.T) {
			output := t.TempDir()
			_, err := run(append(row.args, "--manifests-path", output)...)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want ...%s...", err, row.want)
			}
			if left, err := os.ReadDir(output); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestCommand_every_flag_is_explained_in_the_provider_contract(t *testing.T) {
	contract := read(t, "../../../docs/provider-contract.md")
	Command(nil).Flags().VisitAll(func(flag *pflag.Flag) {
		if !strings.Contains(contract, "`--"+flag.Name) {
			t.Errorf("docs/provider-contract.md does not mention --%s", flag.Name)
		}
	})
}

func TestCommand_help_explains_every_flag(t *testing.T) {
	out, err := run("--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{
		"manifests-path", "profile-name", "kustomize-dir", "name", "platform", "install-order", "self-image-ref", "attribute",
		"protect-cluster-resource", "manifests-summary", "check",
	} {
		if !strings.Contains(out, "--"+flag+" ") {
			t.Errorf("--help does not mention --%s:\n%s", flag, out)
		}
	}
}
