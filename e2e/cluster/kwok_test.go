package cluster_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "copy kwok's files from its module instead of comparing them")

// kwokSources says where each file under kwok comes from in sigs.k8s.io/kwok.
var kwokSources = map[string]string{
	"kwok.x-k8s.io_stages.yaml":  "kustomize/crd/bases/kwok.x-k8s.io_stages.yaml",
	"stage-node-initialize.yaml": "kustomize/stage/node/fast/node-initialize.yaml",
	"stage-node-heartbeat.yaml":  "kustomize/stage/node/heartbeat/node-heartbeat.yaml",
	"stage-pod-ready.yaml":       "kustomize/stage/pod/fast/pod-ready.yaml",
	"stage-pod-complete.yaml":    "kustomize/stage/pod/fast/pod-complete.yaml",
	"stage-pod-delete.yaml":      "kustomize/stage/pod/fast/pod-delete.yaml",
}

func TestEveryKwokFileIsACopyOfTheModulesOwn(t *testing.T) {
	const module = "sigs.k8s.io/kwok"
	// Downloading also tells where a module lies that is there already.
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	download.Dir = "../controlplane"
	out, err := download.Output()
	if err != nil {
		t.Fatalf("downloading %s: %v\n%s", module, err, out)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil || found.Dir == "" {
		t.Fatalf("finding %s in what go says (%v): %s", module, err, out)
	}
	dir := found.Dir
	for name, source := range kwokSources {
		original, err := os.ReadFile(filepath.Join(dir, source))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("kwok", name)
		if *update {
			if err := os.WriteFile(path, original, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if copied, err := os.ReadFile(path); err != nil || !bytes.Equal(copied, original) {
			t.Errorf("%s is not the module's %s (%v): run go generate -C e2e ./cluster", path, source, err)
		}
	}
	entries, err := os.ReadDir("kwok")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if kwokSources[entry.Name()] == "" {
			t.Errorf("kwok/%s has no source in this test: delete it or name where it comes from", entry.Name())
		}
	}
}
