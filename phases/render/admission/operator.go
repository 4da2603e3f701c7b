package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/render/policy"
)

// The policies that hold the operator's ServiceAccount.

// byOperator lets a policy pass over everybody else.
func (i Installation) byOperator() admissionregistrationv1.MatchCondition {
	return admissionregistrationv1.MatchCondition{
		Name: "by-the-operator", Expression: fmt.Sprintf("request.userInfo.username == '%s'", i.operator()),
	}
}

var (
	changes  = []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	anything = []string{"*"}

	labels    = variable("labels", "object.metadata.?labels.orValue({})")
	oldLabels = variable("oldLabels", "oldObject == null ? {} : oldObject.metadata.?labels.orValue({})")
	// excepted are the rules that the object breaks by exception.
	excepted = variable("excepted", fmt.Sprintf("variables.labels[?'%s'].orValue('').split('.')", policy.ExceptedLabel))
	// called names the object as exceptions do, and what as people do.
	called = variable("called", policy.Called())
	what   = variable("what", "variables.called[0]")
)

func variable(name, expression string) admissionregistrationv1.Variable {
	return admissionregistrationv1.Variable{Name: name, Expression: expression}
}

// writes says what the operator may write at all: its own few objects, and what it manages. What it manages is judged by
// contents. A label that a request brings does not make an object that is there the operator's: what is emptied in the same
// request breaks no rule, and whoever owns it may fill it again. So the object has to be the operator's before, as the engine
// tells that (see decide.ClaimOf), or has to be adopted, which the rule adoption bounds.
func (i Installation) writes() bound {
	match := matching(nil, rule(anything, []string{"*/*"}, admissionregistrationv1.OperationAll))
	match.ExcludeResourceRules = often
	return bound{
		name: "capstan-writes",
		description: "Holds Capstan's ServiceAccount to its own few objects, to those that carry its label already or are adopted, and to no " +
			"subresource but the statuses that it reports in, and the scale of the checker of CRD compatibility. Of what machines " +
			"are made from it may change the boot image and the stub, and nothing else. What a move of hosted clusters writes it may where " +
			"deploy/privatecapi gives it the verb for that.",
		match:      match,
		conditions: []admissionregistrationv1.MatchCondition{i.byOperator()},
		variables: []admissionregistrationv1.Variable{
			variable("subresource", "request.?subResource.orValue('')"), variable("place", "request.?namespace.orValue('')"),
			variable("checkers", i.checkers()), variable("bootImages", i.bootImages()), variable("own", i.own()),
			variable("controlPlane", controlPlane), variable("fence", fence), variable("owned", owned()), variable("moves", i.moves()), variable("retires", retires()),
			variable("labelled", fmt.Sprintf("object != null && '%s' in object.metadata.?labels.orValue({})", policy.ManagedByLabel)),
			variable("was", fmt.Sprintf("oldObject != null && '%s' in oldObject.metadata.?labels.orValue({})", policy.ManagedByLabel)),
			variable("marked", fmt.Sprintf("oldObject != null && ['%s', '%s'].exists(mark, mark in oldObject.metadata.?annotations.orValue({}))", revisionAnnotation, ownerAnnotation)),
			variable("applied", fmt.Sprintf("oldObject != null && oldObject.metadata.?managedFields.orValue([]).exists(e, e.?manager.orValue('') == '%s' && e.?subresource.orValue('') == '')", fieldManager)),
			variable("adopts", fmt.Sprintf("object != null && '%s' in object.metadata.?annotations.orValue({})", policy.AdoptAnnotation)),
		},
		validations: []admissionregistrationv1.Validation{{
			Expression: `variables.own ||
variables.subresource == '' && (
  request.operation == 'CREATE' && variables.labelled ||
  request.operation == 'UPDATE' && (
    variables.was || variables.labelled && (variables.marked || variables.applied || variables.adopts) ||
    variables.marked && request.kind.kind == 'CustomResourceDefinition' && object.spec == oldObject.spec) ||
  request.operation == 'DELETE' && (variables.was || variables.marked)) ||
variables.moves && ` + mayMove + ` ||
variables.retires && ` + mayRetire,
			MessageExpression: fmt.Sprintf(`'Capstan may not ' + request.operation + ' ' + request.resource.resource + `+
				`(variables.subresource == '' ? '' : '/' + variables.subresource) + ' ' + (variables.place == '' ? '' : variables.place + '/') + request.?name.orValue('') + `+
				`': it is neither its own nor does it carry the label %s, which no request brings to what is there already. If Capstan asked for this, somebody else may have its token; see docs/threat-model.md'`, policy.ManagedByLabel),
		}},
	}
}

// The marks of what the operator has applied, see decide.RevisionAnnotation and decide.OwnerAnnotation of the engine, and the
// field manager by which it is told when the marks are lost.
const (
	revisionAnnotation = "capi-operator.openshift.io/revision"
	ownerAnnotation    = "capi-operator.openshift.io/owner"
	fieldManager       = "capstan"
)

// often are resources that are written all the time, by everybody but the operator, which has no right on them but for
// its Lease and its Events. They are passed over, so that this policy costs a cluster nothing.
var often = []admissionregistrationv1.NamedRuleWithOperations{
	rule([]string{""}, []string{"bindings", "endpoints", "events", "nodes/status", "pods", "pods/binding", "pods/status"}, admissionregistrationv1.OperationAll),
	rule([]string{"events.k8s.io"}, []string{"events"}, admissionregistrationv1.OperationAll),
	rule([]string{"coordination.k8s.io"}, []string{"leases"}, admissionregistrationv1.OperationAll),
	rule([]string{"discovery.k8s.io"}, []string{"endpointslices"}, admissionregistrationv1.OperationAll),
}

// own says that a request is about one of the operator's own objects, which it never deletes, but for its inventories and what
// it keeps for the checker.
func (i Installation) own() string {
	return fmt.Sprintf(`variables.checkers || variables.bootImages ||
request.resource.group == '' && request.resource.resource == 'configmaps' && variables.place == '%[1]s' && %[2]s ||
request.operation in ['CREATE', 'UPDATE'] && (
  request.resource.group == 'config.openshift.io' && request.resource.resource == 'clusteroperators' && variables.subresource in ['', 'status'] && object.metadata.name == 'cluster-api' ||
  request.resource.group == 'operator.openshift.io' && request.resource.resource == 'clusterapis' && variables.subresource == 'status' && object.metadata.name == 'cluster')`,
		i.Namespace, books("(object == null ? oldObject : object)"))
}

// books says that a ConfigMap is one of those in which the operator keeps what it must not lose.
func books(configMap string) string {
	return strings.ReplaceAll(`(
  $o.metadata.name.startsWith('capstan-inventory-') || $o.metadata.name in ['capstan-recorder', 'capstan-history'] ||
  $o.metadata.name.startsWith('capstan-bootimages-') || $o.metadata.name == 'capstan-known-images' ||
  $o.metadata.name.startsWith('capstan-') && $o.metadata.name.endsWith('-records'))`, "$o", configMap)
}

// contents holds what the operator manages to the rules of what images may contain, one validation a rule.
func (i Installation) contents() bound {
	b := bound{
		name:        "capstan-contents",
		description: "Holds what Capstan's ServiceAccount applies to the rules of what provider images may contain, see docs/provider-contract.md.",
		match:       matching(labelled(policy.ManagedByLabel, metav1.LabelSelectorOpExists), rule(anything, anything, changes...)),
		conditions:  []admissionregistrationv1.MatchCondition{i.byOperator()},
		variables: []admissionregistrationv1.Variable{
			labels, oldLabels, excepted, called, what,
			variable("kind", "request.kind.group + '/' + request.kind.kind"),
			variable("stored", fmt.Sprintf("'%s' in variables.oldLabels ? oldObject : {}", policy.ManagedByLabel)),
		},
	}
	for _, r := range policy.Rules {
		if expression := r.Expression(i.Policy); expression != "" {
			b.validations = append(b.validations, i.validation(r, fmt.Sprintf("'%s' in variables.excepted ||\n%s", r.Name, expression)))
		}
	}
	return b
}

// validation refuses what breaks a rule, and says which rule, which object, and what to do.
func (i Installation) validation(r policy.Rule, expression string) admissionregistrationv1.Validation {
	return admissionregistrationv1.Validation{
		Expression: expression,
		MessageExpression: fmt.Sprintf(`variables.what + %s`, quoted(fmt.Sprintf(
			" breaks rule %s of the policy: %s Ask for a provider image without that, or let it through by an exception in ConfigMap %s/%s",
			r.Name, r.Doc, i.Namespace, exceptionsConfigMap))),
	}
}

// quoted is a string of CEL.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

// exceptions holds an object that breaks rules by exception, and says so by its label, to the exceptions that there are.
func (i Installation) exceptions() bound {
	deny := admissionregistrationv1.DenyAction
	return bound{
		name:        "capstan-exceptions",
		description: "Lets what Capstan applies break only those rules for which the administrator has made an exception.",
		match:       matching(labelled(policy.ExceptedLabel, metav1.LabelSelectorOpExists), rule(anything, anything, changes...)),
		conditions: []admissionregistrationv1.MatchCondition{i.byOperator(), {
			Name: "has-exceptions", Expression: fmt.Sprintf("'%s' in object.metadata.?labels.orValue({})", policy.ExceptedLabel),
		}},
		variables: []admissionregistrationv1.Variable{
			labels, excepted, called, what,
			variable("granted", "params.?data.orValue({}).transformList(name, text, text.split('\\n').map(line, line.trim()))"),
		},
		validations: []admissionregistrationv1.Validation{{
			Expression: "variables.excepted.all(rule, variables.granted.exists(lines, 'rule: ' + rule in lines && variables.called.exists(name, 'object: ' + name in lines)))",
			MessageExpression: fmt.Sprintf(`variables.what + ' breaks rule ' + variables.excepted.filter(rule, !variables.granted.exists(lines, 'rule: ' + rule in lines && variables.called.exists(name, 'object: ' + name in lines))).join(' and ') + `+
				`' of the policy, and ConfigMap %s/%s has no exception for that'`, i.Namespace, exceptionsConfigMap),
		}},
		params: &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
		ref:    &admissionregistrationv1.ParamRef{Name: exceptionsConfigMap, Namespace: i.Namespace, ParameterNotFoundAction: &deny},
	}
}

// clusterRoles keeps the operator from binding a ClusterRole that it does not manage: each of those is a parameter.
func (i Installation) clusterRoles() bound {
	deny := admissionregistrationv1.DenyAction // there are always some
	return i.roleRefs("capstan-cluster-roles", "ClusterRole", []string{"clusterrolebindings", "rolebindings"}, deny)
}

// roles is the same for a Role of the binding's namespace, where there may be none.
func (i Installation) roles() bound {
	return i.roleRefs("capstan-roles", "Role", []string{"rolebindings"}, admissionregistrationv1.AllowAction)
}

func (i Installation) roleRefs(name, kind string, bindings []string, none admissionregistrationv1.ParameterNotFoundActionType) bound {
	var role policy.Rule
	for _, r := range policy.Rules {
		if r.Name == "role" {
			role = r
		}
	}
	group := []string{"rbac.authorization.k8s.io"}
	return bound{
		name:        name,
		description: fmt.Sprintf("Keeps Capstan's ServiceAccount from binding a %s that it does not manage.", kind),
		match:       matching(labelled(policy.ManagedByLabel, metav1.LabelSelectorOpExists), rule(group, bindings, changes...)),
		conditions: []admissionregistrationv1.MatchCondition{i.byOperator(), {
			Name: "of-that-kind", Expression: fmt.Sprintf("object.roleRef.kind == '%s'", kind),
		}},
		variables: []admissionregistrationv1.Variable{labels, excepted, called, what},
		validations: []admissionregistrationv1.Validation{i.validation(role,
			"object.roleRef.name != params.metadata.name || 'role' in variables.excepted")},
		params: &admissionregistrationv1.ParamKind{APIVersion: group[0] + "/v1", Kind: kind},
		ref: &admissionregistrationv1.ParamRef{
			Selector: labelled(policy.ManagedByLabel, metav1.LabelSelectorOpDoesNotExist), ParameterNotFoundAction: &none,
		},
	}
}
