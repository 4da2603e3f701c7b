package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The matrix with two replicas, of which the leader is killed in the middle of the fault:", Ordered, ContinueOnFailure, func() {
	BeforeAll(func() {
		endAll()
		at = nil
		replicas.count, replicas.elect = 2, true
	})
	AfterAll(func(ctx SpecContext) {
		leaveMatrix(ctx)
		replicas.count, replicas.elect = 1, false
	})
	for _, p := range placesOfTwo() {
		labels := Label("long")
		if p.quick && p.blocked {
			labels = Label("long", "short")
		}
		It(fmt.Sprintf("in %s, %s", p.state, p.name), labels, func(ctx SpecContext) { try(ctx, p) }, NodeTimeout(3*time.Minute))
	}
})

// placesOfTwo are the cells that are tried with two replicas: each fault in
// Applying, where there is most to lose, and in Installed where something else is
// to happen there.
func placesOfTwo() []place {
	words := map[string]word{}
	for _, p := range places() {
		if p.state == harness.Applying {
			words[p.name] = p.word
		}
	}
	return slices.DeleteFunc(places(), func(p place) bool {
		return p.alone != "" || p.state != harness.Applying && (p.state != harness.Installed || p.word == words[p.name])
	})
}

// takeOver kills the leader, sees the other replica at work, and starts a third
// to wait beside it.
func takeOver(ctx context.Context) {
	GinkgoHelper()
	complete()
	leader(ctx).Kill()
	freeLease()
	leader(ctx)
	complete()
}

// complete starts a replica for each that has ended, as a kubelet does for one
// that has lost its Lease while the API server was away.
func complete() {
	GinkgoHelper()
	started = slices.DeleteFunc(started, hasEnded)
	for len(started) < replicas.count {
		operate(harness.OperatorOptions{CacheDir: cacheDir, LeaderElect: replicas.elect})
	}
}

func hasEnded(o *harness.Operator) bool {
	select {
	case <-o.Exited():
		return true
	default:
		return false
	}
}

// replicas is how many operators startGood starts, and whether they take turns
// by the Lease.
var replicas = struct {
	count int
	elect bool
}{count: 1}

// lease is who leads.
func lease() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: "capstan-leader"}}
}

// freeLease lets the Lease of an operator that was killed run out at once, which
// takes 15 s otherwise.
func freeLease() {
	GinkgoHelper()
	holdLease(nil)
}

// stealLease makes somebody else the leader.
func stealLease() {
	GinkgoHelper()
	thief := "somebody-else"
	holdLease(&thief)
}

func holdLease(holder *string) {
	GinkgoHelper()
	eventually(context.Background(), "the Lease to be written", func(ctx context.Context) error {
		found := lease()
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
			return client.IgnoreNotFound(err)
		}
		now := metav1.NewMicroTime(time.Now())
		found.Spec.HolderIdentity, found.Spec.RenewTime = holder, &now
		return env.Client.Update(ctx, found)
	})
}

// leader is the replica that works.
func leader(ctx context.Context) (found *harness.Operator) {
	GinkgoHelper()
	eventually(ctx, "a replica to lead", func(ctx context.Context) error {
		for _, replica := range started {
			if !hasEnded(replica) && works(replica)(ctx) == nil {
				found = replica
				return nil
			}
		}
		return errors.New("none does")
	})
	return found
}
