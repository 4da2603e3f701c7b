package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// hops is the number of files that an answer on the page may lead through.
const hops = 4

func TestEngine_names_files_that_exist_and_few_for_each_question(t *testing.T) {
	page, err := os.ReadFile("engine.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\[([^\]]*)\]\((\.\./[^)#]*)\)`)
	questions := 0
	for line := range strings.Lines(string(page)) {
		links := link.FindAllStringSubmatch(line, -1)
		for _, found := range links {
			if _, err := os.Stat(found[2]); err != nil {
				t.Errorf("%s: %v", found[1], err)
			}
			if strings.HasSuffix(found[1], ".go") && !strings.HasSuffix(found[2], "/"+found[1]) {
				t.Errorf("%s leads to %s", found[1], found[2])
			}
		}
		question, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !strings.HasSuffix(question, "?") {
			continue
		}
		questions++
		if len(links) == 0 || len(links) > hops {
			t.Errorf("%s is answered along %d files", question, len(links))
		}
	}
	if questions < 10 {
		t.Errorf("only %d questions were found", questions)
	}
}
