package act

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

const judging = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks: [{name: w.example.com, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}]
`

func TestForesee_marks_what_is_judged_by_what_comes_before_it(t *testing.T) {
	before, after := component(t, "one", judging), component(t, "two", `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: here}}
---
{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: here}}
`)
	spec := []decide.Change{{Path: ".spec.validations"}}
	for name, c := range map[string]struct {
		policy, binding, hooks report.Foreseen
		configMap, secret      report.Outlook
		says                   map[string]string // by kind; of others nothing is later
	}{
		"nothing of it changes": {
			policy: report.Foreseen{Outlook: report.WouldMark}, binding: report.Foreseen{Outlook: report.WouldMark}, hooks: report.Foreseen{Outlook: report.WouldMark},
			configMap: report.WouldChange, secret: report.WouldCreate,
		},
		"all of it comes": {
			policy: report.Foreseen{Outlook: report.WouldCreate}, binding: report.Foreseen{Outlook: report.WouldCreate}, hooks: report.Foreseen{Outlook: report.WouldCreate},
			configMap: report.WouldMark, secret: report.WouldCreate,
			says: map[string]string{
				"ConfigMap": "ValidatingAdmissionPolicy p, which has a say in it, comes in wave 2",
				"Secret":    "webhook w.example.com of ValidatingWebhookConfiguration w, which has a say in it, comes in wave 1",
			},
		},
		"the policy changes": {
			policy: report.Foreseen{Outlook: report.WouldChange, Changes: spec}, binding: report.Foreseen{Outlook: report.WouldMark}, hooks: report.Foreseen{Outlook: report.WouldMark},
			configMap: report.WouldCreate, secret: report.WouldCreate,
			says: map[string]string{"ConfigMap": "ValidatingAdmissionPolicy p, which has a say in it, changes in wave 2"},
		},
		"what changes has no say": {
			policy: report.Foreseen{Outlook: report.WouldChange, Changes: []decide.Change{{Path: ".metadata.labels.version"}}}, binding: report.Foreseen{Outlook: report.WouldMark},
			hooks: report.Foreseen{Outlook: report.WouldMark}, configMap: report.WouldCreate, secret: report.WouldCreate,
		},
		"nothing is written that it judges": {
			policy: report.Foreseen{Outlook: report.WouldCreate}, binding: report.Foreseen{Outlook: report.WouldCreate}, hooks: report.Foreseen{Outlook: report.WouldCreate},
			configMap: report.WouldLeave, secret: report.WouldMark,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(&decide.Revision{Name: "r", Number: 1, Components: []decide.Component{before, after}}, testUs)
			if p.err != nil {
				t.Fatal(p.err)
			}
			f := &foresight{run: &run{p: p}, outlooks: map[decide.Key]*report.Foreseen{}}
			for i := range p.waves {
				for _, target := range p.waves[i].targets {
					o := map[string]report.Foreseen{
						"ValidatingAdmissionPolicy": c.policy, "ValidatingAdmissionPolicyBinding": c.binding, "ValidatingWebhookConfiguration": c.hooks,
						"ConfigMap": {Outlook: c.configMap}, "Secret": {Outlook: c.secret},
					}[target.Key.Kind]
					o.Key, o.How = target.Key, report.Tried
					o.Resource.Resource = strings.ToLower(target.Key.Kind) + "s"
					f.judgedLater(&o, target)
					f.outlooks[target.Key.Identity()] = &o
					if says := c.says[target.Key.Kind]; (o.How == report.Later) != (says != "") || o.Why != says {
						t.Errorf("%s is %s: %q, want %q", target.Key, o.How, o.Why, says)
					}
				}
				f.addJudges(&p.waves[i])
			}
		})
	}
}

func TestForesee_marks_a_removal_that_is_judged_by_what_comes(t *testing.T) {
	hooks := component(t, "one", strings.ReplaceAll(judging, "operations: [CREATE], resources: [secrets]", "operations: [DELETE], resources: [secrets]"))
	p := planOf(&decide.Revision{Name: "r", Number: 1, Components: []decide.Component{hooks}}, testUs)
	f := &foresight{run: &run{p: p}, outlooks: map[decide.Key]*report.Foreseen{}}
	for i := range p.waves {
		for _, target := range p.waves[i].targets {
			f.outlooks[target.Key.Identity()] = &report.Foreseen{Key: target.Key, Outlook: report.WouldCreate}
		}
		f.addJudges(&p.waves[i])
	}
	for kind, later := range map[string]bool{"Secret": true, "ConfigMap": true, "Service": false} {
		o := &report.Foreseen{Key: decide.Key{Version: "v1", Kind: kind, Namespace: "here", Name: "gone"}, Outlook: report.WouldRemove, How: report.Tried, Why: "only older revisions have it"}
		o.Resource.Resource = strings.ToLower(kind) + "s"
		f.judgedLater(o, nil)
		if (o.How == report.Later) != later || !strings.HasSuffix(o.Why, "only older revisions have it") {
			t.Errorf("%s is %s: %s", kind, o.How, o.Why)
		}
	}
}

func component(t *testing.T, name, documents string) decide.Component {
	t.Helper()
	c := decide.Component{Name: name}
	for _, document := range strings.Split(documents, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		c.Objects = append(c.Objects, o)
	}
	return c
}
