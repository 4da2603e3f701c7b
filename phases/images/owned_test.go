package images

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestCache_uses_no_folder_that_others_may_write_to(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	dir := filepath.Join(t.TempDir(), "cache")
	pullOnce(t, Options{CacheDir: dir}, ref).stop()
	must(t, os.Chmod(dir, 0o777))
	before := r.requests.Load()
	p := pullOnce(t, Options{CacheDir: dir}, ref)
	if r.requests.Load() == before {
		t.Error("the image was read from there")
	}
	if !strings.Contains(p.Warning(), "others may write to it (-rwxrwxrwx); give a folder of your own") {
		t.Errorf("it is not told: %q", p.Warning())
	}
}

func TestCache_reads_no_file_that_another_may_have_made(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	other := r.push(imageOf(t, profileAt(root+"/a", "forged")))
	for name, forge := range map[string]func(file, forged string) error{
		"a link":                   func(file, forged string) error { return os.Symlink(forged, file) },
		"a pipe":                   func(file, _ string) error { return syscall.Mkfifo(file, 0o600) },
		"a folder":                 func(file, _ string) error { return os.Mkdir(file, 0o700) },
		"one that all may write":   func(file, forged string) error { return os.Rename(forged, file) },
		"that of another image":    func(file, forged string) error { return os.Rename(forged, file) },
		"a file of another user's": func(file, forged string) error { return os.Rename(forged, file) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), t.TempDir()
			c := &cache{dir: dir, arch: "any"}
			pullOnce(t, Options{CacheDir: elsewhere, Arch: "any"}, other).stop()
			forged := filepath.Join(elsewhere, c.name(other))
			switch name {
			case "one that all may write":
				must(t, os.Chmod(forged, 0o666))
			case "a file of another user's":
				if os.Geteuid() == 0 {
					must(t, os.Chown(forged, 12345, -1))
				}
			}
			must(t, forge(filepath.Join(dir, c.name(ref)), forged))
			p := pullOnce(t, Options{CacheDir: dir, Arch: "any"}, ref)
			if got := string(p.State(ref).Image.Profiles[0].Manifests); got != "a" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestCache_removes_no_file_that_is_not_its_own(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "new-year.txt"), nil, 0o600))
	(&cache{dir: dir}).open()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder has %v (%v)", files, err)
	}
}

func TestMounted_follows_no_link_out_and_waits_for_no_pipe(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	ref := refs(1)[0]
	must(t, os.WriteFile(filepath.Join(elsewhere, RefFile), []byte(ref), 0o600))
	for name, make := range map[string]func(file string) error{
		"link": func(file string) error { return os.Symlink(filepath.Join(elsewhere, RefFile), file) },
		"pipe": func(file string) error { return syscall.Mkfifo(file, 0o600) },
	} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		must(t, make(filepath.Join(dir, name, RefFile)))
	}
	s := run(t, func(notify func(), clk *clocktesting.FakeClock) Source {
		return NewMounted(dir, notify, clk, logr.Discard())
	})
	s.Want([]Ref{ref})
	_, err := s.failed(ref)
	contains(t, err, "link (no image-ref that can be read)", "pipe (no image-ref that can be read)")
}
