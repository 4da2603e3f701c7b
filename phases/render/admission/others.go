package admission

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

// The policies that hold everybody else: what the operator believes, only the operator writes, or who brings a release, or
// who was given a verb for that.

// intervenes says that the user was given the verb. An API server asks its authorizer then, which costs a third of what an
// expression may, so it is asked last.
func intervenes() string {
	return fmt.Sprintf("authorizer.group('operator.openshift.io').resource('clusterapis').name('cluster').check('%s').allowed()", interveneVerb)
}

// advice says what somebody who was refused can do.
func advice(owner string) string {
	return fmt.Sprintf(" is written by %s. Whoever has to change it all the same needs the verb %s on clusterapis.operator.openshift.io cluster, which cluster-admin has; see docs/threat-model.md", owner, interveneVerb)
}

// ending says that the request only empties a namespace that is being deleted.
const ending = "request.operation == 'DELETE' && namespaceObject != null && namespaceObject.status.?phase.orValue('') == 'Terminating'"

func (i Installation) status() bound {
	return bound{
		name:        "capstan-status",
		description: "Lets only Capstan write the status of ClusterAPI, which lists the revisions that it applies, and of CompatibilityRequirements, which says whether they deny.",
		match: matching(nil,
			rule([]string{"operator.openshift.io"}, []string{"clusterapis/status"}, admissionregistrationv1.Create, admissionregistrationv1.Update),
			rule([]string{"apiextensions.openshift.io"}, []string{"compatibilityrequirements/status"}, admissionregistrationv1.Create, admissionregistrationv1.Update)),
		validations: []admissionregistrationv1.Validation{{
			Expression:        fmt.Sprintf("request.userInfo.username == '%s' ||\n%s", i.operator(), intervenes()),
			MessageExpression: "'the status of ' + request.kind.kind + ' ' + object.metadata.name + " + quoted(advice("Capstan alone")),
		}},
	}
}

// bookkeeping guards inventories, flight recorder, records and journals: the operator deletes what an inventory lists, and gives components
// of hosted clusters back what a journal knows.
func (i Installation) bookkeeping() bound {
	return i.configMaps("capstan-bookkeeping", "Lets only Capstan write the ConfigMaps in which it keeps what it applied and did.",
		fmt.Sprintf("%s || variables.it.metadata.name.startsWith('%s') ||\n[object, oldObject].exists(o, o != null && '%s' in o.metadata.?labels.orValue({}))", books("variables.it"), moveRecords, policy.InventoryLabel),
		fmt.Sprintf("request.userInfo.username == '%s'", i.operator()), "Capstan alone")
}

// release guards the list of images, which a release brings, and the exceptions, of which it brings an empty list.
func (i Installation) release() bound {
	return i.configMaps("capstan-release", "Lets only who brings a release write the list of provider images, and create the exceptions. Which boot images are trusted only the administrator says.",
		fmt.Sprintf("variables.it.metadata.name in ['%s', '%s', '%s']", imagesConfigMap, exceptionsConfigMap, trustedConfigMap),
		fmt.Sprintf("request.userInfo.username == '%s' && (variables.it.metadata.name == '%s' || variables.it.metadata.name == '%s' && request.operation == 'CREATE')",
			i.ReleaseManager, imagesConfigMap, exceptionsConfigMap),
		"who brings the cluster's release")
}

// rewriting says that an update leaves all of a ConfigMap as it is but for managedFields, which nobody reads there: a storage
// version migration writes every object of the cluster like this.
const rewriting = `request.operation == 'UPDATE' &&
['data', 'binaryData', 'immutable'].all(f, object[?f] == oldObject[?f]) &&
['labels', 'annotations', 'finalizers', 'ownerReferences'].all(f, object.metadata[?f] == oldObject.metadata[?f])`

// configMaps guards some ConfigMaps of the operator's namespace.
func (i Installation) configMaps(name, description, which, who, owner string) bound {
	match := matching(nil, rule([]string{""}, []string{"configmaps"},
		admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete))
	match.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": i.Namespace}}
	return bound{
		name: name, description: description, match: match,
		variables: []admissionregistrationv1.Variable{
			variable("it", "object == null ? oldObject : object"),
			variable("guarded", which),
		},
		validations: []admissionregistrationv1.Validation{{
			Expression:        fmt.Sprintf("!variables.guarded ||\n%s ||\n%s ||\n%s ||\n%s", who, ending, rewriting, intervenes()),
			MessageExpression: "'ConfigMap ' + request.?namespace.orValue('') + '/' + variables.it.metadata.name + " + quoted(advice(owner)),
		}},
	}
}
