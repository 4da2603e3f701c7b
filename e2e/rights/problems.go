package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// askedFor are the refusals that specs ask for: of the rights in Namespaces that images bring (e2e/clusterapi), which are none of
// the cluster's, and of the one that a fault takes away (e2e/faults).
func askedFor(u harness.Use) bool {
	brought := u.Namespace != "" && u.Namespace != "default" && !strings.HasPrefix(u.Namespace, "kube-") && !strings.HasPrefix(u.Namespace, "openshift-")
	return brought || u.Verb == "patch" && u.Resource == "configmaps" && u.Namespace == harness.CAPINamespace
}

// problems are the rights that nothing used, and the refusals that nobody asked for, each once.
func problems(rights []right, uses []harness.Use) []string {
	var found []string
	for _, r := range rights {
		if !r.leavesNoTrace() && !slices.ContainsFunc(uses, r.isUsedBy) {
			found = append(found, "nothing uses the right of "+r.String())
		}
	}
	for _, u := range uses {
		if u.Refused && !askedFor(u) {
			found = append(found, fmt.Sprintf("the operator lacks the right to %s %s %s", u.Verb, strings.TrimSuffix(u.Resource+"."+u.Group, "."), strings.Trim(u.Namespace+"/"+u.Name, "/")))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
