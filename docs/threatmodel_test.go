package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestThreatModel_names_tests_that_exist(t *testing.T) {
	page, err := os.ReadFile("threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := strings.Split(string(page), "| Wall | Test |\n")[1:]
	if len(tables) != 2 {
		t.Fatalf("there are %d tables of walls", len(tables))
	}
	rows, tests := 0, textOfTests(t)
	for _, table := range tables {
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			columns := strings.Split(strings.Trim(line, "| \n"), " | ")
			if !strings.HasPrefix(line, "| T") {
				continue
			}
			rows++
			if strings.HasSuffix(strings.TrimSpace(line), "| |") {
				continue // no wall
			}
			if checkTests(t, columns[len(columns)-1], tests) == 0 {
				t.Errorf("no test shows what stops %s", line)
			}
		}
	}
	if rows < 30 {
		t.Errorf("only %d rows were found", rows)
	}
}

// checkTests wants the files, the specs in quotes and the test functions that a column names to be there, and says how many
// there are. A folder is not enough: it says nothing of which test it is.
func checkTests(t *testing.T, column, tests string) (named int) {
	t.Helper()
	for _, file := range regexp.MustCompile(`[\w-]+(?:/[\w-]+)+(?:\.go)?`).FindAllString(column, -1) {
		if _, err := os.Stat(filepath.Join("..", file)); err != nil {
			t.Errorf("%s: %v", file, err)
		} else if strings.HasSuffix(file, "_test.go") {
			named++
		}
	}
	for _, quoted := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(column, -1) {
		if named++; !strings.Contains(tests, `Describe("`+quoted[1]+`"`) {
			t.Errorf("no suite describes %q", quoted[1])
		}
	}
	for _, function := range regexp.MustCompile("`(Test\\w+?)(?:\\.\\.\\.)?`").FindAllStringSubmatch(column, -1) {
		if named++; !strings.Contains(tests, "func "+function[1]) {
			t.Errorf("there is no %s", function[1])
		}
	}
	return named
}

// textOfTests is that of all test files.
func textOfTests(t *testing.T) string {
	t.Helper()
	var texts strings.Builder
	for _, folder := range []string{"cmd", "deploy", "e2e", "guards", "phases", "webhooks"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(name string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			texts.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts.String()
}
