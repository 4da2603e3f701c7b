package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/deploy"
)

func TestOperator_the_deployment_uses_flags_that_exist(t *testing.T) {
	objects, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	deployments := 0
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		deployments++
		containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if err != nil || len(containers) != 1 {
			t.Fatalf("the Deployment has %d containers (%v)", len(containers), err)
		}
		args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		if want := map[string]string{"capstan": "operator", "capstan-webhooks": "webhooks"}[object.GetName()]; err != nil || len(args) == 0 || args[0] != want {
			t.Fatalf("its arguments are %v (%v)", args, err)
		}
		cmd, _, err := root().Find(args)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(args[1:]); err != nil {
			t.Errorf("parsing %v: %v", args, err)
		}
	}
	if deployments != 2 {
		t.Errorf("there are %d Deployments", deployments)
	}
}

func TestOperator_refuses_flags_that_make_no_sense(t *testing.T) {
	for want, f := range map[string]operatorFlags{
		"--release-version (or env RELEASE_VERSION) is needed": {concurrency: 8},
		"is not a version such as 4.22.6":                      {release: "a b", concurrency: 8},
		"--apply-concurrency 0 is less than 1":                 {release: "4.22.6"},
		"--provider-image-dir needs the name":                  {release: "4.22.6", concurrency: 1, providerImageDir: "/images"},
		"--pull-secret just-a-name is not of the form":         {release: "4.22.6", concurrency: 1, pullSecrets: []string{"a/b", "just-a-name"}},
		"--pull-secret a/b/c is not of the form":               {release: "4.22.6", concurrency: 1, pullSecrets: []string{"a/b/c"}},
	} {
		if err := f.validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for name, f := range map[string]operatorFlags{
		"a sound release":            {release: "4.22.6-rc.1", concurrency: 1},
		"an image of moves by a tag": {release: "4.22.6", concurrency: 1, privateCAPIImage: "registry.example.com/capstan:1"},
	} {
		if err := f.validate(); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
}

func TestBootImages_refuses_flags_that_make_no_sense(t *testing.T) {
	for want, arguments := range map[string][]string{
		"": {},
		"--boot-images X is neither MachineAPI nor ClusterAPI nor both": {"--boot-images=X"},
		"--boot-images ClusterAPI,ClusterAPI is neither":                {"--boot-images=ClusterAPI,ClusterAPI"},
		`--boot-image-gcp-project "a/b" is no project`:                  {"--boot-images=ClusterAPI", "--boot-image-gcp-project=a/b"},
		`--boot-image-os-stream "" is no stream`:                        {"--boot-images=ClusterAPI", "--boot-image-os-stream="},
		"--boot-image-skew-limits: ":                                    {"--boot-images=MachineAPI", "--boot-image-skew-limits=4.13"},
		"--boot-image-cpms-rolls-out-before: ":                          {"--boot-images=MachineAPI", "--boot-image-cpms-rolls-out-before=4.21.0"},
	} {
		flags, f := pflag.NewFlagSet("operator", pflag.ContinueOnError), &bootImageFlags{}
		f.addFlags(flags)
		if err := flags.Parse(arguments); err != nil {
			t.Fatal(err)
		}
		if err := f.validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", arguments, want, err)
		}
	}
	for text, want := range map[string][2]bool{"": {}, "MachineAPI": {true, false}, "ClusterAPI": {false, true}, "MachineAPI,ClusterAPI": {true, true}} {
		flags, f := pflag.NewFlagSet("operator", pflag.ContinueOnError), &bootImageFlags{}
		f.addFlags(flags)
		if err := flags.Parse([]string{"--boot-images=" + text}); err != nil {
			t.Fatal(err)
		}
		if o := f.options(); f.validate() != nil || o.MachineAPI != want[0] || o.ClusterAPI != want[1] || o.Stream != "rhel-9" {
			t.Errorf("--boot-images=%s is read as %+v", text, o)
		}
	}
}
