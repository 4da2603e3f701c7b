package payload

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fileName begins with the run level and the component, by which files of all
// components are put into one order.
var fileName = regexp.MustCompile(`^0000_30_cluster-api-operator_\d\d_[a-z0-9][a-z0-9-]*\.yaml$`)

func (p *payload) checkNames() []Problem {
	var problems []Problem
	for _, name := range p.names {
		if name != imageReferences && !fileName.MatchString(name) {
			problems = append(problems, Problem{
				File: name, Rule: names, Cause: "is neither image-references nor of the form 0000_30_cluster-api-operator_NN_WORDS.yaml",
			})
		}
	}
	return problems
}

// checkOrder wants to be there before an object what it needs, since files are
// applied one after the other.
func (p *payload) checkOrder() []Problem {
	var problems []Problem
	seen := map[string]bool{}
	for i, d := range p.documents {
		if d.isTombstone() {
			if i > 0 && !p.documents[i-1].isTombstone() {
				problems = append(problems, d.problem(order, "", "what is taken away goes first, before %s", p.documents[i-1]))
			}
			continue
		}
		seen[d.String()] = true
		if namespace := "Namespace " + d.GetNamespace(); p.has(namespace) && !seen[namespace] {
			problems = append(problems, d.problem(order, "metadata.namespace", "comes before its namespace"))
		}
		if d.GetKind() == "ClusterOperator" && i != len(p.documents)-1 {
			problems = append(problems, d.problem(order, "", "is waited for, so it has to be the last object, after %s", p.documents[len(p.documents)-1]))
		}
		if d.GetKind() != "Deployment" {
			continue
		}
		for _, later := range p.documents[i+1:] {
			if runsWith(d, later) {
				problems = append(problems, d.problem(order, "", "comes before %s, which its pods need", later))
			}
		}
	}
	return problems
}

// runsWith says that the pods of a Deployment need an object: account, rights or
// what they read.
func runsWith(deployment, d *document) bool {
	switch d.GetKind() {
	case "ServiceAccount", "ConfigMap":
		return d.GetNamespace() == deployment.GetNamespace()
	case "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
		return true
	}
	return false
}

func (p *payload) has(name string) bool {
	return slices.ContainsFunc(p.documents, func(d *document) bool { return !d.isTombstone() && d.String() == name })
}

func (p *payload) checkDuplicates() []Problem {
	var problems []Problem
	seen := map[string]*document{}
	for _, d := range p.documents {
		if first := seen[d.same()]; first != nil && first.isTombstone() == d.isTombstone() {
			problems = append(problems, d.problem(duplicates, "", "is in %s too, document %d", first.file, first.number))
			continue
		}
		seen[d.same()] = d
	}
	return problems
}

// ours are the namespaces that the payload brings and fills.
var ours = []string{"openshift-cluster-api-operator", "openshift-cluster-api"}

// beyond are the kinds that may lie in namespaces of others: what the credentials
// operator reads, and rights to what the operator reads and reports there.
var beyond = map[string][]string{
	"CredentialsRequest": {"openshift-cloud-credential-operator"},
	"Role":               clusters,
	"RoleBinding":        clusters,
}

// clusters are namespaces that every cluster has.
var clusters = []string{"default", "kube-system", "openshift-config", "openshift-machine-api", "openshift-machine-config-operator"}

// workloads are the kinds with pods besides the Deployment, whatever their group.
var workloads = []string{
	"Pod", "PodTemplate", "ReplicationController", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "DeploymentConfig",
}

// checkForeign refuses what is another component's to bring.
func (p *payload) checkForeign() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		switch kind, namespace := d.GetKind(), d.GetNamespace(); {
		case d.isTombstone():
		case kind == "CustomResourceDefinition":
			problems = append(problems, d.problem(foreign, "", "definitions come to the release from github.com/openshift/api, and those of Cluster API from provider images"))
		case slices.Contains(workloads, kind):
			problems = append(problems, d.problem(foreign, "", "the operator is Deployments alone: no rule looks at the pods of a %s", kind))
		case kind == "Namespace" && !slices.Contains(ours, d.GetName()):
			problems = append(problems, d.problem(foreign, "metadata.name", "is not one of the operator's namespaces, which are %s", strings.Join(ours, " and ")))
		case namespace != "" && !slices.Contains(ours, namespace) && !slices.Contains(beyond[kind], namespace):
			problems = append(problems, d.problem(foreign, "metadata.namespace", "a %s in namespace %s is another component's", kind, namespace))
		}
	}
	return problems
}

func missing(rule, what string) Problem {
	return Problem{Rule: rule, Cause: fmt.Sprintf("there is no %s in the payload", what)}
}
