package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suite is one test binary, and how it is run.
type suite struct {
	// name is that of its binary, its logs and its line in the table.
	name string
	// module is the folder of suites that pins it, and pkg its package there.
	module, pkg string
	// ginkgo says that it reports as ginkgo does; else it is of package testing alone.
	ginkgo bool
	// alone says that it wants an API server with no controllers, as envtest is one.
	alone bool
	// webhooks says that it serves some.
	webhooks bool
	// bare says that some of it asks by transports that never see the token in the server's address.
	bare bool
	// arguments are for the suite; {kubectl} and {kubeconfig} are put in.
	arguments []string
	// focus is an expression for the specs that are run; empty for all.
	focus   string
	timeout time.Duration
}

const clusterAPI = "sigs.k8s.io/cluster-api/"

// suites are all that are run, in this order.
func suites() []suite {
	all := []suite{{
		name: "controllerruntime", module: "controllerruntime", pkg: "sigs.k8s.io/controller-runtime/pkg/client", ginkgo: true, alone: true, timeout: 10 * time.Minute,
	}}
	for _, pkg := range []string{
		"bootstrap/kubeadm/internal/controllers",
		"controllers/clustercache",
		"controllers/crdmigrator",
		"controlplane/kubeadm/internal",
		"controlplane/kubeadm/internal/controllers",
		"internal/controllers/cluster",
		"internal/controllers/clusterclass",
		"internal/controllers/clusterresourceset",
		"internal/controllers/extensionconfig",
		"internal/controllers/machine",
		"internal/controllers/machinedeployment",
		"internal/controllers/machinehealthcheck",
		"internal/controllers/machinepool",
		"internal/controllers/machineset",
		"internal/controllers/topology/cluster",
		"internal/controllers/topology/cluster/structuredmerge",
		"internal/test/envtest/example",
		"internal/topology/upgrade",
		"internal/util/ssa",
		"internal/webhooks/test",
		"util/deprecated/v1beta1/patch",
		"util/patch/test",
	} {
		all = append(all, suite{
			name: "clusterapi-" + strings.ReplaceAll(pkg, "/", "-"), module: "clusterapi", pkg: clusterAPI + pkg, alone: true, webhooks: true, timeout: 20 * time.Minute,
		})
	}
	return append(all, suite{
		name: "apimachinery", module: "apimachinery", ginkgo: true, bare: true, timeout: 60 * time.Minute,
		arguments: []string{
			"--kubeconfig={kubeconfig}", "--kubectl-path={kubectl}", "--provider=skeleton",
			"--ginkgo.skip=" + strings.Join(needMore(), "|"),
		},
		focus: `\[sig-api-machinery\]`,
	})
}

// needMore are expressions for specs of API machinery that need more than a control plane: webhooks and API servers that run in
// pods, a shell on a node, features that are off, or the cluster for themselves.
func needMore() []string {
	return []string{
		`AdmissionWebhook`, `CustomResourceConversionWebhook`, `Aggregator`, `\[Feature:`, `\[FeatureGate:`, `\[Disruptive\]`, `\[Flaky\]`, `\[Slow\]`,
	}
}

// choose are the suites whose names begin with one of the beginnings, or the one that has it as its name; without any it is all.
func choose(beginnings string) ([]suite, error) {
	if beginnings == "" {
		return suites(), nil
	}
	var chosen []suite
	for _, beginning := range strings.Split(beginnings, ",") {
		some := slices.DeleteFunc(suites(), func(s suite) bool { return s.name != beginning })
		if len(some) == 0 {
			some = slices.DeleteFunc(suites(), func(s suite) bool { return !strings.HasPrefix(s.name, beginning) })
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("no suite begins with %q", beginning)
		}
		chosen = append(chosen, some...)
	}
	return chosen, nil
}

// only are the arguments by which these specs are run and no other.
func (s suite) only(names []string) []string {
	if s.ginkgo {
		var exact []string
		for _, name := range names {
			exact = append(exact, "^"+regexp.QuoteMeta(unnumbered.ReplaceAllString(name, ""))+"$")
		}
		return []string{"--ginkgo.focus=" + strings.Join(exact, "|")}
	}
	// Between slashes the levels of subtests stand by themselves: a test is named whole, with all that are below it.
	var tests []string
	for _, name := range names {
		test, _, _ := strings.Cut(name, "/")
		tests = append(tests, regexp.QuoteMeta(test))
	}
	slices.Sort(tests)
	return []string{"-test.run=^(" + strings.Join(slices.Compact(tests), "|") + ")$"}
}

// unnumbered is what outcomes.add puts behind a name.
var unnumbered = regexp.MustCompile(` #\d+$`)
