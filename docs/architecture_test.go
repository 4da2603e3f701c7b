package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wings are the folders whose folders are rooms. Everywhere else a room is a folder at the top.
var wings = []string{"cmd", "controllers", "guards", "machine", "phases"}

func TestArchitecture_tells_of_every_room_and_of_no_other(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	told := rooms(t, string(page))
	there := foldersOfGo(t)
	for i, room := range told {
		if slices.Contains(told[:i], room) {
			t.Errorf("docs/architecture.md has two rows for the room %s", room)
		}
		if info, err := os.Stat(filepath.Join("..", room)); err != nil || !info.IsDir() {
			t.Errorf("docs/architecture.md has a room %s, which is no folder", room)
		}
	}
	for _, folder := range there {
		if !slices.Contains(told, folder) {
			t.Errorf("docs/architecture.md has no row for the room %s: say what is in it, and what it refuses", folder)
		}
	}
	if len(told) < 20 || len(there) < 20 {
		t.Errorf("only %d rows and %d rooms were found", len(told), len(there))
	}
}

// rooms are the folders in the first column of the table of rooms: <m> stands for every machine that has such a folder, {a,b} for
// a and b.
func rooms(t *testing.T, page string) []string {
	t.Helper()
	_, table, found := strings.Cut(page, "| Room |")
	if !found {
		t.Fatal("there is no table of rooms")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for line := range strings.Lines(table) {
		column, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(column, -1) {
			told = append(told, expanded(t, name[1])...)
		}
	}
	return told
}

func expanded(t *testing.T, name string) []string {
	t.Helper()
	if before, after, several := strings.Cut(name, "{"); several {
		var all []string
		for one := range strings.SplitSeq(strings.TrimSuffix(after, "}"), ",") {
			all = append(all, before+one)
		}
		return all
	}
	wing, isMachine := strings.CutSuffix(name, "<m>")
	if !isMachine {
		return []string{name}
	}
	var all []string
	for _, folder := range foldersIn(t, "machine") {
		room := wing + filepath.Base(folder)
		if info, err := os.Stat(filepath.Join("..", room)); err == nil && info.IsDir() && room != "machine/machinetest" {
			all = append(all, room)
		}
	}
	return all
}

// foldersOfGo are the rooms that there are: whatever has Go files in it or below.
func foldersOfGo(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, folder := range foldersIn(t, ".") {
		if !slices.Contains(wings, folder) {
			all = append(all, folder)
			continue
		}
		if files, _ := filepath.Glob(filepath.Join("..", folder, "*.go")); files != nil {
			all = append(all, folder)
		}
		all = append(all, foldersIn(t, folder)...)
	}
	return all
}

func foldersIn(t *testing.T, parent string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("..", parent))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		name := filepath.Join(parent, entry.Name())
		if entry.IsDir() && entry.Name() != "bin" && entry.Name() != "testdata" && !strings.HasPrefix(entry.Name(), ".") && hasGo(t, name) {
			all = append(all, name)
		}
	}
	return all
}

func hasGo(t *testing.T, folder string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(filepath.Join("..", folder), func(name string, _ os.DirEntry, err error) error {
		if found = found || strings.HasSuffix(name, ".go"); found {
			return filepath.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
