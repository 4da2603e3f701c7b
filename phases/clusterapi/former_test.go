package clusterapi

import (
	"context"
	"strings"
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/phases/engine"
)

// counting counts what is read of the API server itself.
type counting struct {
	client.Reader
	reads int
}

func (c *counting) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	c.reads++
	return c.Reader.List(ctx, into, options...)
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	c.reads++
	return c.Reader.Get(ctx, key, into, options...)
}

// A pod of the former installer ends later than its Deployment, and meanwhile this operator may have been started anew.
func TestFormerRuns_asks_for_the_Leases_at_a_start_whatever_is_current_and_then_not_again(t *testing.T) {
	now := time.Now()
	held := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operator", Name: FormerLease("capi-installer")},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("its-pod"), LeaseDurationSeconds: ptr.To[int32](137), RenewTime: ptr.To(metav1.NewMicroTime(now))},
	}
	entry := operatorv1alpha1.ClusterAPIInstallerRevision{Name: "one", Revision: 1}
	ours := proofs{engine.Proofs{Seen: true, Of: []engine.Proof{{Number: 1, Listed: ProofOf(entry)}}}}
	for what, seen := range map[string]proofs{"our revision is current": ours, "the inventories are not seen yet": {}} {
		live := &counting{Reader: fake.NewClientBuilder().WithObjects(held).Build()}
		phases := &Phases{Client: fake.NewClientBuilder().Build(), Live: live, OperatorNamespace: "operator", Now: func() time.Time { return now }}
		look := func() string {
			t.Helper()
			api := &operatorv1alpha1.ClusterAPI{Status: operatorv1alpha1.ClusterAPIStatus{Revisions: []operatorv1alpha1.ClusterAPIInstallerRevision{entry}}}
			p := &Pass{Phases: phases, proofs: seen, world: world{api: api, current: "one"}}
			former, err := p.formerRuns(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return former
		}
		if former := look(); !strings.Contains(former, "Lease operator/capi-installer-leader") {
			t.Errorf("%s: at the start it says %q", what, former)
		}
		now = now.Add(time.Hour)
		if former := look(); former != "" {
			t.Errorf("%s: once the Lease is free it says %q", what, former)
		}
		before := live.reads
		if former := look(); former != "" || live.reads > before {
			t.Errorf("%s: at rest it says %q, and has read %d times", what, former, live.reads-before)
		}
		now = now.Add(-time.Hour)
	}
}
