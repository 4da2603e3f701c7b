package capiworld

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// lastLines is how much of a log, and how many requests, are told.
const lastLines = 40

// Tell is what somebody would look at first when something went wrong: where every control plane stands, and what the provider did last.
func (w *World) Tell(ctx context.Context) string {
	var told strings.Builder
	planes, err := w.List(ctx, OpenShift.WithKind("OpenShiftControlPlane"), "")
	if err != nil {
		fmt.Fprintln(&told, err)
	}
	for i := range planes {
		s := standing(&planes[i])
		fmt.Fprintf(&told, "%s/%s: %s; it waits for %s; it meets %s\n", planes[i].GetNamespace(), planes[i].GetName(), s.State, s.Waits, s.Failure)
	}
	m := w.managers[Provider]
	if m == nil {
		return told.String()
	}
	requests, err := cluster.Requests(w.Cluster.AuditLog())
	if err != nil {
		fmt.Fprintln(&told, err)
	}
	writes := slices.DeleteFunc(requests.Writes(), func(r cluster.Request) bool { return r.User != m.User })
	fmt.Fprintf(&told, "The last of %d writes of the provider:\n%s\nThe end of %s:\n%s", len(writes), writes[max(0, len(writes)-lastLines):], m.Log, m.Tail(lastLines))
	return told.String()
}
