package bootimage

import (
	"context"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	}
	for name, row := range (table{
		"it has just been made":       {cloned: "a-1", since: time.Second, label: "a"},
		"it was made a while ago":     {cloned: "a-1", since: bootboard.ClaimFor, label: "a", asks: []string{"patch"}},
		"another plan has made it":    {label: "a", asks: []string{"patch"}},
		"this plan has made another":  {cloned: "a-2", label: "a", asks: []string{"patch"}},
		"it is gone by now":           {label: "a", gone: true, asks: []string{"patch"}},
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
					asks = append(asks, "patch")
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
			if err := p.claimClone(t.Context()); apierrors.IsNotFound(err) != row.gone || !row.gone && err != nil {
				t.Errorf("it ends with %v", err)
			}
			if !slices.Equal(asks, row.asks) {
				t.Errorf("asked is %q", asks)
			}
			asks = nil
			if err := p.claimClone(t.Context()); err == nil && len(asks) > 0 {
				t.Errorf("at once again asked is %q", asks)
			}
		})
	}
}
