package tools

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const page = "../cmd/capstan/dashboard/page"

// What the libraries may take, and the page with them, as they are in the binary.
const libraryLimit, pageLimit = 100_000, 140_000

func pageFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(page, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, page+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheDashboardsPageIsSmall(t *testing.T) {
	var libraries, all int
	for name, text := range pageFiles(t) {
		all += len(text)
		if strings.HasPrefix(name, "lib/") {
			libraries += len(text)
		}
	}
	t.Logf("libraries %d bytes, with the page %d", libraries, all)
	if libraries > libraryLimit || all > pageLimit {
		t.Errorf("the libraries take %d bytes, of %d at most, and the page with them %d, of %d", libraries, libraryLimit, all, pageLimit)
	}
}

// The content policy would refuse these in a browser; here it is seen without one.
func TestTheDashboardsPageSetsTextAsTextAndHasNothingInline(t *testing.T) {
	never := regexp.MustCompile(`(?i)innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?:[^w]|w[^w])|javascript:|localStorage|document\.cookie`)
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:>|[^>]*>[^<])`)
	for name, text := range pageFiles(t) {
		if strings.HasPrefix(name, "lib/") {
			continue
		}
		if found := never.FindString(text); found != "" {
			t.Errorf("%s has %q", name, found)
		}
		if found := inline.FindString(text); found != "" && strings.HasSuffix(name, ".html") {
			t.Errorf("%s has %q inline", name, found)
		}
		if lines := strings.Count(text, "\n"); lines > 300 {
			t.Errorf("%s has %d lines: split it by topic", name, lines)
		}
	}
}

func TestTheDashboardsLibrariesArePinnedAndTheirLockFileNamesNoAddress(t *testing.T) {
	var wanted struct{ Dependencies map[string]string }
	var lock struct {
		Packages map[string]struct {
			Version, Resolved, Integrity string
		}
	}
	for file, into := range map[string]any{"page/package.json": &wanted, "page/package-lock.json": &lock} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		if strings.Contains(string(text), "://") && strings.HasSuffix(file, "lock.json") {
			t.Errorf("%s names an address", file)
		}
	}
	for name, version := range wanted.Dependencies {
		if got := lock.Packages["node_modules/"+name].Version; got != version {
			t.Errorf("%s is %q in package.json, and %q in the lock file", name, version, got)
		}
	}
	for name, one := range lock.Packages {
		if name != "" && (one.Integrity == "" || one.Resolved != "") {
			t.Errorf("%s has integrity %q and the address %q", name, one.Integrity, one.Resolved)
		}
	}
}
