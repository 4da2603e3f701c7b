package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	links    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fences   = regexp.MustCompile("(?s)\n *```.*?\n *```")
	dropped  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

func TestPages_link_to_files_and_headings_that_exist(t *testing.T) {
	count := 0
	for _, page := range filesOf(t, ".md") {
		text := fences.ReplaceAllString(read(t, page), "")
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			count++
			file, heading, _ := strings.Cut(link[1], "#")
			target := page
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(page), file))
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s links to %s: %v", page, link[1], err)
			} else if heading != "" && strings.HasSuffix(target, ".md") && !anchors(read(t, target))[heading] {
				t.Errorf("%s links to %s, and there is no such heading", page, link[1])
			}
		}
	}
	if count < 200 {
		t.Errorf("only %d links were found", count)
	}
}

// anchors are the headings of a page as links name them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, heading := range headings.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		all[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	return all
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
