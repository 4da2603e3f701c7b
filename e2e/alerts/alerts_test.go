package alerts

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"go.yaml.in/yaml/v3"
)

// interval is that of scrapes and of evaluations.
const interval = 30 * time.Second

// These ask for something else than what the operator counts of all alerts.
const (
	absent      = "CapstanAbsent"
	unreachable = "CapstanCheckerUnreachable"
	paused      = "CapstanPaused"
)

// file are the rules as Prometheus's operator gives them to Prometheus.
func file(t *testing.T) []rulefmt.Rule {
	t.Helper()
	found := rulesOf(t, "../../deploy/alerts.yaml")
	if len(found) < 10 {
		t.Fatalf("there are only %d rules", len(found))
	}
	return found
}

func rulesOf(t *testing.T, path string) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec yaml.Node `yaml:"spec"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	spec, err := yaml.Marshal(&object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, problems := rulefmt.Parse(spec, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(problems) > 0 || len(groups.Groups) != 1 {
		t.Fatalf("the rules are not sound: %v; %+v", problems, groups)
	}
	return groups.Groups[0].Rules
}

// series is what the operator tells of an alert of a machine, as promqltest reads it, from one pod.
func series(machine, alert, values string) string {
	return fmt.Sprintf("  capstan_needs_attention{machine=%q,alert=%q,namespace=%q,pod=\"one\"} %s\n", machine, alert, "openshift-cluster-api-operator", values)
}

// asked finds the machine in the rule's expression: each rule is about one.
var asked = regexp.MustCompile(`machine="([a-z]+)"`)

// machineOf names the machine whose alert the rule is, and whether it is of that one alone.
func machineOf(t *testing.T, rule rulefmt.Rule) (machine string, alone bool) {
	t.Helper()
	found := asked.FindAllStringSubmatch(rule.Expr, -1)
	switch len(found) {
	case 0:
		return "clusterapi", false
	case 1:
		return found[0][1], true
	}
	t.Fatalf("%s is about %d machines: %s", rule.Alert, len(found), rule.Expr)
	return "", false
}

// firing are the moments, as durations since the beginning, at which a rule fires.
func firing(t *testing.T, rule rulefmt.Rule, told string, until time.Duration) (moments []time.Duration) {
	t.Helper()
	loader, err := promqltest.NewLazyLoader("load 30s\n"+told, promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		t.Fatal(err)
	}
	defer loader.Close()
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(rule.Expr)
	if err != nil {
		t.Fatal(err)
	}
	alerting := rules.NewAlertingRule(rule.Alert, expression, time.Duration(rule.For), 0,
		labels.FromMap(rule.Labels), labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	for at := time.Duration(0); at <= until; at += interval {
		now := time.Unix(0, 0).UTC().Add(at)
		loader.WithSamplesTill(now, func(err error) {
			if err == nil {
				_, err = alerting.Eval(t.Context(), 0, now, rules.EngineQueryFunc(loader.QueryEngine(), loader.Storage()), nil, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if slices.ContainsFunc(alerting.ActiveAlerts(), func(a *rules.Alert) bool { return a.State == rules.StateFiring }) {
			moments = append(moments, at)
		}
	}
	return moments
}

// scrapes are how many there are in so long a time.
func scrapes(long time.Duration) int { return int(long / interval) }

func TestEachAlertFiresWhenWhatItStandsForHasLasted(t *testing.T) {
	for _, rule := range file(t) {
		if slices.Contains([]string{absent, unreachable, paused}, rule.Alert) {
			continue
		}
		t.Run(rule.Alert, func(t *testing.T) { firesWhenItLasts(t, rule) })
	}
}

// firesWhenItLasts tries a rule of what a machine counts.
func firesWhenItLasts(t *testing.T, rule rulefmt.Rule) {
	t.Helper()
	long := time.Duration(rule.For)
	machine, alone := machineOf(t, rule)
	lasts := firing(t, rule, series(machine, rule.Alert, fmt.Sprintf("0 1x%d", scrapes(long)+2)), long+interval)
	if !slices.Equal(lasts, []time.Duration{long + interval}) {
		t.Errorf("it stands from %s on, and fires at %v", interval, lasts)
	}
	// A restart: nothing is told for two minutes, and of another pod then that nothing stands yet.
	half := scrapes(long / 2)
	broken := series(machine, rule.Alert, fmt.Sprintf("0 1x%d", half)) +
		strings.Replace(series(machine, rule.Alert, fmt.Sprintf("_x%d 0 0 1x%d", half+4, half+4)), `pod="one"`, `pod="two"`, 1)
	if fires := firing(t, rule, broken, long+interval); len(fires) == 0 {
		t.Error("a restart has the time begin anew")
	}
	if fires := firing(t, rule, series(machine, rule.Alert, fmt.Sprintf("0x%d", 2*scrapes(long))), 2*long); len(fires) != 0 {
		t.Errorf("nothing stands, and it fires at %v", fires)
	}
	short := firing(t, rule, series(machine, rule.Alert, fmt.Sprintf("0 1x%d 0x%d", scrapes(long)/4, 2*scrapes(long))), 2*long)
	if len(short) != 0 {
		t.Errorf("what stands for a quarter of the time has it fire at %v", short)
	}
	if fires := firing(t, rule, series(machine, "CapstanOther", fmt.Sprintf("1x%d", 2*scrapes(long))), 2*long); len(fires) != 0 {
		t.Errorf("another alert has it fire at %v", fires)
	}
	if fires := firing(t, rule, series("another", rule.Alert, fmt.Sprintf("1x%d", 2*scrapes(long))), 2*long); alone == (len(fires) != 0) {
		t.Errorf("it is of %s alone: %t; another machine has it fire at %v", machine, alone, fires)
	}
}

func TestAnAlertEndsWithWhatItStandsFor(t *testing.T) {
	first := file(t)[0].Alert
	for _, rule := range file(t) {
		// All rules of machines are made alike; those of moves stand for what people have to put right by hand.
		machine, alone := machineOf(t, rule)
		if rule.Alert != first && (!alone || machine != "privatecapi") {
			continue
		}
		t.Run(rule.Alert, func(t *testing.T) { endsWithIt(t, rule) })
	}
}

// endsWithIt tries that a rule is quiet once what it stands for is over, but for what it remembers of a restart.
func endsWithIt(t *testing.T, rule rulefmt.Rule) {
	t.Helper()
	machine, _ := machineOf(t, rule)
	last, more := time.Duration(rule.For)+2*interval, 7*time.Minute
	fires := firing(t, rule, series(machine, rule.Alert, fmt.Sprintf("1x%d 0x%d", scrapes(last), scrapes(more))), last+more)
	if len(fires) == 0 || fires[len(fires)-1] >= last+5*time.Minute+interval {
		t.Errorf("it ends at %s, and fires at %v", last, fires)
	}
}

func TestAnOperatorThatTellsNothingIsMissed(t *testing.T) {
	all := file(t)
	rule := all[slices.IndexFunc(all, func(r rulefmt.Rule) bool { return r.Alert == absent })]
	missesWhoTellsNothing(t, rule, "clusterapi")
}

// missesWhoTellsNothing tries a rule that fires where a machine's process is not there, or cannot be scraped.
func missesWhoTellsNothing(t *testing.T, rule rulefmt.Rule, machine string) {
	t.Helper()
	long := time.Duration(rule.For)
	if fires := firing(t, rule, series(machine, "CapstanOther", "0x200"), long); !slices.Equal(fires, []time.Duration{long}) {
		t.Errorf("without it it fires at %v", fires)
	}
	if fires := firing(t, rule, series(machine, "CapstanUnfinishedPasses", "0x200"), 2*long); len(fires) != 0 {
		t.Errorf("it tells, and it fires at %v", fires)
	}
}

func TestAPauseIsToldIfItLastsWithoutABreak(t *testing.T) {
	all := file(t)
	rule := all[slices.IndexFunc(all, func(r rulefmt.Rule) bool { return r.Alert == paused })]
	is := func(what, pod, values string) string {
		return fmt.Sprintf("  capstan_paused{what=%q,namespace=\"openshift-cluster-api-operator\",pod=%q} %s\n", what, pod, values)
	}
	hours := func(n int) int { return scrapes(time.Duration(n)*time.Hour) - 1 } // one sample comes before those that are repeated
	for name, row := range map[string]struct {
		told  string
		fires time.Duration // first, 0 for never
	}{
		"all is paused":               {is("all", "one", "0 1x4000"), 25*time.Hour + interval},
		"objects are left alone":      {is("objects", "one", "0 2x4000"), 25*time.Hour + interval},
		"nothing is":                  {is("all", "one", "0x4000") + is("objects", "one", "0x4000"), 0},
		"for a day":                   {is("all", "one", fmt.Sprintf("1x%d 0x1000", hours(24))), 0},
		"one for 13h, then the other": {is("all", "one", fmt.Sprintf("1x%d 0x2000", hours(13))) + is("objects", "one", fmt.Sprintf("0x%d 1x%d 0x500", hours(13), hours(13))), 0},
		"one beside the other":        {is("all", "one", fmt.Sprintf("1x%d 0x2000", hours(13))) + is("objects", "one", "1x4000"), 25 * time.Hour},
		"with a break":                {is("all", "one", fmt.Sprintf("1x%d 0 1x%d", hours(13), hours(20))), 0},
		"with a restart":              {is("all", "one", fmt.Sprintf("1x%d", hours(13))) + is("all", "two", fmt.Sprintf("_x%d 1x4000", hours(13)+4)), 25 * time.Hour},
		"with a node's restart":       {is("all", "one", fmt.Sprintf("1x%d", hours(13))) + is("all", "two", fmt.Sprintf("_x%d 1x4000", hours(13)+24)), 25 * time.Hour},
		"with a break in a restart":   {is("all", "one", fmt.Sprintf("1x%d", hours(13))) + is("all", "two", fmt.Sprintf("_x%d 0 1x%d", hours(13)+4, hours(20))), 0},
	} {
		fires := firing(t, rule, row.told, 30*time.Hour)
		if (len(fires) > 0) != (row.fires > 0) || len(fires) > 0 && fires[0] != row.fires {
			t.Errorf("%s: it fires %d times, the first at %v, want %v", name, len(fires), fires[:min(len(fires), 1)], row.fires)
		}
	}
}

func TestACheckerThatIsNotReachedIsToldByWhatIsRefused(t *testing.T) {
	all := file(t)
	rule := all[slices.IndexFunc(all, func(r rulefmt.Rule) bool { return r.Alert == unreachable })]
	long := time.Duration(rule.For)
	refused := func(webhook, why, values string) string {
		return fmt.Sprintf("  apiserver_admission_webhook_rejection_count{name=%q,error_type=%q,operation=\"UPDATE\",rejection_code=\"500\",type=\"validating\"} %s\n", webhook, why, values)
	}
	const ours, call = "deny-1.crds.capstan.openshift.io", "calling_webhook_error"
	for name, row := range map[string]struct {
		told  string
		fires bool
	}{
		"a write is refused every minute":                {refused(ours, call, "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 10 10 11 11 12 12 13 13 14 14 15 15"), true},
		"for a short while":                              {refused(ours, call, "0 0 1 1 2 2 2x40"), false},
		"since long, and no more":                        {refused(ours, call, "70x60"), false},
		"for what they say":                              {refused(ours, "no_error", "0+1x60"), false},
		"those of somebody else, also by a similar name": {refused("hook.example.com", call, "0+1x60") + refused("crds.capstanXopenshift.io", call, "0+1x60"), false},
	} {
		if fires := firing(t, rule, row.told, long+5*time.Minute); (len(fires) > 0) != row.fires {
			t.Errorf("%s: it fires at %v", name, fires)
		}
	}
}

func TestEachAlertSaysWhatOpenShiftAsksOfAlerts(t *testing.T) {
	saysWhatIsAsked(t, file(t))
}

func saysWhatIsAsked(t *testing.T, all []rulefmt.Rule) {
	t.Helper()
	for _, rule := range all {
		if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) || rule.Labels["namespace"] == "" {
			t.Errorf("%s has the labels %v", rule.Alert, rule.Labels)
		}
		for _, annotation := range []string{"summary", "description", "runbook_url"} {
			if rule.Annotations[annotation] == "" {
				t.Errorf("%s has no %s", rule.Alert, annotation)
			}
		}
	}
}
