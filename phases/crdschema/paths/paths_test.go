package paths_test

import (
	"testing"

	"github.com/capstan-capi/capstan/phases/crdschema/paths"
)

func TestParse_gives_what_Path_was_made_of(t *testing.T) {
	want := paths.Subject{Name: "capstan-shape.clusters.cluster.x-k8s.io.0a1b2c3d", UID: "8f7c6c8e-0000-4000-8000-000000000001", Generation: 12}
	got, ok := paths.Parse(paths.Objects, want.Path(paths.Objects))
	if !ok || got != want {
		t.Fatalf("%v %v, want %v", got, ok, want)
	}
}

func TestParse_takes_no_other_path(t *testing.T) {
	for _, path := range []string{
		"", "/objects/", "/objects/a", "/objects/a/b", "/objects/a/b/", "/objects/a/b/0", "/objects/a/b/-1", "/objects/a/b/+1", "/objects/a/b/01",
		"/objects/a/b/1/", "/objects/a//1", "/objects//b/1", "/objects/a/b/1/2", "/prune/a/b/1", "/objects/a/b/99999999999999999999",
	} {
		if subject, ok := paths.Parse(paths.Objects, path); ok {
			t.Errorf("%q gives %v", path, subject)
		}
	}
}
