package main

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/config"
	"github.com/capstan-capi/capstan/deploy"
)

func TestManager_the_deployment_uses_flags_that_exist(t *testing.T) {
	text, err := fs.ReadFile(config.Files, "manager/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := deploy.Parse(text)
	if err != nil || len(objects) != 1 {
		t.Fatalf("there are %d objects (%v)", len(objects), err)
	}
	containers, _, err := unstructured.NestedSlice(objects[0].Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		t.Fatalf("there are %d containers (%v)", len(containers), err)
	}
	args, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	cmd, flags, findErr := root().Find(args)
	if err != nil || findErr != nil || cmd.Name() != "manager" {
		t.Fatalf("%q runs %s (%v, %v)", args, cmd.Name(), err, findErr)
	}
	if err := cmd.ParseFlags(flags); err != nil {
		t.Errorf("%q: %v", args, err)
	}
}

func TestManager_refuses_flags_that_make_no_sense(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "")
	t.Setenv("IMAGE", "")
	for want, arguments := range map[string][]string{
		"--own-namespace (or env POD_NAMESPACE) is needed": nil,
		"--concurrency 0 is less than 1":                   {"--own-namespace=a", "--concurrency=0"},
		"--keys-ahead -1 is not between":                   {"--own-namespace=a", "--keys-ahead=-1"},
		"--keys-ahead 1001 is not between":                 {"--own-namespace=a", "--keys-ahead=1001"},
		`--image "a b" is no reference`:                    {"--own-namespace=a", "--image=a b"},
		`--watch-filter "a b" is no value of a label`:      {"--own-namespace=a", "--watch-filter=a b"},
	} {
		cmd := root()
		cmd.SetArgs(slices.Concat([]string{"manager"}, arguments))
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", arguments, err, want)
		}
	}
}
