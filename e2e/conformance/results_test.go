package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTesting_tells_of_tests_that_have_no_subtests_and_of_failures_of_their_own(t *testing.T) {
	output := strings.Join([]string{
		"a log that says --- PASS: TestForged (0.00s)",
		"\x16=== RUN   TestA",
		"a log without an end\x16--- PASS: TestA (0.10s)",
		"\x16--- FAIL: TestB (0.20s)",
		"    \x16--- PASS: TestB/one (0.10s)",
		"    \x16--- FAIL: TestB/two (0.10s)",
		"        \x16--- SKIP: TestB/two/deeper (0.10s)",
		"\x16--- PASS: TestC (0.10s)",
		"    \x16--- PASS: TestC/only_one (0.10s)",
		"\x16=== RUN   TestHangs",
	}, "\n")
	found, err := readTesting(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	want := outcomes{"TestA": passed, "TestB": failed, "TestB/one": passed, "TestB/two": failed, "TestB/two/deeper": skipped, "TestC/only_one": passed}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if how := found.of("TestHangs"); how != missing {
		t.Errorf("what has not ended is %s", how)
	}
}

func TestReadTesting_has_one_name_for_tests_that_only_a_seed_tells_apart(t *testing.T) {
	output := strings.Join([]string{
		"\x16--- FAIL: TestA (0.20s)",
		"    \x16--- PASS: TestA/B/random(1795842196299749175) (0.10s)",
		"    \x16--- FAIL: TestA/C/random(1795842196300504507) (0.10s)",
		"    \x16--- PASS: TestA/C/random(1795842196301137258) (0.10s)",
		"    \x16--- SKIP: TestA/B/random(0) (0.10s)",
	}, "\n")
	found, err := readTesting(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcomes{"TestA": failed, "TestA/B/random": passed, "TestA/C/random": failed}, found); diff != "" {
		t.Error(diff)
	}
}

func TestReadGinkgo_tells_of_specs_that_were_run_and_of_a_suite_that_could_not_begin(t *testing.T) {
	const report = `[{"SpecReports":[
{"LeafNodeType":"It","ContainerHierarchyTexts":["A"],"LeafNodeText":"works","State":"passed","NumAttempts":1},
{"LeafNodeType":"It","ContainerHierarchyTexts":["A"],"LeafNodeText":"works","State":"timedout","NumAttempts":1},
{"LeafNodeType":"It","ContainerHierarchyTexts":["A"],"LeafNodeText":"was left out","State":"skipped"},
{"LeafNodeType":"It","ContainerHierarchyTexts":["A"],"LeafNodeText":"skips itself","State":"skipped","NumAttempts":1},
{"LeafNodeType":"It","ContainerHierarchyTexts":["A"],"LeafNodeText":"is not written","State":"pending"},
{"LeafNodeType":"BeforeSuite","State":"failed","NumAttempts":1},
{"LeafNodeType":"AfterSuite","State":"failed","NumAttempts":1}]}]`
	found, err := readGinkgo(strings.NewReader(report))
	if err != nil {
		t.Fatal(err)
	}
	want := outcomes{"A works": passed, "A works #2": failed, "A skips itself": skipped, "[AfterSuite] ": failed}
	if !maps.Equal(want, found) {
		t.Errorf("%v", found)
	}
	const unbegun = `[{"SpecReports":[{"LeafNodeType":"It","LeafNodeText":"works","State":"skipped"},{"LeafNodeType":"BeforeSuite","State":"failed","NumAttempts":1}]}]`
	if found, err := readGinkgo(strings.NewReader(unbegun)); err != nil || len(found) > 0 {
		t.Errorf("of a suite that could not begin: %v, %v", found, err)
	}
	if _, err := readGinkgo(strings.NewReader("[")); err == nil {
		t.Error("half a report was taken for one")
	}
}
