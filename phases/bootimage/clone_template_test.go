package bootimage

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

func TestClaimClone_changes_one_that_the_plan_has_not_made_just_now(t *testing.T) {
	type table map[string]struct {
		cloned string
		since  time.Duration
		label  string
		gone   bool
		asks   []string
		answer error
		held   bool
	}
	for name, row := range (table{
		"it has just been made":       {cloned: "a-1", since: time.Second, label: "a"},
		"it was made a while ago":     {cloned: "a-1", since: bootboard.ClaimFor, label: "a", asks: []string{"patch"}},
		"another plan has made it":    {label: "a", asks: []string{"patch"}},
		"this plan has made another":  {cloned: "a-2", label: "a", asks: []string{"patch"}},
		"it is gone by now":           {label: "a", gone: true, asks: []string{"patch"}},
		"somebody writes it, too":     {label: "a", asks: []string{"patch"}, answer: conflict, held: true},
		"it is a user's own template": {asks: []string{"get"}},
	}) {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{"template": map[string]any{"spec": map[string]any{"ami": "b"}}}
			clone := Untyped(AWSTemplateKind)
			clone.SetNamespace("capi")
			clone.SetName("a-1")
			clone.Object["spec"] = spec
			if row.label != "" {
				clone.SetLabels(map[string]string{golden.CloneOfLabel: row.label})
			}
			scheme := runtime.NewScheme()
			scheme.AddKnownTypeWithName(AWSTemplateKind, clone.DeepCopy())
			var asks []string
			made := fake.NewClientBuilder().WithScheme(scheme)
			if !row.gone {
				made = made.WithObjects(clone.DeepCopy())
			}
			plain := made.WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					asks = append(asks, "get")
					return next.Get(ctx, key, o, opts...)
				},
				Patch: func(ctx context.Context, next client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
					if asks = append(asks, "patch"); row.answer != nil {
						return row.answer
					}
					return next.Patch(ctx, o, patch, opts...)
				},
			}).Build()
			c := newCounter()
			p := c.pass
			p.Live, p.Writer, p.Steady = plain, plain, p.Now
			p.clone, p.Judged = clone, golden.Verdict{CloneName: "a-1", CloneSpec: spec}
			p.Target.For = &golden.Target{Name: "a", Template: clone}
			p.memory.of(p.Key, func(r *remembered) { r.cloned, r.claimed = row.cloned, c.now })
			c.now = c.now.Add(row.since)
			claimed, err := p.claimClone(t.Context())
			if apierrors.IsNotFound(err) != row.gone || !row.gone && err != nil || claimed == (row.held || row.gone) {
				t.Errorf("it ends with %v, claimed: %v", err, claimed)
			}
			if !slices.Equal(asks, row.asks) {
				t.Errorf("asked is %q", asks)
			}
			asks = nil
			if claimed, _ := p.claimClone(t.Context()); claimed && len(asks) > 0 {
				t.Errorf("at once again asked is %q", asks)
			}
		})
	}
}

// A template by the name of the clone may have come since the caches have seen none.
func TestCloneTemplate_takes_the_wanted_one_by_its_name_and_never_overwrites_another(t *testing.T) {
	for name, row := range map[string]struct {
		there  string // the AMI in the template that somebody else makes
		before bool   // the caches have it
		answer error
		want   string // the error
		final  bool
		again  bool
	}{
		"there is none":                         {},
		"the wanted one is there":               {there: "ami-new", before: true},
		"another one is there":                  {there: "ami-x", before: true, want: "is another template", final: true},
		"the wanted one is made meanwhile":      {there: "ami-new", again: true},
		"another one is made meanwhile":         {there: "ami-x", want: "is another template", final: true, again: true},
		"it conflicts, as while the name is":    {answer: conflict, again: true},
		"there was one, which is gone by now":   {answer: apierrors.NewAlreadyExists(ofSets, "a"), again: true},
		"it is invalid":                         {answer: invalid, want: "is invalid", final: true},
		"it is forbidden":                       {answer: forbidden, want: "forbidden"},
		"there is no answer, and nothing is so": {answer: errLost, want: "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			key := KeyOf(golden.CAPIMachineSets, "a")
			c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), ofCAPI("MachineSet", "a", "first"), secretIn(capi, newStub))
			clone := c.plans(key).Judged.CloneName
			others := func() { c.has(templateOn(clone, row.there, "small")) }
			if row.before {
				others()
			}
			pass, _ := c.sees(key)
			c.meddles = func(string, client.Object) error {
				if row.there != "" {
					others()
				}
				return row.answer
			}
			result, err := CloneTemplate.Run(t.Context(), pass)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) || isTerminal(err) != row.final {
				t.Errorf("it ends with %v, for good: %v", err, isTerminal(err))
			}
			if again := result.LookAgain > 0; again != row.again {
				t.Errorf("it is looked at again after %s", result.LookAgain)
			}
			if row.before == (c.writes() == "create AWSMachineTemplate "+clone) {
				t.Errorf("sent is %q", c.sent)
			}
			if there := c.template(clone); row.there != "" && there != row.there {
				t.Errorf("the AMI in it is %q", there)
			}
		})
	}
}

// template is the AMI in a template, empty if there is none.
func (c *cluster) template(name string) string {
	c.t.Helper()
	there := Untyped(AWSTemplateKind)
	if err := c.server.Get(c.t.Context(), client.ObjectKey{Namespace: capi, Name: name}, there); err != nil {
		return ""
	}
	ami, _, _ := unstructured.NestedString(there.Object, "spec", "template", "spec", "ami", "id")
	return ami
}
