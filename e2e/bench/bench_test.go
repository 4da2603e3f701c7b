package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

func TestScenarios_have_names_of_their_own_and_targets(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		if s.name == "" || seen[s.name] || s.doc == "" || len(s.targets) == 0 || s.measure == nil {
			t.Errorf("scenario %q is not whole, or there twice", s.name)
		}
		seen[s.name] = true
	}
}

func TestChoose(t *testing.T) {
	for names, want := range map[string]string{
		"": "cold-install restart at-rest upgrade drift four-providers openshift-one synthetic-500 synthetic-2000 synthetic-5000 step resync plan plan-500 " +
			"crd-admission-300 crd-admission-1024 crd-admission-label-20 crd-admission-unlisted-20 crd-admission-label-1024 crd-admission-unlisted-1024 " +
			"object-admission object-admission-first requirements-200 requirements-200-at-rest " +
			"boot-images-1000 boot-images-clusterapi-300 boot-images-at-rest boot-images-noise boot-images-revert boot-images-restart " +
			"capi-proxy-get capi-proxy-create capi-proxy-patch capi-proxy-apply capi-proxy-list-150 capi-proxy-throughput-get capi-proxy-throughput-patch " +
			"capi-proxy-list-10000 capi-proxy-watches-500 capi-proxy-watch-delay capi-proxy-idle capi-scanner capi-shim capi-move openshift-5 openshift-50",
		"synthetic":           "synthetic-500 synthetic-2000 synthetic-5000",
		"drift,cold,drift":    "cold-install drift",
		"synthetic-500":       "synthetic-500",
		"at-rest":             "at-rest",
		"requirements":        "requirements-200 requirements-200-at-rest",
		"boot-images-re":      "boot-images-revert boot-images-restart",
		"synthetic-500,thing": "",
		"drift,":              "",
	} {
		chosen, err := choose(names)
		var got []string
		for _, s := range chosen {
			got = append(got, s.name)
		}
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q chooses %v, %v, want %s", names, got, err, want)
		}
	}
}

func TestReport_has_exactly_the_fields_that_are_agreed(t *testing.T) {
	path := filepath.Join(t.TempDir(), reportFile)
	if err := (results{{Name: "a"}}).write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report map[string][]map[string]any
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(report["scenarios"][0]))
	want := []string{"dryRuns", "floorSeconds", "name", "objects", "ratio", "requests", "rssMiB", "seconds", "writes"}
	if len(report) != 1 || !slices.Equal(got, want) {
		t.Errorf("the report is %s", text)
	}
}

func TestSummarize_takes_the_median_of_the_runs_own_ratios(t *testing.T) {
	got := summarize("a", []sample{
		{Seconds: 2, FloorSeconds: 1, Requests: 10}, {Seconds: 9, FloorSeconds: 3, Requests: 30}, {Seconds: 4, FloorSeconds: 4, Requests: 20},
	})
	if got.Seconds != 4 || got.FloorSeconds != 3 || got.Ratio != 2 || got.Requests != 20 {
		t.Errorf("got %+v", got)
	}
	if even := summarize("a", []sample{{Seconds: 1}, {Seconds: 2}}); even.Seconds != 2 {
		t.Errorf("of two runs the worse one counts, not %v", even.Seconds)
	}
}

func TestEnough_runs_are_as_many_as_asked_for_on_one_side_of_the_ratios_target(t *testing.T) {
	paired, alone := scenario{targets: []target{requests(1), ratio(1.2)}}, scenario{targets: []target{requests(1)}}
	of := func(ratios ...float64) (samples []sample) {
		for _, r := range ratios {
			samples = append(samples, sample{Seconds: r, FloorSeconds: 1})
		}
		return samples
	}
	for _, c := range []struct {
		in      scenario
		samples []sample
		want    bool
	}{
		{alone, of(1, 1), false},
		{alone, of(1, 2, 1), true},
		{paired, of(1, 1), false},
		{paired, of(1, 1, 1.2), true},
		{paired, of(1, 2, 1), false},
		{paired, of(1, 2, 1, 2), false},
		{paired, of(1, 2, 1, 2, 1.3), true},
	} {
		b := &bench{options: options{runs: 3}, scenario: c.in}
		if got := b.enough(c.samples); got != c.want {
			t.Errorf("%+v: got %v", c.samples, got)
		}
	}
}

func TestCalibrate_times_a_workload(t *testing.T) {
	got, err := calibrate()
	if err != nil || got.clock <= 0 || got.processor <= 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := between(pace{1, 2}, pace{2, 4}); got != (pace{1.5, 3}) {
		t.Errorf("got %+v", got)
	}
}

func TestTargets_are_told_with_what_missed_them(t *testing.T) {
	small := scenario{name: "small", targets: []target{ratio(1.3), wall(2)}}
	large := scenario{name: "large", targets: []target{requests(5), growth(1.15, "small"), processor(20), writesBesideObjects(10)}}
	alone := scenario{name: "alone", targets: []target{growth(1.15, "nobody")}}
	proxied := scenario{name: "proxied", targets: []target{atMost(mostAdded, 1), below(mostRatio, 1.05)}}
	all := results{
		{Name: "proxied", pace: pace{clock: 2}, figures: map[figureName]float64{
			mostAdded: 3, mostAdded.ofCopy(): 2.8, mostRatio: 1.04, mostRatio.ofCopy(): 1.03,
		}},
		{Name: "small", Objects: 100, Seconds: 2, Ratio: 1.3},
		{Name: "large", Objects: 1000, Seconds: 24, Ratio: 1.56, Requests: 5, Writes: 1035, pace: pace{clock: 2, processor: 1.5}},
		{Name: "alone", Objects: 1, Seconds: 1},
	}
	want := []string{
		"small: time < 2 s, and it was 2 s", "large: ratio, times that of small <= 1.15, and it was 1.2",
		"large: writes beside one an object and two every 2 s <= 10, and it was 11",
		"proxied: the 95th of 100 beyond direct ones <= 1 ms, and it was 1.5 ms (a proxy that copies: 1.4 ms)",
	}
	if got := all.missed([]scenario{small, large, alone, proxied}); !slices.Equal(got, want) {
		t.Errorf("missed are %q", got)
	}
	var out strings.Builder
	if err := all.table(&out, []scenario{small, large, alone, proxied}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"ratio <= 1.3 ok, time < 2 s MISSED", "requests <= 5 ok", "times the direct one < 1.05 ok (a proxy that copies: 1.03)"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the table does not say %q:\n%s", text, out.String())
		}
	}
}

func TestSynthetic_content_has_as_many_different_objects_as_it_says(t *testing.T) {
	for _, size := range []int{100, 1000} {
		text, err := syntheticManifests("synthetic-a", size)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		components, err := split(objects)
		if err != nil {
			t.Fatal(err)
		}
		paths, kinds := map[string]bool{}, map[string]int{}
		for _, o := range append(components[0].crds, components[0].rest...) {
			paths[o.path] = true
			kinds[o.kind]++
		}
		if len(paths) != size || len(components[0].crds) != size/50 || kinds["Deployment"] != size/100 || kinds["ConfigMap"] != size*65/100 {
			t.Errorf("%d objects of %d, of kinds %v", len(paths), size, kinds)
		}
	}
}

func TestSplit_keeps_components_in_order_and_definitions_apart(t *testing.T) {
	objects, err := parse([]byte(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {` + harness.ManagedByLabel + `: two}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: b, labels: {` + harness.ManagedByLabel + `: one}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: c, labels: {` + harness.ManagedByLabel + `: two}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	components, err := split(objects)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range components {
		for _, o := range append(c.crds, c.rest...) {
			got = append(got, c.name+" "+o.path)
		}
	}
	want := []string{
		"two /api/v1/namespaces/ns/configmaps/a", "two /apis/rbac.authorization.k8s.io/v1/clusterroles/c",
		"one /apis/apiextensions.k8s.io/v1/customresourcedefinitions/b",
	}
	if !slices.Equal(got, want) || len(components[1].crds) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestMostWrites_leaves_out_the_Deployment_that_changes_and_what_is_no_object(t *testing.T) {
	c := content{components: []component{{
		crds: []object{{kind: crdKind, name: "a", path: "/crds/a"}},
		rest: []object{{kind: "Deployment", name: coreDeployment, path: "/deployments/core"}},
	}}}
	var all cluster.RequestList
	for _, uri := range []string{"/crds/a?force=true", "/crds/a?dryRun=All", "/crds/a", "/deployments/core", "/deployments/core", "/deployments/core", "/status"} {
		all = append(all, cluster.Request{Verb: "patch", RequestURI: uri, DryRun: strings.Contains(uri, "dryRun")})
	}
	if got := mostWrites(all, c); got != 2 {
		t.Errorf("got %d", got)
	}
}

func TestMeters_are_read_from_the_metrics_of_the_operator(t *testing.T) {
	m, err := parseMeters(strings.NewReader(`# HELP process_cpu_seconds_total Total
controller_runtime_reconcile_total{controller="clusterapi",result="requeue_after"} 10
controller_runtime_reconcile_total{controller="clusterapi",result="success"} 5
controller_runtime_reconcile_total{controller="clusteroperator",result="success"} 7
process_cpu_seconds_total 1.25
`))
	if err != nil || m.passes != 15 || m.cpu != 1.25 {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := parseMeters(strings.NewReader("up 1\n")); err == nil {
		t.Error("metrics without the counters are accepted")
	}
}

func TestSumOf_a_metric_leaves_out_what_only_begins_like_it(t *testing.T) {
	text := `# HELP a A metric.
a{state="Current",kind="x"} 3
a{state="Current",kind="y"} 4
a{state="Failed",kind="y"} 1
ab{state="Current"} 100
b 2.5
`
	for _, row := range []struct {
		name   string
		labels []string
		want   float64
	}{{"a", nil, 8}, {"a", []string{`state="Current"`}, 7}, {"a", []string{`state="Current"`, `kind="y"`}, 4}, {"b", nil, 2.5}, {"c", nil, 0}} {
		if got := sumOf(text, row.name, row.labels...); got != row.want {
			t.Errorf("of %s%q there are %v, want %v", row.name, row.labels, got, row.want)
		}
	}
}

func TestTargets_of_boot_images_are_objects_with_names_of_their_own(t *testing.T) {
	for name, text := range map[string]func(int) string{"worker-7": machineSet, "capi-7": capiSet, oldTemplate + "7": capiTemplate} {
		objects, err := parse([]byte(text(7)))
		if err != nil || len(objects) != 1 || objects[0].GetName() != name {
			t.Errorf("%s is %v, %v", name, objects, err)
		}
	}
	if bootworld.AMI(1) == bootworld.AMI(2) || len(bootworld.AMI(1)) != len("ami-")+17 {
		t.Errorf("the images are %s and %s", bootworld.AMI(1), bootworld.AMI(2))
	}
}

func TestProcessorSeconds_of_this_process_are_known(t *testing.T) {
	before, err := processorSeconds(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for after := before; after < before+0.05; {
		if after, err = processorSeconds(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPeak_of_this_process_is_known(t *testing.T) {
	if peak, err := peakMiB(os.Getpid()); err != nil || peak < 1 {
		t.Errorf("got %v, %v", peak, err)
	}
}
