package admission

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The policies that hold the providers' ServiceAccounts. The right to write Secrets of all namespaces, which real providers
// have, would be the rights of every ServiceAccount of the cluster: whoever makes a token Secret for one is given its token.

// byProviders lets a policy pass over everybody but the ServiceAccounts of the providers' namespaces.
func (i Installation) byProviders() admissionregistrationv1.MatchCondition {
	theirs := make([]string, len(i.Policy.Namespaces))
	for n, namespace := range i.Policy.Namespaces {
		theirs[n] = fmt.Sprintf("request.userInfo.username.startsWith('system:serviceaccount:%s:')", namespace)
	}
	return admissionregistrationv1.MatchCondition{Name: "by-providers", Expression: strings.Join(theirs, " || ")}
}

// namespace keeps providers out of the operator's namespace: what lies there is believed.
func (i Installation) namespace() bound {
	match := matching(nil, rule(anything, []string{"*/*"}, admissionregistrationv1.OperationAll))
	match.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": i.Namespace}}
	return bound{
		name:        "capstan-namespace",
		description: "Keeps the providers' ServiceAccounts from writing anything in Capstan's namespace.",
		match:       match,
		conditions:  []admissionregistrationv1.MatchCondition{i.byProviders()},
		validations: []admissionregistrationv1.Validation{{
			Expression: "false",
			MessageExpression: fmt.Sprintf(`request.userInfo.username + ' may not ' + request.operation + ' ' + request.resource.resource + `+
				`' in namespace %s: no provider has anything to write there. If it did not ask for this, somebody else may have its token; see docs/threat-model.md'`, i.Namespace),
		}},
	}
}

// tokens keeps providers from tokens of ServiceAccounts in namespaces of the cluster, which are neither theirs nor a tenant's.
func (i Installation) tokens() bound {
	match := matching(nil, rule([]string{""}, []string{"secrets"}, changes...), rule([]string{""}, []string{"serviceaccounts/token"}, admissionregistrationv1.Create))
	return bound{
		name:        "capstan-tokens",
		description: "Keeps the providers' ServiceAccounts from tokens of the cluster's own ServiceAccounts.",
		match:       match,
		conditions:  []admissionregistrationv1.MatchCondition{i.byProviders()},
		variables: []admissionregistrationv1.Variable{
			variable("place", "request.?namespace.orValue('')"),
			variable("token", "request.resource.resource == 'serviceaccounts' || object.?type.orValue('') == 'kubernetes.io/service-account-token'"),
		},
		validations: []admissionregistrationv1.Validation{{
			Expression: "!variables.token || " + i.Policy.Open("variables.place"),
			MessageExpression: `request.userInfo.username + ' may not make tokens of ServiceAccounts in namespace ' + variables.place + ` +
				`'. If it did not ask for this, somebody else may have its token; see docs/threat-model.md'`,
		}},
	}
}
