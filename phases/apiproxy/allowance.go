package apiproxy

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// readsLimit bounds the reads that are under way, each on a connection of its own to the API server.
	readsLimit = 64
	// writesLimit bounds the writes.
	writesLimit = 64
	// urgentLimit bounds requests for one Lease each, and reviews: who waits for one of them may lose its lead.
	urgentLimit = 16
)

// fewWrites is how many writes may be under way with a connection each. What is more shares one of HTTP/2, on which the server reads and
// answers several with one call of the kernel: on two cores 16 clients get more done by it, while a write alone takes longer.
const fewWrites = 1

// allowanceWait is how long a request to capi-proxy waits for others of its kind to end.
const allowanceWait = 30 * time.Second

// errCrowded ends the wait.
var errCrowded = errors.New("other requests have not ended in time")

// allowance bounds how many requests of one kind are under way. Those that wait are served in their order.
type allowance struct {
	free     *semaphore.Weighted
	limit    int64
	underWay *atomic.Int64
	// few is how many may each have a connection for themselves.
	few int64
}

func newAllowance(limit, few int64) allowance {
	return allowance{semaphore.NewWeighted(limit), limit, new(atomic.Int64), few}
}

// allowances are one for each kind of document, so that none keeps another from the server.
type allowances struct {
	reads, writes, urgent allowance
	wait                  time.Duration
}

func newAllowances() *allowances {
	return &allowances{newAllowance(readsLimit, readsLimit), newAllowance(writesLimit, fewWrites), newAllowance(urgentLimit, urgentLimit), allowanceWait}
}

// of is the allowance of a request, and what is bounded by it.
func (a *allowances) of(x *exchange, r *http.Request) (of allowance, what string) {
	switch {
	case isUrgent(x, r):
		return a.urgent, "requests for Leases and reviews"
	case r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions:
		return a.reads, "reads"
	}
	return a.writes, "writes"
}

// isUrgent says that a request is for one Lease, or a review, and is there as a whole: one that comes slowly must not keep the others
// waiting, and neither must a list.
func isUrgent(x *exchange, r *http.Request) bool {
	if info := x.request.Info; info.IsResourceRequest && isHeld(r) {
		switch info.APIGroup {
		case "coordination.k8s.io":
			return slices.Contains([]string{"get", "create", "update", "patch"}, info.Verb)
		case "authentication.k8s.io", "authorization.k8s.io":
			return true
		}
	}
	return false
}

// isHeld says that nothing of a request is still to come.
func isHeld(r *http.Request) bool { return r.GetBody != nil || r.Body == nil || r.Body == http.NoBody }

// await waits until a request may be sent, and has that given back when it has ended.
func (a *allowances) await(ctx context.Context, x *exchange, r *http.Request) error {
	of, what := a.of(x, r)
	if !of.free.TryAcquire(1) {
		began := time.Now()
		defer x.waited(began)
		waiting, end := context.WithTimeoutCause(ctx, a.wait, errCrowded)
		defer end()
		if err := of.free.Acquire(waiting, 1); err != nil {
			if !errors.Is(context.Cause(waiting), errCrowded) {
				return err
			}
			refused := refuse(http.StatusTooManyRequests, "%d %s are under way, and none has ended within %s: nothing was sent; ask for less at a time, or try again", of.limit, what, a.wait)
			refused.after = 1
			return refused
		}
	}
	x.crowded = of.underWay.Add(1) > of.few && isHeld(r)
	x.allowed = func() {
		of.underWay.Add(-1)
		of.free.Release(1)
	}
	return nil
}
