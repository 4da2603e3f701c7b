package policy

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The labels of which the second wall makes something.
const (
	// ManagedByLabel is on every object that is applied; its value is the component.
	ManagedByLabel = "capi-operator.openshift.io/managed-by"
	// ExceptedLabel is on an object that breaks rules by exception; its value is their names, with dots between them.
	ExceptedLabel = "capi-operator.openshift.io/policy-exceptions"
	// VersionsAnnotation, on any object of an image, names versions of CustomResourceDefinitions that the provider uses besides
	// those that they are stored in: "<version>/<crd>, ...".
	VersionsAnnotation = "capi-operator.openshift.io/requires-crd-versions"
	// InventoryLabel is on the ConfigMaps that list what was applied.
	InventoryLabel = "capi-operator.openshift.io/inventory"
)

// Policy is what images may contain. The zero value allows no namespace, and with that hardly anything.
type Policy struct {
	// Namespaces are those that objects, subjects of bindings and servers of webhooks may be in, besides those that a
	// profile brings itself.
	Namespaces []string
	Exceptions []Exception
}

// Rule is one thing that an object must not do. All of them are in Rules.
type Rule struct {
	// Name is by which problems and exceptions call it.
	Name string
	// Doc says what it allows, in one sentence.
	Doc string

	breaches   func(c check) []Breach
	expression func(p *Policy) string // nil: see Expression
}

// Breach is what one object does against one rule.
type Breach struct {
	Rule string
	Path string // of the field, such as rules[0].verbs; empty for the object
	Why  string
}

// Rules are all rules, in the order in which they are asked.
var Rules = []Rule{kindRule, nameRule, namespaceRule, broughtRule, groupRule, subjectRule, roleRule, permissionRule, aggregationRule, webhookRule, admissionRule, adoptionRule, workloadRule, serviceRule, monitorRule, requirementRule}

// check is what a rule is asked about: one object of an image.
type check struct {
	*Policy
	object *unstructured.Unstructured
	kind   string            // of the object, group/Kind
	beside map[identity]bool // the objects of the same profile, itself among them
	names  map[string]bool   // by which exceptions may call these
}

// Verdict is what one object does against the policy.
type Verdict struct {
	Breaches []Breach
	// Excepted are the names of the rules that it breaks by exception, in the order of Rules.
	Excepted []string
}

// identity is what tells the objects of a profile apart.
type identity struct{ kind, namespace, name string }

// Check judges the objects of one profile of an image, in the order of the objects.
func (p *Policy) Check(image string, objects []*unstructured.Unstructured) []Verdict {
	verdicts, beside, names := make([]Verdict, len(objects)), make(map[identity]bool, len(objects)), map[string]bool{}
	for _, object := range objects {
		beside[identity{kindOf(object), object.GetNamespace(), object.GetName()}] = true
		for _, name := range called(object) {
			names[name] = true
		}
	}
	for i, object := range objects {
		c, v := check{Policy: p, object: object, kind: kindOf(object), beside: beside, names: names}, &verdicts[i]
		for _, rule := range Rules {
			breaches := rule.breaches(c)
			if len(breaches) > 0 && slices.ContainsFunc(p.Exceptions, func(e Exception) bool { return e.covers(image, rule.Name, object) }) {
				v.Excepted = append(v.Excepted, rule.Name)
				continue
			}
			if len(breaches) > 0 {
				breaches[0].Why += c.misses(image, rule.Name)
			}
			v.Breaches = append(v.Breaches, told(rule.Name, breaches)...)
		}
	}
	return verdicts
}

// Broken are the names of all rules that the object breaks, by exception or not.
func (v Verdict) Broken() []string {
	broken := slices.Clone(v.Excepted)
	for _, breach := range v.Breaches {
		broken = append(broken, breach.Rule)
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// maxBreaches are told of one object and one rule: a few lines of aliases can stand for any number.
const maxBreaches = 20

// told are the breaches of one rule, and how many there are if they are too many.
func told(rule string, breaches []Breach) []Breach {
	if more := len(breaches) - maxBreaches; more > 0 {
		breaches = append(breaches[:maxBreaches:maxBreaches], Breach{Why: fmt.Sprintf("it breaks this rule %d times more", more)})
	}
	for i := range breaches {
		breaches[i].Rule = rule
	}
	return breaches
}

// IsClusterAPI says that an API group is one of Cluster API's: its own, or one below it.
func IsClusterAPI(group string) bool {
	return group == "cluster.x-k8s.io" || strings.HasSuffix(group, ".cluster.x-k8s.io")
}

// is says that the object is of one of some kinds, each written group/Kind.
func (c check) is(kinds ...string) bool { return slices.Contains(kinds, c.kind) }

// kindOf is group/Kind of an object.
func kindOf(o *unstructured.Unstructured) string {
	gvk := o.GroupVersionKind()
	return gvk.Group + "/" + gvk.Kind
}

// read reads the object into a type of the API. What cannot be read is a breach: nobody could judge it.
func (c check) read(into any) []Breach { return read(c.object.Object, into) }

func read(content map[string]any, into any) []Breach {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, into); err != nil {
		return []Breach{{Why: "it cannot be read: " + err.Error()}}
	}
	return nil
}

// inProviders says that a namespace is one of the providers', or is brought by the profile. One of the cluster that it brings
// by exception does not count: the exception is for the Namespace, not for what is in it.
func (c check) inProviders(namespace string) bool {
	return slices.Contains(c.Namespaces, namespace) || !isReserved(namespace) && c.beside[identity{kind: "/Namespace", name: namespace}]
}

// theNamespaces names them for people.
func (c check) theNamespaces() string {
	return strings.Join(c.Namespaces, ", ") + " and those that the profile brings"
}

// all says that there is one, and that each is so.
func all(values []string, so func(string) bool) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !so(v) })
}
