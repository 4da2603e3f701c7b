package admission

import (
	"fmt"
	"strings"
)

// machineAPINamespace is where Machine API's objects are, and cloneLabel what the templates carry that the operator clones.
const (
	machineAPINamespace = "openshift-machine-api"
	cloneLabel          = "capi-operator.openshift.io/boot-image-clone-of"
)

// bootImages says that a request is about boot images: the image in a template of machines and nothing beside it, a clone of
// an infrastructure template, a stub in a Secret that is there, and the status of what administrators opt in by.
func (i Installation) bootImages() string {
	const machines = ".template.machines_v1beta1_machine_openshift_io.spec"
	rows := []string{
		i.bootImage(machineAPINamespace, "machine.openshift.io", "'machinesets'", "UPDATE",
			sameBut(".spec", "template"), sameBut(".spec.template", "spec"), sameBut(".spec.template.spec", "providerSpec"),
			sameBut(".spec.template.spec.providerSpec.value", "ami", "disks", "image")),
		i.bootImage(machineAPINamespace, "machine.openshift.io", "'controlplanemachinesets'", "UPDATE",
			sameBut(".spec", "template"), sameBut(".spec"+machines, "providerSpec"),
			sameBut(".spec"+machines+".providerSpec.value", "ami", "disks", "image")),
	}
	for _, namespace := range i.Policy.Namespaces {
		rows = append(rows,
			i.bootImage(namespace, "cluster.x-k8s.io", "'machinesets', 'machinedeployments'", "UPDATE",
				sameBut(".spec", "template"), sameBut(".spec.template", "spec"), sameBut(".spec.template.spec", "infrastructureRef"),
				sameBut(".spec.template.spec.infrastructureRef", "name")),
			i.bootImage(namespace, "infrastructure.cluster.x-k8s.io", "'awsmachinetemplates', 'gcpmachinetemplates'", "CREATE",
				fmt.Sprintf("'%s' in object.metadata.?labels.orValue({})", cloneLabel)),
			i.bootImage(namespace, "infrastructure.cluster.x-k8s.io", "'awsmachinetemplates', 'gcpmachinetemplates'", "UPDATE",
				fmt.Sprintf("'%s' in oldObject.metadata.?labels.orValue({})", cloneLabel), "object.spec == oldObject.spec"),
			i.bootImage(namespace, "infrastructure.cluster.x-k8s.io", "'awsmachinetemplates', 'gcpmachinetemplates'", "DELETE",
				fmt.Sprintf("'%s' in oldObject.metadata.?labels.orValue({})", cloneLabel)))
	}
	for _, namespace := range append([]string{machineAPINamespace}, i.Policy.Namespaces...) {
		rows = append(rows, i.bootImage(namespace, "", "'secrets'", "UPDATE",
			"object.?type == oldObject.?type", "!object.metadata.name.endsWith('-kubeconfig')",
			fmt.Sprintf("object.metadata.?annotations[?'%s'].orValue('') == '3.1.0'", upgradedTo), sameBut(".data", "userData", "value")))
	}
	rows = append(rows, "request.resource.group == 'operator.openshift.io' && request.resource.resource == 'machineconfigurations' && "+
		"variables.subresource == 'status' && request.operation == 'UPDATE' && object.metadata.name == 'cluster'")
	return strings.Join(rows, " ||\n")
}

// bootImage says that a request does one thing to objects of a namespace, that they are nobody else's afterwards, and what
// else holds of it.
func (i Installation) bootImage(namespace, group, resources, operation string, holds ...string) string {
	about := fmt.Sprintf("variables.place == '%s' && variables.subresource == '' && request.resource.group == '%s' && request.resource.resource in [%s] && request.operation == '%s'",
		namespace, group, resources, operation)
	if operation == "UPDATE" {
		holds = append([]string{
			"['labels', 'ownerReferences', 'finalizers'].all(f, object.metadata[?f] == oldObject.metadata[?f])", sameAnnotations,
			fmt.Sprintf("!object.metadata.?managedFields.orValue([]).exists(e, e.?manager.orValue('') == '%s')", fieldManager),
		}, holds...)
	}
	return about + " &&\n  " + strings.Join(holds, " &&\n  ")
}

// upgradedTo and upgradedAt are what a Secret is annotated with whose stub was upgraded.
const (
	upgradedTo = "machineconfiguration.openshift.io/stub-ignition-upgraded-to"
	upgradedAt = "machineconfiguration.openshift.io/stub-ignition-upgraded-at"
)

// claimed is what a clone is annotated with that is about to be named.
const claimed = "capi-operator.openshift.io/boot-image-claimed"

// sameAnnotations says that an update marks nothing as anybody's.
var sameAnnotations = sameKeysBut(".metadata.?annotations", upgradedTo, upgradedAt, claimed)

// sameKeysBut says that an update leaves all labels, or annotations, at a path as they are, but for some.
func sameKeysBut(path string, keys ...string) string {
	return strings.NewReplacer(
		"$now", "object"+path+".orValue({})", "$was", "oldObject"+path+".orValue({})", "$some", "['"+strings.Join(keys, "', '")+"']",
	).Replace("$now.all(k, k in $some || $was[?k] == $now[?k]) && $was.all(k, k in $some || k in $now)")
}

// sameBut says that an update leaves all fields below a path as they are, but for some.
func sameBut(path string, fields ...string) string {
	some := "['" + strings.Join(fields, "', '") + "']"
	return strings.NewReplacer("$some", some, "$path", path).Replace(
		"object$path.all(f, f in $some || object$path[f] == oldObject$path[?f].orValue(null)) && oldObject$path.all(f, f in $some || f in object$path)")
}
