package payload

import (
	"io/fs"
	"slices"
)

// Names of the rules; docs/payload.md explains each.
const (
	parses       = "parse"
	names        = "name"
	order        = "order"
	duplicates   = "duplicate"
	foreign      = "foreign"
	profile      = "profile"
	featureGate  = "feature-gate"
	capability   = "capability"
	createOnly   = "create-only"
	tombstone    = "tombstone"
	resolved     = "image"
	version      = "version"
	related      = "related"
	replicas     = "replicas"
	limits       = "limits"
	priority     = "priority"
	restricted   = "restricted"
	runLevel     = "run-level"
	podSecurity  = "pod-security"
	networkRules = "network"
)

// rules are asked one after the other, each of the whole payload.
var rules = []struct {
	name  string
	check func(*payload) []Problem
}{
	{names, (*payload).checkNames},
	{order, (*payload).checkOrder},
	{duplicates, (*payload).checkDuplicates},
	{foreign, (*payload).checkForeign},
	{profile, (*payload).checkProfiles},
	{featureGate, (*payload).checkFeatureGate},
	{capability, (*payload).checkCapability},
	{createOnly, (*payload).checkCreateOnly},
	{tombstone, (*payload).checkTombstones},
	{resolved, (*payload).checkImages},
	{version, (*payload).checkVersions},
	{related, (*payload).checkRelated},
	{replicas, (*payload).checkReplicas},
	{limits, (*payload).checkResources},
	{priority, (*payload).checkPriority},
	{restricted, (*payload).checkRestricted},
	{runLevel, (*payload).checkRunLevel},
	{podSecurity, (*payload).checkPodSecurity},
	{networkRules, (*payload).checkNetwork},
}

// Rules are the names of all rules.
func Rules() []string {
	all := []string{parses}
	for _, rule := range rules {
		all = append(all, rule.name)
	}
	return all
}

// Report is what is wrong with a payload, and how many objects it has.
type Report struct {
	Objects  int       `json:"objects"`
	Problems []Problem `json:"problems"`
}

// Lint checks a folder. Its error says that the folder could not be read.
func Lint(folder fs.FS) (Report, error) {
	p, err := read(folder)
	if err != nil {
		return Report{}, err
	}
	report := Report{Objects: len(p.documents), Problems: append([]Problem{}, p.problems...)}
	for _, rule := range rules {
		report.Problems = append(report.Problems, rule.check(p)...)
	}
	slices.SortFunc(report.Problems, compareProblems)
	return report, nil
}
