package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// use is one of a suite.
type use struct {
	harness.Use
	suite string
}

// asked are the refusals of the operator that the specs of a suite ask for.
var asked = map[string][]func(harness.Use) bool{
	"bootimages": {isOfMachineAPI},
	"clusterapi": {isInBrought, isOfUnwrittenReport},
	"faults":     {isInBrought, isOfFault},
}

// isInBrought says that it is of a right in a Namespace that an image brings, which is none of the cluster's.
func isInBrought(u harness.Use) bool {
	return u.Namespace != "" && u.Namespace != "default" && !strings.HasPrefix(u.Namespace, "kube-") && !strings.HasPrefix(u.Namespace, "openshift-")
}

// isOfUnwrittenReport says that it is of the right to report, which is taken away to see that a pause holds all the same.
func isOfUnwrittenReport(u harness.Use) bool {
	return u.Verb == "patch" && u.Group == "config.openshift.io" && u.Resource == "clusteroperators/status"
}

// isOfMachineAPI says that it is of a right to look at what boot images of the Machine API are for, which is given late to see
// that an operator without it says so and heals.
func isOfMachineAPI(u harness.Use) bool {
	return u.Namespace == "openshift-machine-api" && (u.Verb == "list" || u.Verb == "watch")
}

// isOfFault says that it is of the right that a fault takes away.
func isOfFault(u harness.Use) bool {
	return u.Verb == "patch" && u.Group == "" && u.Resource == "configmaps" && u.Namespace == harness.CAPINamespace
}

func (u use) isAskedFor() bool {
	return u.Account == harness.ServiceAccount && slices.ContainsFunc(asked[u.suite], func(is func(harness.Use) bool) bool { return is(u.Use) })
}

// problems are the rights that nothing used, and the refusals that nobody asked for, each once.
func problems(rights []right, uses []use) []string {
	var found []string
	for _, r := range rights {
		if !r.leavesNoTrace() && !slices.ContainsFunc(uses, r.isUsedBy) {
			found = append(found, "nothing uses the right of "+r.String())
		}
	}
	for _, u := range uses {
		if u.Refused && !u.isAskedFor() {
			found = append(found, fmt.Sprintf("%s lacks the right to %s %s %s in %s",
				u.Account, u.Verb, strings.TrimSuffix(u.Resource+"."+u.Group, "."), strings.Trim(u.Namespace+"/"+u.Name, "/"), u.suite))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
