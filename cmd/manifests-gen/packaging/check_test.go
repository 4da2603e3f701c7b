package packaging

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packaged writes a profile with a summary and returns its folder and the arguments that wrote it.
func packaged(t *testing.T) (folder string, args []string) {
	t.Helper()
	output := t.TempDir()
	args = []string{"--manifests-path", output, "--kustomize-dir", write(t, deployment), "--name", "core", "--manifests-summary"}
	if _, err := run(args...); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(output, "default"), args
}

func TestCommand_check_is_silent_when_nothing_would_change(t *testing.T) {
	_, args := packaged(t)
	if out, err := run(append(args, "--check")...); err != nil || out != "" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestCommand_check_shows_what_would_change_and_changes_nothing(t *testing.T) {
	for name, row := range map[string]struct {
		file, from, to string
		diff           []string
	}{
		"an edited object":   {ManifestsFile, "cpu: 10m", "cpu: 20m", []string{"--- ", "@@ ", "-            cpu: 20m\n", "+            cpu: 10m\n"}},
		"edited metadata":    {MetadataFile, "installOrder: 0", "installOrder: 1", []string{"-installOrder: 1\n", "+installOrder: 0\n"}},
		"an edited summary":  {SummaryFile, "name: manager", "name: other", []string{"-  name: other\n", "+  name: manager\n"}},
		"a missing line end": {MetadataFile, "installOrder: 0\n", "installOrder: 0", []string{"No newline at end of file"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder, args := packaged(t)
			path := filepath.Join(folder, row.file)
			edited := strings.Replace(read(t, path), row.from, row.to, 1)
			if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := run(append(args, "--check")...)
			var stale *StaleError
			if !errors.As(err, &stale) || len(stale.Files) != 1 || stale.Files[0] != path {
				t.Errorf("got %v, want a StaleError about %s", err, path)
			}
			for _, line := range row.diff {
				if !strings.Contains(out, line) {
					t.Errorf("%q is not in\n%s", line, out)
				}
			}
			if read(t, path) != edited {
				t.Error("the file was written")
			}
		})
	}
}

func TestCommand_check_names_a_file_that_does_not_exist(t *testing.T) {
	folder, args := packaged(t)
	path := filepath.Join(folder, MetadataFile)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	out, err := run(append(args, "--check")...)
	if err == nil || !strings.Contains(out, path+" does not exist\n") {
		t.Errorf("got %q, %v", out, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was written: %v", err)
	}
}

func TestCommand_again_gives_the_same_bytes(t *testing.T) {
	folder, args := packaged(t)
	before := map[string]string{}
	for _, file := range []string{ManifestsFile, MetadataFile, SummaryFile} {
		before[file] = read(t, filepath.Join(folder, file))
	}
	if _, err := run(args...); err != nil {
		t.Fatal(err)
	}
	for file, want := range before {
		if got := read(t, filepath.Join(folder, file)); got != want {
			t.Errorf("%s is now\n%s\nit was\n%s", file, got, want)
		}
	}
}
