package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestProblem_names_what_passed_direct_and_not_by_the_proxy_twice(t *testing.T) {
	r := result{
		suite: "s", requests: 1,
		direct:  outcomes{"both": passed, "lost": passed, "hung": passed, "shaky": passed, "broken anyway": failed, "skipped": skipped},
		proxied: outcomes{"both": passed, "lost": failed, "shaky": failed, "broken anyway": passed, "skipped": skipped},
		again:   outcomes{"lost": failed, "shaky": passed},
	}
	err := r.problem()
	if err == nil || !strings.Contains(err.Error(), "2 passed direct") || !strings.Contains(err.Error(), "lost (failed)") || !strings.Contains(err.Error(), "hung (missing)") {
		t.Fatal(err)
	}
	if got := r.gained(); !slices.Equal(got, []string{"broken anyway"}) {
		t.Error(got)
	}
	var out strings.Builder
	if err := table(&out, []result{{suite: "other", direct: outcomes{"a": passed}, proxied: outcomes{"a": passed}, requests: 3, translated: 2, took: time.Minute}, r}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4                2 ", "s: passed direct, and by the proxy at the second try: shaky", "s: passed by the proxy alone: broken anyway", "s: failed direct: broken anyway"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestProblem_does_not_take_a_suite_that_proved_nothing_for_one_that_passed(t *testing.T) {
	for name, r := range map[string]result{
		"nothing passed direct":         {requests: 1, direct: outcomes{"a": failed}, proxied: outcomes{"a": passed}},
		"the proxy was never asked":     {direct: outcomes{"a": passed}, proxied: outcomes{"a": passed}},
		"nothing was run by the proxy":  {requests: 1, direct: outcomes{"a": passed}},
		"nothing was run, on each side": {requests: 1},
	} {
		if r.problem() == nil {
			t.Error(name)
		}
	}
	if err := (result{requests: 1, direct: outcomes{"a": passed, "b": failed}, proxied: outcomes{"a": passed}}).problem(); err != nil {
		t.Error(err)
	}
}

func TestRead_adds_up_what_the_proxy_was_asked(t *testing.T) {
	var r result
	const metrics = `# HELP hypershift_api_proxy_requests_total Requests.
hypershift_api_proxy_requests_total{class="mapped",code="200",verb="get"} 3
hypershift_api_proxy_requests_total{class="other",code="200",verb="get"} 4
hypershift_api_proxy_open_watches 9
`
	if err := r.read(strings.NewReader(metrics)); err != nil || r.requests != 7 || r.translated != 3 {
		t.Fatal(err, r.requests, r.translated)
	}
}

func TestChoose_takes_names_and_beginnings_of_names(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) < 20 {
		t.Fatal(err, len(all))
	}
	some, err := choose("controllerruntime,clusterapi-util")
	if err != nil || len(some) != 3 {
		t.Fatal(err, some)
	}
	one, err := choose("clusterapi-internal-controllers-machine")
	if err != nil || len(one) != 1 {
		t.Error(err, one)
	}
	if _, err := choose("nothing"); err == nil {
		t.Error("a suite that is not there was taken")
	}
}

func TestOnly_names_specs_exactly(t *testing.T) {
	if got := (suite{ginkgo: true}).only([]string{"A (b) #2", "C"}); !slices.Equal(got, []string{`--ginkgo.focus=^A \(b\)$|^C$`}) {
		t.Error(got)
	}
	if got := (suite{}).only([]string{"TestA/x", "TestB", "TestA/y/z"}); !slices.Equal(got, []string{"-test.run=^(TestA|TestB)$"}) {
		t.Error(got)
	}
}

// ginkgo runs what any focus names: what is run again alone would be the whole suite.
func TestCommand_has_one_focus(t *testing.T) {
	s := suite{name: "s", ginkgo: true, focus: "all"}
	r := &runner{logs: t.TempDir()}
	for want, more := range map[string][]string{"--ginkgo.focus=all": nil, "--ginkgo.focus=^A$": s.only([]string{"A"})} {
		command, _, err := r.command(t.Context(), s, &place{}, "", more)
		if err != nil {
			t.Fatal(err)
		}
		focused := slices.DeleteFunc(command, func(argument string) bool { return !strings.HasPrefix(argument, "--ginkgo.focus") })
		if !slices.Equal(focused, []string{want}) {
			t.Errorf("the suite is told %v", focused)
		}
	}
}
