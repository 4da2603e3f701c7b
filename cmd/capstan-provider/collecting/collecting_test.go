package collecting_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/capstan-capi/capstan/cmd/capstan-provider/collecting"
	"github.com/capstan-capi/capstan/phases/payload/job"
)

const config = `{"ignition":{"version":"3.2.0"}}`

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// run collects with an empty Secret of the name there, and returns what that holds then.
func run(t *testing.T, c collecting.Collector) (map[string][]byte, error) {
	t.Helper()
	secrets := fake.NewClientset(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a"}}).CoreV1().Secrets("fleet")
	c.Secrets, c.Name = secrets, "a"
	failed := c.Run(t.Context())
	stored, err := secrets.Get(context.Background(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return stored.Data, failed
}

func TestCollector_stores_what_the_installer_has_made(t *testing.T) {
	data, err := run(t, collecting.Collector{Assets: fstest.MapFS{}, Work: fstest.MapFS{
		job.ExitFile: file("0\n"), "bootstrap.ign": file(config), "master.ign": file(config), "worker.ign": file(config),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := job.Unpack(data); err != nil || string(found.Worker) != config {
		t.Errorf("stored is %q (%v)", found.Worker, err)
	}
	if _, logged := data[job.LogKey]; logged {
		t.Error("there is a log of what has not failed")
	}
}

func TestCollector_stores_the_log_of_a_failure_without_what_is_secret(t *testing.T) {
	assets := fstest.MapFS{"install-config.yaml": file("pullSecret: '{\"auths\":{\"r\":{\"auth\":\"aHVudGVyMjpodW50ZXIy\"}}}'\n")}
	for name, row := range map[string]struct {
		work fstest.MapFS
		says string
	}{
		"the installer has failed": {fstest.MapFS{
			job.ExitFile: file("3"), job.LogFile: file("level=fatal msg=\"with aHVudGVyMjpodW50ZXIy it is refused\"\n"),
		}, "ended with code 3"},
		"a config is missing": {fstest.MapFS{job.ExitFile: file("0"), "bootstrap.ign": file(config)}, "master.ign"},
		"a config is refused": {fstest.MapFS{
			job.ExitFile: file("0"), "bootstrap.ign": file("{}"), "master.ign": file(config), "worker.ign": file(config),
		}, "bootstrap.ign"},
	} {
		data, err := run(t, collecting.Collector{Assets: assets, Work: row.work})
		if err == nil {
			t.Errorf("%s: the attempt counts as a success", name)
		}
		log := string(data[job.LogKey])
		if len(data) != 1 || !strings.Contains(log, row.says) || strings.Contains(log, "aHVudGVy") {
			t.Errorf("%s: stored is %q", name, data)
		}
	}
}

func TestCollector_finds_what_is_secret_in_the_folders_of_a_volume(t *testing.T) {
	volume := t.TempDir()
	manifests := filepath.Join(volume, "..2026", "manifests")
	if err := os.MkdirAll(manifests, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(manifests, "a.yaml"), []byte("kind: Secret\nstringData:\n  key: hunter-two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"..data": "..2026", "manifests": "..data/manifests"} {
		if err := os.Symlink(to, filepath.Join(volume, link)); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := run(t, collecting.Collector{Assets: os.DirFS(volume), Work: fstest.MapFS{job.ExitFile: file("1"), job.LogFile: file("got hunter-two\n")}})
	if log := string(data[job.LogKey]); strings.Contains(log, "hunter") || !strings.Contains(log, "got ") {
		t.Errorf("stored is %q", log)
	}
}

func TestCollector_waits_for_the_installer_until_it_is_told_to_end(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := (collecting.Collector{Work: fstest.MapFS{job.ExitFile: file("")}}).Run(ctx); err == nil {
		t.Error("a run that has not ended was collected")
	}
}
