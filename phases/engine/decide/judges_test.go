package decide

import (
	"errors"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func judging(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// hook is a configuration of one webhook with some fields.
func hook(t *testing.T, fields string) *unstructured.Unstructured {
	t.Helper()
	return judging(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: hooks}, webhooks: [{name: a.example.com, "+fields+"}]}")
}

func constrained(t *testing.T, constraints string) *unstructured.Unstructured {
	t.Helper()
	return judging(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {matchConstraints: {"+constraints+"}}}")
}

const (
	aboutSettings = `rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]`
	anything      = `resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]`
)

func TestJudge_may_be_asked_about_what_its_rules_and_selectors_take(t *testing.T) {
	written := func() *Writing {
		return &Writing{
			Key: Key{Version: "v1", Kind: "ConfigMap", Namespace: "here", Name: "a"}, Resource: "configmaps",
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
			Labels:     []map[string]string{{"is": "old"}, {"is": "new"}},
			Namespace:  NamespaceLabels("here", judging(t, "{metadata: {labels: {of: us}}}")),
		}
	}
	for name, c := range map[string]struct {
		judge *unstructured.Unstructured
		write func(*Writing)
		may   bool
	}{
		"its resource":                       {judge: hook(t, aboutSettings), may: true},
		"another operation":                  {judge: hook(t, aboutSettings), write: func(w *Writing) { w.Operations = []admissionregistrationv1.OperationType{"DELETE"} }},
		"another resource":                   {judge: hook(t, aboutSettings), write: func(w *Writing) { w.Resource = "secrets" }},
		"a resource that is not known":       {judge: hook(t, aboutSettings), write: func(w *Writing) { w.Resource = "" }, may: true},
		"another group":                      {judge: hook(t, aboutSettings), write: func(w *Writing) { w.Key.Group = "apps" }},
		"an equivalent version":              {judge: hook(t, aboutSettings), write: func(w *Writing) { w.Key.Version = "v2" }, may: true},
		"another version":                    {judge: hook(t, "matchPolicy: Exact, "+aboutSettings), write: func(w *Writing) { w.Key.Version = "v2" }},
		"no rule at all":                     {judge: hook(t, "rules: []")},
		"the object as it was":               {judge: hook(t, "objectSelector: {matchLabels: {is: old}}, "+aboutSettings), may: true},
		"the object as it is to be":          {judge: hook(t, "objectSelector: {matchLabels: {is: new}}, "+aboutSettings), may: true},
		"other objects":                      {judge: hook(t, "objectSelector: {matchLabels: {is: other}}, "+aboutSettings)},
		"objects whose labels are not known": {judge: hook(t, "objectSelector: {matchLabels: {is: other}}, "+aboutSettings), write: func(w *Writing) { w.Labels = nil }, may: true},
		"its namespace":                      {judge: hook(t, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: here}}, "+aboutSettings), may: true},
		"another namespace":                  {judge: hook(t, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: there}}, "+aboutSettings)},
		"a namespace by a known label":       {judge: hook(t, "namespaceSelector: {matchLabels: {of: them}}, "+aboutSettings)},
		"a label that may be there":          {judge: hook(t, "namespaceSelector: {matchLabels: {more: x}}, "+aboutSettings), may: true},
		"all that has a namespace":           {judge: constrained(t, `resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: ["*"], scope: Namespaced}]`), may: true},
		"all that has none":                  {judge: constrained(t, `resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: ["*"], scope: Cluster}]`)},
		"its name":                           {judge: constrained(t, `resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: ["*"], resourceNames: [a]}]`), may: true},
		"other names":                        {judge: constrained(t, `resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: ["*"], resourceNames: [b]}]`)},
		"what is excluded":                   {judge: constrained(t, anything+`, excludeResourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]`)},
		"an operation that is not excluded":  {judge: constrained(t, anything+`, excludeResourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]`), write: func(w *Writing) { w.Operations = []admissionregistrationv1.OperationType{"DELETE", "CREATE"} }, may: true},
		"what may be excluded":               {judge: constrained(t, anything+`, excludeResourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]`), write: func(w *Writing) { w.Resource = "" }, may: true},
		"a resource and all below it":        {judge: constrained(t, `resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps/*]}]`), may: true},
		"another judge":                      {judge: constrained(t, anything), write: func(w *Writing) { w.Key.Group = admissionGroup }},
		"something without a namespace":      {judge: constrained(t, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: there}}, "+anything), write: func(w *Writing) { w.Namespace = NamespaceLabels("", nil) }, may: true},
		"a Namespace by what it is named":    {judge: constrained(t, "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: there}}, "+anything), write: func(w *Writing) { w.Namespace = NamespaceLabels("room", nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := written()
			if c.write != nil {
				c.write(w)
			}
			may := false
			for _, j := range JudgesOf(c.judge, nil) {
				may = may || j.MayJudge(w)
			}
			if may != c.may {
				t.Errorf("it may be asked: %t", may)
			}
		})
	}
}

func TestJudgesOf_a_binding_is_the_policy_that_it_binds_where_it_binds_it(t *testing.T) {
	binding := judging(t, "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b}, spec: {policyName: p, matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: here}}}}}")
	judges := JudgesOf(binding, constrained(t, `resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]`))
	if len(judges) != 1 || judges[0].Name != "ValidatingAdmissionPolicy p" {
		t.Fatalf("they are %v", judges)
	}
	for at, may := range map[Key]bool{
		{Version: "v1", Kind: "ConfigMap", Namespace: "here", Name: "a"}:  true,
		{Version: "v1", Kind: "ConfigMap", Namespace: "there", Name: "a"}: false,
		{Version: "v1", Kind: "Secret", Namespace: "here", Name: "a"}:     false,
	} {
		w := &Writing{Key: at, Resource: strings.ToLower(at.Kind) + "s", Operations: []admissionregistrationv1.OperationType{"CREATE"}, Namespace: NamespaceLabels(at.Namespace, nil)}
		if judges[0].MayJudge(w) != may {
			t.Errorf("it is asked about %s: %t", at, !may)
		}
	}
	if JudgesOf(judging(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), nil) != nil {
		t.Error("a ConfigMap judges")
	}
}

func TestJudge_knows_its_refusal(t *testing.T) {
	// As k8s.io/apiserver has them in pkg/admission/plugin/webhook/errors and pkg/admission/plugin/policy/validating.
	for said, by := range map[string]*unstructured.Unstructured{
		`admission webhook "a.example.com" denied the request: no`:                                       hook(t, aboutSettings),
		`configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`: constrained(t, anything),
	} {
		j := JudgesOf(by, nil)[0]
		if !j.Refused(errors.New(said)) || j.Refused(errors.New("it is somebody else's: "+`admission webhook "b.example.com" denied the request`)) || j.Refused(nil) {
			t.Errorf("%s does not know %s", j.Name, said)
		}
	}
}
