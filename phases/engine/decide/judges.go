package decide

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

const admissionGroup = "admissionregistration.k8s.io"

// Judge is what an API server asks before it writes: a webhook, or an admission policy.
type Judge struct {
	Name    string // as people know it
	refusal string // how an API server begins to say that it refused something
	about   []admissionregistrationv1.MatchResources
}

// Writing is what a judge may be asked about.
type Writing struct {
	Key        Key
	Resource   string // plural; empty if it is not known
	Operations []admissionregistrationv1.OperationType
	Labels     []map[string]string // of the object as it is and as it would be; nil if they are not known
	Namespace  map[string]string   // what is known of the labels of the namespace that it is in, or is; nil for none
}

// JudgesOf are those that an object stands for: the webhooks of a configuration, a policy, or what a binding puts into force, which
// may be nil. Other objects are none, nor is what cannot be read.
func JudgesOf(obj, bound *unstructured.Unstructured) []Judge {
	key := KeyOf(obj)
	switch {
	case key.Group != admissionGroup:
		return nil
	case isWebhooks(key):
		return webhooksOf(obj, key)
	case strings.HasSuffix(key.Kind, "Binding"):
		j := judgeOf(obj, key, "matchResources")
		if bound != nil {
			policy := judgeOf(bound, KeyOf(bound), "matchConstraints")
			j.Name, j.refusal, j.about = policy.Name, policy.refusal, append(j.about, policy.about...)
		}
		return []Judge{j}
	}
	return []Judge{judgeOf(obj, key, "matchConstraints")}
}

// judgeOf reads a policy, or a binding of one, which say in a field what they are about.
func judgeOf(obj *unstructured.Unstructured, key Key, field string) Judge {
	j := Judge{Name: key.String(), refusal: fmt.Sprintf("%s '%s' ", key.Kind, key.Name)}
	tree, _, _ := unstructured.NestedMap(obj.Object, "spec", field)
	about := admissionregistrationv1.MatchResources{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &about) == nil && tree != nil {
		j.about = append(j.about, about)
	}
	return j
}

func webhooksOf(obj *unstructured.Unstructured, key Key) (judges []Judge) {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{} // the other kind has these fields too
	if runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, configuration) != nil {
		return nil
	}
	for _, hook := range configuration.Webhooks {
		about := admissionregistrationv1.MatchResources{NamespaceSelector: hook.NamespaceSelector, ObjectSelector: hook.ObjectSelector, MatchPolicy: hook.MatchPolicy}
		for _, rule := range hook.Rules {
			about.ResourceRules = append(about.ResourceRules, admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: rule})
		}
		if len(hook.Rules) > 0 { // else nobody asks it
			judges = append(judges, Judge{
				Name: "webhook " + hook.Name + " of " + key.String(), refusal: fmt.Sprintf("admission webhook %q denied", hook.Name),
				about: []admissionregistrationv1.MatchResources{about},
			})
		}
	}
	return judges
}

// Refused says that an error is the judge's refusal.
func (j *Judge) Refused(err error) bool {
	return err != nil && strings.Contains(err.Error(), j.refusal)
}

// MayJudge says whether an API server would ask the judge, as far as that can be told: conditions in CEL count as met. No judge is
// asked about judges.
func (j *Judge) MayJudge(w *Writing) bool {
	return w.Key.Group != admissionGroup && !slices.ContainsFunc(j.about, func(about admissionregistrationv1.MatchResources) bool {
		return !w.isAmong(&about)
	})
}

func (w *Writing) isAmong(about *admissionregistrationv1.MatchResources) bool {
	covers := func(of *Writing) func(admissionregistrationv1.NamedRuleWithOperations) bool {
		return func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
			return of.isCovered(&rule, about.MatchPolicy)
		}
	}
	if len(about.ResourceRules) > 0 && !slices.ContainsFunc(about.ResourceRules, covers(w)) {
		return false
	}
	// What is excluded is so with each of its operations, and by a resource that is known.
	left := slices.ContainsFunc(w.Operations, func(o admissionregistrationv1.OperationType) bool {
		one := *w
		one.Operations = []admissionregistrationv1.OperationType{o}
		return w.Resource == "" || !slices.ContainsFunc(about.ExcludeResourceRules, covers(&one))
	})
	if !left {
		return false
	}
	if w.Namespace != nil && !maySelect(about.NamespaceSelector, w.Namespace) {
		return false
	}
	return about.ObjectSelector == nil || w.Labels == nil || slices.ContainsFunc(w.Labels, func(of map[string]string) bool { return isSelected(about.ObjectSelector, of) })
}

// isCovered says whether a rule is about a writing. Of a policy that takes what is equivalent the version says nothing.
func (w *Writing) isCovered(rule *admissionregistrationv1.NamedRuleWithOperations, match *admissionregistrationv1.MatchPolicyType) bool {
	anyVersion := match == nil || *match == admissionregistrationv1.Equivalent
	switch {
	case !slices.ContainsFunc(w.Operations, func(o admissionregistrationv1.OperationType) bool {
		return has(rule.Operations, o, admissionregistrationv1.OperationAll)
	}):
		return false
	case !has(rule.APIGroups, w.Key.Group, "*"), !anyVersion && !has(rule.APIVersions, w.Key.Version, "*"):
		return false
	case w.Resource != "" && !has(rule.Resources, w.Resource, w.Resource+"/*", "*", "*/*"):
		return false
	case len(rule.ResourceNames) > 0 && !slices.Contains(rule.ResourceNames, w.Key.Name):
		return false
	}
	return rule.Scope == nil || *rule.Scope == admissionregistrationv1.AllScopes ||
		(*rule.Scope == admissionregistrationv1.NamespacedScope) == (w.Key.Namespace != "")
}

// has says that a list has one of some values.
func has[T comparable](list []T, values ...T) bool {
	return slices.ContainsFunc(values, func(v T) bool { return slices.Contains(list, v) })
}

func isSelected(selector *metav1.LabelSelector, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || s.Matches(labels.Set(of))
}

// maySelect is false if the labels that are known keep a selector from selecting what has them.
func maySelect(selector *metav1.LabelSelector, known map[string]string) bool {
	if selector == nil {
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return true
	}
	required, selectable := s.Requirements()
	return selectable && !slices.ContainsFunc(required, func(r labels.Requirement) bool {
		_, is := known[r.Key()]
		return is && !r.Matches(labels.Set(known))
	})
}

// NamespaceLabels are what is known of the labels of a namespace, by the Namespace as it is or would be; nil for no namespace.
func NamespaceLabels(name string, of *unstructured.Unstructured) map[string]string {
	if name == "" {
		return nil
	}
	known := map[string]string{}
	if of != nil {
		maps.Copy(known, of.GetLabels())
	}
	known[corev1.LabelMetadataName] = name
	return known
}
