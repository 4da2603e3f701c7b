package images

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
	c := &cache{arch: "any"}
	own := c.name(ref)
	for name, forge := range map[string]func(file, forged string) error{
		"a link":               func(file, forged string) error { return os.Symlink(forged, file) },
		"a pipe":               func(file, _ string) error { return syscall.Mkfifo(file, 0o600) },
		"a folder":             func(file, _ string) error { return os.Mkdir(file, 0o700) },
		"one all may write":    func(file, forged string) error { return errors.Join(os.Chmod(forged, 0o666), os.Rename(forged, file)) },
		"that of another user": func(file, forged string) error { return errors.Join(given(forged), os.Rename(forged, file)) },
		"that of other images": func(file, forged string) error { return os.Rename(forged, file) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, forged := t.TempDir(), filepath.Join(t.TempDir(), "forged")
			var content bytes.Buffer
			says := own
			if name == "that of other images" {
				says = "another name"
			}
			must(t, encode(&content, says, &Image{Profiles: []Profile{{Name: "a", Metadata: []byte("name: a"), Manifests: []byte("forged")}}}))
			must(t, os.WriteFile(forged, content.Bytes(), 0o600))
			must(t, forge(filepath.Join(dir, own), forged))
			p := pullOnce(t, Options{CacheDir: dir, Arch: "any"}, ref)
			if got := string(p.State(ref).Image.Profiles[0].Manifests); got != "a" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// given gives a file to another user, or to all where only root can do that.
func given(file string) error {
	if os.Geteuid() == 0 {
		return os.Chown(file, 12345, -1)
	}
	return os.Chmod(file, 0o666)
}

func TestCache_removes_no_file_that_is_not_its_own(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "new-year.txt"), nil, 0o600))
	(&cache{dir: dir}).open()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder has %v (%v)", files, err)
	}
}
