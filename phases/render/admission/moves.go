package admission

import (
	"fmt"
	"strings"
)

// What a move of hosted clusters between standard and private types of Cluster API writes. None of it carries the operator's label,
// so that it is let through by its form alone, and only where deploy/privatecapi gives the operator a verb for it, which no image
// can: roles let nothing of these groups be written. Without that the policy is as narrow as if nobody moved anything.

// mayMove asks for the verb that deploy/privatecapi brings, and mayRetire for the one on the old operator's Deployment. Each costs a
// third of what an expression may, so it is asked last.
const (
	mayMove   = "authorizer.group('hypershift.openshift.io').resource('hostedclusters').check('move').allowed()"
	mayRetire = "authorizer.group('apps').resource('deployments').namespace(variables.place).name(object.metadata.name).check('retire').allowed()"
)

// What hosted control planes are told by, and what a move marks things with.
const (
	controlPlaneLabel = "hypershift.openshift.io/hosted-control-plane"
	fenceLabel        = "capstan.openshift.io/private-capi-fence"
	moveLabel         = "capstan.openshift.io/private-capi-move"
	moveFinalizer     = "capstan.openshift.io/private-capi"
	moveRecords       = "capstan-private-capi-"
	moveCondition     = "PrivateCAPIMigrated"
	migratedFrom      = "capstan.openshift.io/migrated-from"
	migratedBy        = "capstan.openshift.io/migrated-by"
	copiedTo          = "capstan.openshift.io/copied-to"
	priorPause        = "capstan.openshift.io/prior-pause"
	priorReplicas     = "capstan.openshift.io/prior-replicas"
	priorTemplate     = "capstan.openshift.io/prior-template"
	proxyContainer    = "kube-apiserver-proxy"
	formerKubeconfig  = "capstan.openshift.io/proxy-kubeconfig"
)

// hostedMarks are the annotations of a HostedCluster that a move writes.
var hostedMarks = []string{
	"hypershift.openshift.io/scope", "hypershift.openshift.io/previous-scope", "hypershift.openshift.io/private-capi-types",
	"hypershift.openshift.io/migration-in-progress", "hypershift.openshift.io/migration-failed",
	"capstan.openshift.io/migration", "capstan.openshift.io/private-capi-revert",
}

// components are the Deployments of a control plane that a move stops, equips and starts.
var components = []string{"control-plane-operator", "cluster-api", "capi-provider", "machine-approver", "cluster-autoscaler"}

const (
	// controlPlane says that a request is in the namespace of a hosted control plane, which HyperShift labels.
	controlPlane = "namespaceObject != null && '" + controlPlaneLabel + "' in namespaceObject.metadata.?labels.orValue({})"
	// fence is the one that stands there, empty for none.
	fence = "variables.controlPlane ? namespaceObject.metadata.?labels[?'" + fenceLabel + "'].orValue('') : ''"
)

// movedGroups are Cluster API's groups on both sides.
func movedGroups() string {
	var groups []string
	for _, base := range []string{"cluster.x-k8s.io", "cluster.hypershift.openshift.io"} {
		for _, prefix := range []string{"", "infrastructure.", "controlplane.", "bootstrap.", "addons.", "ipam.", "runtime."} {
			groups = append(groups, prefix+base)
		}
	}
	return listed(groups)
}

func listed(words []string) string { return "['" + strings.Join(words, "', '") + "']" }

// moves says that a request is one of a move.
func (i Installation) moves() string {
	rows := []string{
		fmt.Sprintf("variables.place == '%s' && %s && variables.subresource == '' && request.?name.orValue('').startsWith('%s')", i.Namespace, isOf("", "configmaps"), moveRecords),
		hostedClusters(), fencing(), copying(), equipping(), rewiring(),
	}
	return strings.Join(rows, " ||\n")
}

func isOf(group, resource string) string {
	return fmt.Sprintf("request.resource.group == '%s' && request.resource.resource == '%s'", group, resource)
}

// sameFields says that an update leaves some fields of the metadata as they are.
func sameFields(fields ...string) string {
	return listed(fields) + ".all(f, object.metadata[?f] == oldObject.metadata[?f])"
}

// hostedClusters says that a HostedCluster keeps all but the marks, the finalizer and the condition of moves.
func hostedClusters() string {
	return isOf("hypershift.openshift.io", "hostedclusters") + " && request.operation == 'UPDATE' && (\n  variables.subresource == '' && " +
		strings.Join([]string{
			sameBut("", "metadata"), sameFields("labels", "ownerReferences"), sameKeysBut(".metadata.?annotations", hostedMarks...),
			bothSay("$o.metadata.?finalizers.orValue([]).filter(f, f != '" + moveFinalizer + "')"),
		}, " &&\n    ") + " ||\n  variables.subresource == 'status' &&\n    " +
		strings.Join([]string{
			"object.?status.orValue({}).all(f, f == 'conditions' || object.status[f] == oldObject.?status[?f].orValue(null))",
			"oldObject.?status.orValue({}).all(f, f == 'conditions' || f in object.?status.orValue({}))",
			bothSay("$o.?status.?conditions.orValue([]).filter(c, c.?type.orValue('') != '" + moveCondition + "')"),
		}, " &&\n    ") + ")"
}

// bothSay says that something is the same of an object before and after.
func bothSay(what string) string {
	return strings.ReplaceAll(what, "$o", "object") + " == " + strings.ReplaceAll(what, "$o", "oldObject")
}

// fencing says that nothing but the fence of a control plane's namespace changes, and which move that is of.
func fencing() string {
	return isOf("", "namespaces") + " && variables.subresource == '' && request.operation == 'UPDATE' &&\n  " + strings.Join([]string{
		"'" + controlPlaneLabel + "' in oldObject.metadata.?labels.orValue({})",
		"object.metadata.?labels[?'" + fenceLabel + "'].orValue('both') in ['standard', 'private', 'both']",
		sameBut("", "metadata"), sameFields("annotations", "ownerReferences", "finalizers"), sameKeysBut(".metadata.?labels", fenceLabel, moveLabel),
	}, " &&\n  ")
}

// copying says that an object of Cluster API is written behind the fence: as a copy, changed, or deleted, which takes that it has no
// finalizer unless both sides stand still. The marks of a move are taken off without a fence, too, for what a lost lock has left. What lies in
// no namespace is copied and not touched again.
func copying() string {
	return "request.resource.group in " + movedGroups() + " && (\n  " + strings.Join([]string{
		"variables.place == '' && variables.subresource == '' && request.operation == 'CREATE'",
		"variables.fence != '' && variables.subresource == '' && request.operation == 'CREATE' && '" + migratedFrom + "' in object.metadata.?annotations.orValue({})",
		"variables.fence != '' && variables.subresource in ['', 'status'] && request.operation == 'UPDATE'",
		"variables.fence != '' && variables.subresource == '' && request.operation == 'DELETE' && (variables.fence == 'both' || oldObject.metadata.?finalizers.orValue([]) == [])",
		"variables.controlPlane && variables.subresource == '' && request.operation == 'UPDATE' && " + givesBack(priorPause, migratedFrom, migratedBy, copiedTo),
	}, " ||\n  ") + ")"
}

// givesBack says that an update takes off what a move has kept on an object.
func givesBack(keys ...string) string {
	return fmt.Sprintf("%[1]s.exists(k, k in oldObject.metadata.?annotations.orValue({})) && !%[1]s.exists(k, k in object.metadata.?annotations.orValue({}))", listed(keys))
}

// equipping says that a component of a control plane gets other replicas, or gets the proxy beside it or loses it. Images are not
// held: that of the proxy is a flag's, and whoever chooses it runs in that Pod.
func equipping() string {
	const spec, was = "object.spec.template.spec", "oldObject.spec.template.spec"
	counterpart := func(containers string) string {
		return was + containers + ".exists(o, o.name == c.name && o.?securityContext == c.?securityContext)"
	}
	template := []string{
		// What a proxy once had there is taken off, and nothing else changes.
		"object.spec.template.?metadata.orValue({}).all(f, f == 'annotations' || object.spec.template.metadata[f] == oldObject.spec.template.?metadata[?f].orValue(null))",
		"oldObject.spec.template.?metadata.orValue({}).all(f, f == 'annotations' || f in object.spec.template.?metadata.orValue({}))",
		"!('" + formerKubeconfig + "' in object.spec.template.?metadata.?annotations.orValue({}))",
		sameKeysBut(".spec.template.?metadata.?annotations", formerKubeconfig),
		sameBut(".spec.template.spec", "containers", "initContainers", "volumes"),
		spec + ".containers.all(c, " + counterpart(".containers") + ")",
		spec + ".?volumes.orValue([]).all(v, v in " + was + ".?volumes.orValue([]) || v.name == '" + proxyContainer + "' && has(v.emptyDir))",
		spec + ".?initContainers.orValue([]).all(c, " + counterpart(".?initContainers.orValue([])") + " ||\n      c.name == '" + proxyContainer + "' && " + strings.Join([]string{
			"!c.?securityContext.?allowPrivilegeEscalation.orValue(true)", "!c.?securityContext.?privileged.orValue(false)",
			"c.?securityContext.?capabilities.?add.orValue([]) == []", "c.?volumeMounts.orValue([]).all(m, m.name == '" + proxyContainer + "')",
		}, " && ") + ")",
	}
	return isOf("apps", "deployments") + " && variables.subresource == '' && request.operation == 'UPDATE' && object.metadata.name in " + listed(components) + " &&\n  " +
		strings.Join([]string{
			"(variables.fence != '' || variables.controlPlane && " + givesBack(priorReplicas, priorTemplate) + ")",
			sameBut("", "metadata", "spec"), sameFields("labels", "ownerReferences", "finalizers"), sameKeysBut(".metadata.?annotations", priorReplicas, priorTemplate),
			sameBut(".spec", "replicas", "template"),
			"(object.spec.template == oldObject.spec.template ||\n    " + strings.Join(template, " &&\n    ") + ")",
		}, " &&\n  ")
}

const ofMoved = "r.apiVersion.split('/')[0] in "

func ownersOf(object string) string { return object + ".metadata.?ownerReferences.orValue([])" }

// owned are the kinds and the names of the objects of Cluster API that have owned an object. They are taken out once, since an
// expression may cost so much and no more, and whoever may write the object chooses how many owners it has.
func owned() string {
	return "(oldObject == null ? [] : " + ownersOf("oldObject") + ").filter(r, " + ofMoved + movedGroups() + ").map(r, [r.kind, r.name])"
}

// rewiring says that nothing changes of an object behind the fence but which objects of Cluster API own it, and that one which is named
// anew is the counterpart of one that has owned it: what nobody owned would be garbage with a new owner that is not there.
func rewiring() string {
	return "variables.fence != '' && variables.subresource == '' && request.operation == 'UPDATE' &&\n  " + strings.Join([]string{
		sameBut("", "metadata"), sameFields("labels", "annotations", "finalizers"),
		bothSay(ownersOf("$o") + ".filter(r, !(" + ofMoved + movedGroups() + "))"),
		ownersOf("object") + ".all(r, !(" + ofMoved + movedGroups() + ") || [r.kind, r.name] in variables.owned)",
	}, " &&\n  ")
}

// retires says that a Deployment loses its replicas, gets those back that are noted on it, or is noted on; which one that may be is
// said by the right alone.
func retires() string {
	const since, before = "capstan.openshift.io/unneeded-since", "capstan.openshift.io/replicas-before"
	return isOf("apps", "deployments") + " && variables.subresource == '' && request.operation == 'UPDATE' &&\n  " + strings.Join([]string{
		sameBut("", "metadata", "spec"), sameFields("labels", "ownerReferences", "finalizers"), sameKeysBut(".metadata.?annotations", since, before),
		sameBut(".spec", "replicas"),
		fmt.Sprintf("(object.spec.replicas == oldObject.spec.replicas ||\n    object.spec.replicas == 0 && %s == string(oldObject.spec.replicas) ||\n    oldObject.spec.replicas == 0 && %s == string(object.spec.replicas))",
			annotation("object", quoted(before)), annotation("oldObject", quoted(before))),
	}, " &&\n  ")
}
