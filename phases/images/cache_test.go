package images

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func cached(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+cacheEnding))
	must(t, err)
	return files
}

func pullOnce(t *testing.T, o Options, refs ...Ref) *running {
	t.Helper()
	p := runPuller(t, o)
	p.Want(refs)
	for _, ref := range refs {
		p.ready(ref)
	}
	return p
}

func TestCache_makes_a_restart_independent_of_the_registry(t *testing.T) {
	r := newRegistry(t)
	one := r.push(imageOf(t, joined(profileAt(root+"/a", "a"), profileAt(root+"/b", "b"))))
	two := r.push(imageOf(t, profileAt(root+"/c", "c")))
	dir := filepath.Join(t.TempDir(), "made", "by", "the", "cache")
	first := pullOnce(t, Options{CacheDir: dir}, one, two)
	first.stop()
	r.stop()

	before := r.requests.Load()
	stored, err := os.Stat(cached(t, dir)[0])
	must(t, err)
	second := pullOnce(t, Options{CacheDir: dir}, one, two)
	for _, ref := range []Ref{one, two} {
		was, is := first.State(ref).Image, second.State(ref).Image
		if len(was.Profiles) != len(is.Profiles) {
			t.Fatalf("%d profiles became %d", len(was.Profiles), len(is.Profiles))
		}
		for i := range was.Profiles {
			if was.Profiles[i].Name != is.Profiles[i].Name || string(was.Profiles[i].Metadata) != string(is.Profiles[i].Metadata) ||
				string(was.Profiles[i].Manifests) != string(is.Profiles[i].Manifests) {
				t.Errorf("%+v became %+v", was.Profiles[i], is.Profiles[i])
			}
		}
	}
	if now, err := os.Stat(cached(t, dir)[0]); err != nil || !os.SameFile(stored, now) {
		t.Errorf("what was in the cache was written again: %v", err)
	}
	if second.Warning() != "" || r.requests.Load() != before {
		t.Errorf("the restart was not silent: %q, %d requests", second.Warning(), r.requests.Load()-before)
	}
}

func TestCache_fetches_a_damaged_entry_again(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "content")))
	for name, damage := range map[string]func([]byte) []byte{
		"content changed":    func(b []byte) []byte { return []byte(strings.Replace(string(b), "content", "CONTENT", 1)) },
		"cut short":          func(b []byte) []byte { return b[:len(b)-10] },
		"empty":              func([]byte) []byte { return nil },
		"the header changed": func(b []byte) []byte { b[0]++; return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pullOnce(t, Options{CacheDir: dir}, ref).stop()
			file := cached(t, dir)[0]
			good, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, damage([]byte(string(good))), 0o600))

			p := pullOnce(t, Options{CacheDir: dir}, ref)
			if got := string(p.State(ref).Image.Profiles[0].Manifests); got != "content" {
				t.Errorf("got %q", got)
			}
			if repaired, err := os.ReadFile(file); err != nil || string(repaired) != string(good) {
				t.Errorf("the entry was not repaired: %v", err)
			}
		})
	}
}

func TestCache_that_cannot_be_written_is_a_warning_until_it_can(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	blocker := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(blocker, nil, 0o600))
	dir := filepath.Join(blocker, "cache")
	p := pullOnce(t, Options{CacheDir: dir}, ref)
	for _, part := range []string{dir, "not a directory", "held in memory", "after a restart"} {
		if !strings.Contains(p.Warning(), part) {
			t.Errorf("the warning does not say %q: %q", part, p.Warning())
		}
	}
	must(t, os.Remove(blocker))
	p.clock.Step(lastRetry)
	p.await(ref, "the end of the warning", func(State) bool { return p.Warning() == "" })
	if len(cached(t, dir)) != 1 {
		t.Errorf("the image was not stored")
	}
}

func TestCache_forgets_the_warning_with_the_image(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	blocker := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(blocker, nil, 0o600))
	p := pullOnce(t, Options{CacheDir: filepath.Join(blocker, "cache")}, ref)
	p.Want(nil)
	if p.Warning() != "" {
		t.Errorf("it still warns: %s", p.Warning())
	}
}

func TestCache_drops_what_was_used_longest_ago_but_nothing_wanted(t *testing.T) {
	r := newRegistry(t)
	var refs []Ref
	for _, name := range []string{"a", "b", "c", "d"} {
		refs = append(refs, r.push(imageOf(t, profileAt(root+"/"+name, strings.Repeat(name, 10_000)))))
	}
	dir := t.TempDir()
	c := &cache{dir: dir, arch: "any"}
	exists := func(ref Ref) bool { _, err := os.Stat(filepath.Join(dir, c.name(ref))); return err == nil }
	// Room for two of these images, which have 12 to 13 kB in the cache.
	o := Options{CacheDir: dir, CacheBytes: 30_000, Arch: "any"}
	pullOnce(t, o, refs[0]).stop()
	pullOnce(t, o, refs[1]).stop()
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(dir, c.name(refs[0])), old.Add(-time.Minute), old.Add(-time.Minute)))
	must(t, os.Chtimes(filepath.Join(dir, c.name(refs[1])), old, old))
	pullOnce(t, o, refs[0]).stop() // used again, so younger than refs[1]

	pullOnce(t, o, refs[2]).stop()
	if !exists(refs[0]) || exists(refs[1]) || !exists(refs[2]) {
		t.Errorf("the first, second, third image are there: %t, %t, %t; want the second dropped", exists(refs[0]), exists(refs[1]), exists(refs[2]))
	}
	pullOnce(t, o, refs...).stop()
	for i, ref := range refs {
		if !exists(ref) {
			t.Errorf("image %d is wanted and was dropped", i)
		}
	}
}

func TestCache_drops_nothing_of_a_listed_revision_that_is_not_needed_now(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	o := Options{CacheDir: dir, CacheBytes: 1}
	listed := r.push(imageOf(t, profileAt(root+"/a", "a")))
	p := pullOnce(t, o, listed)
	p.Source.(*Puller).Spare([]Ref{listed})
	next := r.push(imageOf(t, profileAt(root+"/b", "b")))
	p.Want([]Ref{next})
	p.ready(next)
	if got := cached(t, dir); len(got) != 2 {
		t.Errorf("the cache has %v", got)
	}
	p.Source.(*Puller).Spare(nil)
	last := r.push(imageOf(t, profileAt(root+"/c", "c")))
	p.Want([]Ref{last})
	p.ready(last)
	if got := cached(t, dir); len(got) != 1 || !strings.Contains(got[0], last.Digest()[len("sha256:"):]) {
		t.Errorf("the cache has %v, and only the image %s is listed", got, last)
	}
	// With the registry gone, what was kept is all that is needed.
	r.stop()
	p.stop()
	pullOnce(t, o, last)
}

func TestCache_removes_what_a_killed_process_left(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, cacheTemp+"123"), []byte("half"), 0o600))
	judging, err := judgeFolder(dir)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(judging, "signature-1"), nil, 0o600))
	pullOnce(t, Options{CacheDir: dir}, ref)
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 1 || !strings.HasSuffix(files[0].Name(), cacheEnding) {
		t.Errorf("the folder has %v", files)
	}
}

func TestCache_keeps_architectures_apart(t *testing.T) {
	a, b := &cache{arch: "amd64"}, &cache{arch: "arm64"}
	if ref := Ref("host/path@" + someDigest); a.name(ref) == b.name(ref) {
		t.Errorf("both are %s", a.name(ref))
	}
}
