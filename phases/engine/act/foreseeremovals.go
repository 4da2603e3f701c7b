package act

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/parallel"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/wire"
)

// removals foresees what becomes of what only older revisions have, in the order of removal. What may hold objects is looked
// into last: what goes before it is nobody's loss.
func (f *foresight) removals(ctx context.Context) {
	if !f.e.knowsInventories() {
		f.unseen("the inventories in namespace %s, which tell what only older revisions have", f.e.cfg.Namespace)
		return
	}
	f.e.cluster.Lock()
	candidates, err := f.e.orphansLocked(f.p)
	f.e.cluster.Unlock()
	if err != nil {
		f.unseen("what only older revisions have: %v", err)
	}
	pass := &prunePass{e: f.e, keep: f.p, onlyLook: true, going: map[decide.Key]bool{}, consents: f.opts.Consents}
	told := map[decide.Key]*report.Foreseen{}
	for _, holds := range []func(decide.Key) bool{
		func(k decide.Key) bool { return !k.IsCRD() && !k.IsNamespace() }, decide.Key.IsCRD, decide.Key.IsNamespace,
	} {
		var due []inventory.Candidate
		for _, c := range candidates {
			if holds(c.Key) {
				due = append(due, c)
			}
		}
		found := make([]*report.Foreseen, len(due))
		parallel.Each(f.e.cfg.Concurrency, due, func(i int, c inventory.Candidate) {
			found[i] = f.removal(ctx, pass, c)
			f.judgedLater(found[i], nil)
		})
		for _, o := range found {
			told[o.Key.Identity()] = o
			if o.Outlook == report.WouldRemove {
				pass.going[o.Key.Identity()] = true
			}
		}
	}
	for _, c := range candidates {
		f.told.Removals = append(f.told.Removals, told[c.Key.Identity()])
	}
}

func (f *foresight) removal(ctx context.Context, pass *prunePass, c inventory.Candidate) *report.Foreseen {
	o := &report.Foreseen{Key: c.Key, Component: c.Component, How: report.Computed}
	if served, known := pass.known(c.Key); known {
		o.Resource = served.GVR
	}
	looked := pass.handle(ctx, c)
	o.Why, o.UID, o.Created = looked.Why, looked.UID, looked.Created
	switch looked.Action {
	case decide.Pending:
		if o.Why, o.Outlook = "only older revisions have it", report.WouldRemove; looked.Would == decide.Orphaned {
			o.Why, o.Outlook = "is left to administrators from now on, without our marks", report.WouldMark
			return o
		}
		f.tryRemoval(ctx, pass, c, o)
	case decide.Retained:
		if o.Outlook = report.WouldRetain; strings.HasPrefix(looked.Why, holds) {
			o.Holds, o.Why = looked.Why[len(holds):], ""
		}
	case decide.Terminating:
		o.Outlook = report.WouldWait
	case decide.Failed:
		o.Outlook, o.How = report.WouldRemove, report.Unseen
	default:
		o.Outlook = report.WouldLeave
		if o.LeftAlone = looked.Action == decide.LeftAlone; o.Why == "" {
			o.Why = "is not there any more"
		}
	}
	return o
}

// holds begins what a decision to retain says of the data.
const holds = "holds "

// tryRemoval asks the API server whether it would delete an object.
func (f *foresight) tryRemoval(ctx context.Context, pass *prunePass, c inventory.Candidate, o *report.Foreseen) {
	if !f.mayTry(ctx, "delete", c.Key, o.Resource) {
		o.Why += "; you may not delete it, not even as a dry run"
		return
	}
	served, found, err := pass.resource(ctx, c.Key)
	if err != nil || !found {
		o.How, o.Why = report.Unseen, fmt.Sprintf("how its kind is served is not known: %v", err)
		return
	}
	how := propagation(c.Key)
	// Said in the address, it is in the audit log too.
	options := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}, PropagationPolicy: &how}
	err = f.e.cluster.Reader.Objects.Delete().AbsPath(append(wire.Path(served.GVR, c.Key.Namespace), c.Key.Name)...).
		SpecificallyVersionedParams(&options, wire.MetaParameters, wire.MetaVersion).Do(ctx).Error()
	switch webhook, judged := withoutDryRun(err), f.refusedByComing(err); {
	case webhook != "":
		o.Why += "; " + webhook + " does not support dry runs"
	case err == nil:
		o.How = report.Tried
	case apierrors.IsNotFound(err):
		o.Outlook, o.Why = report.WouldLeave, "is not there any more"
	case judged != "":
		o.How, o.Why = report.Later, judged
	case notAnswered(err):
		o.StuckBy, o.Stuck = report.StuckUnanswered, "its deletion was tried, and not answered: "+err.Error()
	default:
		o.How, o.Outlook = report.Tried, report.WouldDeny
		o.Err = &report.ObjectError{Key: c.Key, Component: c.Component, Verb: "deleting", Err: err}
		o.Why = o.Err.Error()
	}
}
