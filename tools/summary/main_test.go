package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRead_finds_tests_and_specs_and_leaves_out_the_test_that_runs_the_specs(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"faults.json": `[{"SpecReports": [
			{"LeafNodeType": "BeforeSuite", "State": "passed", "RunTime": 2000000000},
			{"ContainerHierarchyTexts": ["The operator"], "LeafNodeText": "heals", "LeafNodeType": "It", "State": "failed", "RunTime": 5000000000,
				"Failure": {"Message": "it did not", "Location": {"FileName": "heal_test.go", "LineNumber": 7}}},
			{"LeafNodeText": "is left out", "LeafNodeType": "It", "State": "skipped", "RunTime": 9000000000}]}]`,
		"faults.log":  "=== RUN   TestFaults\n--- PASS: TestFaults (7.02s)\n=== RUN   TestDocument\n    document_test.go:3: old\n--- FAIL: TestDocument (1.50s)\n    --- PASS: TestDocument/part (1.00s)\n",
		"cluster.log": "--- PASS: TestStart (3.25s)\nok  \tcluster\t9.1s\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(folder)
	want := []timed{
		{"faults", "The operator heals", 5 * time.Second, "heal_test.go:7: failed: it did not"},
		{"cluster", "TestStart", 3250 * time.Millisecond, ""},
		{"faults", "BeforeSuite", 2 * time.Second, ""},
		{"faults", "TestDocument", 1500 * time.Millisecond, "    document_test.go:3: old\n"},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}
