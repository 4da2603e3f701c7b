package explaining

import (
	"strings"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// What people type; NAMESPACE, NAME and CLUSTER stand for the object's. Kinds of Cluster API have their groups: others have kinds of
// the same names, and kubectl takes the first group by name.
const (
	seeInfrastructure = "`kubectl get -n NAMESPACE clusters.cluster.x-k8s.io CLUSTER -o jsonpath='{.spec.infrastructureRef}'` names the object to look at"
	seeMachines       = "`kubectl get -n NAMESPACE machines.cluster.x-k8s.io,openshiftconfigs -l cluster.x-k8s.io/cluster-name=CLUSTER`"
	tryAgain          = "`kubectl annotate -n NAMESPACE openshiftcontrolplane NAME --overwrite " + v1alpha1.RetryAnnotation + "=\"$(date +%s)\"`"
	runbook           = "docs/runbooks/CapstanOpenShiftInstallStuck.md"
)

// advice is what to do in a state, while it goes on by itself.
var advice = map[machine.State]string{
	"":                            "see that the provider runs and looks at this namespace: `kubectl get deployments -A --field-selector metadata.name=openshift-install-controller-manager`",
	guards.Pending:                "apply a Cluster whose spec.controlPlaneRef names it",
	guards.Locating:               "nothing: it goes on by itself",
	guards.AwaitingInfrastructure: "see what the infrastructure provider and hooks say: " + seeInfrastructure,
	guards.ResolvingInputs:        "put right what it waits for: it goes on by itself",
	guards.GeneratingIgnition:     "nothing, unless it fails: then put right what it says",
	guards.CreatingMachines:       "see which machine is not provisioned: " + seeMachines,
	guards.AwaitingAPI:            "see that the names api and api-int of the cluster lead to its machines, and look at the bootstrap machine's console",
	guards.Bootstrapping:          "nothing, unless it does not progress: then look at the bootstrap machine's journal, unit bootkube",
	guards.RemovingBootstrap:      "nothing: the bootstrap machine goes once its hooks allow it",
	guards.Settling:               "see which operators are not available: `oc get clusteroperators` on the cluster",
	guards.Installed:              "nothing: the cluster is installed",
	guards.Upgrading:              "see how far it is: `oc get clusterversion` on the cluster",
	guards.Scaling:                "see which machine is not ready: " + seeMachines,
	guards.Remediating:            "see which machine is not ready: " + seeMachines,
	guards.Degraded:               "see what is not available: `oc get clusteroperators,nodes` on the cluster; docs/runbooks/CapstanOpenShiftControlPlaneDegraded.md has more",
	guards.Failed:                 "put right what it says, then have it tried again: " + tryAgain + "; " + runbook + " has more",
	guards.Clearing:               "nothing: another attempt begins once this one is gone",
	guards.Paused:                 "to go on, set spec.paused of the Cluster to false and take annotation cluster.x-k8s.io/paused off",
	guards.Deleting:               "see what is left: " + seeMachines,
}

// mend is what to put right where an installation has stopped at a step.
var mend = map[standing.Step]string{
	standing.Infrastructure: "have the infrastructure provisioned: " + seeInfrastructure + "; the installation goes on by itself then",
	standing.Inputs:         "put right what it says of the inputs; the installation goes on by itself then",
	standing.MakingMachines: "see which machine is not provisioned, and why: " + seeMachines,
	standing.API:            "see that the names api and api-int of the cluster lead to its machines, and look at the bootstrap machine's console",
	standing.Bootstrap:      "look at the bootstrap machine's journal, unit bootkube, and at the control-plane machines: " + seeMachines,
}

// next is what people do about it, as they can type it.
func (l Look) next() string {
	said := advice[machine.State(l.Plane.Status.State)]
	step, stopped := standing.Stopped(l.Plane)
	if what, is := mend[step]; stopped && is && l.Plane.Status.State == string(guards.Failed) {
		said = what + "; for another try at once: " + tryAgain + "; " + runbook + " has more"
	}
	return strings.NewReplacer("NAMESPACE", l.Plane.Namespace, "NAME", l.Plane.Name, "CLUSTER", standing.ClusterOf(l.Plane)).Replace(said)
}
