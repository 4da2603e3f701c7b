package admission

import "fmt"

// checkerAccount is what the checker of CRD compatibility is called, its Service among others, and checkerLabel what its
// webhook configurations carry. checkerManager is the field manager of those parts of the operator that look after it, and
// secondChecker what its second Deployment is called.
const (
	checkerAccount = "capstan-webhooks"
	secondChecker  = "capstan-webhooks-2"
	checkerLabel   = "capstan.openshift.io/checker"
	checkerManager = "capstan-compatibility"
)

// checkers says that a request is about what the operator keeps for the checker: webhook configurations that lead to it and
// nowhere else, which are called as contracted or belong to a requirement of their name, how many replicas it has, and a
// second Deployment whose pods have the checker's account. An API server on loopback is led to by tests alone. A requirement
// without effect, which is never stored, tries the checker.
func (i Installation) checkers() string {
	return fmt.Sprintf(`variables.subresource == '' && request.resource.group == 'admissionregistration.k8s.io' &&
  request.resource.resource in ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'] &&
  (oldObject == null || oldObject.metadata.?labels[?'%[2]s'].orValue('') == 'true' ||
    oldObject.metadata.?managedFields.orValue([]).exists(e, e.?manager.orValue('') == '%[3]s')) &&
  (object == null || object.metadata.?labels[?'%[2]s'].orValue('') == 'true' &&
    (request.resource.resource == 'validatingwebhookconfigurations' && object.metadata.name in ['capstan-requirements', 'capstan-crds'] ||
      object.metadata.?ownerReferences.orValue([]).exists(o, o.apiVersion.startsWith('apiextensions.openshift.io/') && o.kind == 'CompatibilityRequirement' && o.name == object.metadata.name)) &&
    object.?webhooks.orValue([]).all(w, has(w.clientConfig.service) ?
      w.clientConfig.service.namespace == '%[1]s' && w.clientConfig.service.name == '%[4]s' :
      w.clientConfig.?url.orValue('').startsWith('https://127.0.0.1:'))) ||
request.resource.group == 'apiextensions.openshift.io' && request.resource.resource == 'compatibilityrequirements' && (
  variables.subresource == 'status' && request.operation == 'UPDATE' ||
  variables.subresource == '' && request.operation == 'CREATE' && request.?dryRun.orValue(false) && object.metadata.name == 'capstan-probe') ||
variables.place == '%[1]s' && request.?name.orValue('') == '%[4]s' && (
  request.resource.group == 'policy' && request.resource.resource == 'poddisruptionbudgets' && variables.subresource == '' ||
  request.resource.group == 'apps' && request.resource.resource == 'deployments' && request.operation == 'UPDATE' && (
    variables.subresource == 'scale' || variables.subresource == '' && object.spec.template == oldObject.spec.template)) ||
variables.place == '%[1]s' && request.?name.orValue('') == '%[5]s' && variables.subresource == '' &&
  request.resource.group == 'apps' && request.resource.resource == 'deployments' &&
  (oldObject == null || oldObject.metadata.?labels[?'%[2]s'].orValue('') == 'true') &&
  (object == null || object.metadata.?labels[?'%[2]s'].orValue('') == 'true' &&
    object.spec.template.spec.?serviceAccountName.orValue('') == '%[4]s')`,
		i.Namespace, checkerLabel, checkerManager, checkerAccount, secondChecker)
}
