package act

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// recreate deletes exactly the object that was decided on, if its manifest allows that and it is ours, so that it can be
// created again: at once, or in a later pass if the deletion takes time. After a crash in between, the next process finds
// it gone, or being deleted, and creates it.
func (r *run) recreate(ctx context.Context, j *job, fields []string, apiErr error, as effect) (again bool, err error) {
	if !j.t.Recreate || decide.ClaimOf(j.actual, r.e.us).Owner != "" {
		return false, &report.ImmutableError{Fields: fields, Err: apiErr}
	}
	if address := j.t.StrangeAddress(j.actual); address != "" {
		return false, &report.ImmutableError{Fields: fields, Err: apiErr, Address: address}
	}
	if err := r.tryAnew(ctx, j); err != nil {
		return false, fmt.Errorf("trying to create it again, without which it is not deleted, because %s cannot be changed: %w", strings.Join(fields, " and "), err)
	}
	if as == dryRun {
		j.foreseen.replaced = fields
		return false, nil
	}
	if decide.DeletesClaims(j.actual) {
		claims, err := r.e.claimsOf(ctx, j.actual)
		switch {
		case err != nil:
			return false, fmt.Errorf("looking for its volume claims: %w", err)
		case claims.What != "":
			return false, &report.ImmutableError{Fields: fields, Err: apiErr, Holds: claims.What}
		}
	}
	how := propagation(j.t.Key)
	err = r.client(j).Delete(ctx, j.t.Key.Name, metav1.DeleteOptions{
		Preconditions: exactly(j.actual), PropagationPolicy: &how,
	})
	switch {
	case err == nil:
		j.recreated = "was deleted, because " + strings.Join(fields, " and ") + " cannot be changed"
		r.e.cfg.Log.Info("Deleted an object to create it again", "object", j.t.Key.String(), "uid", j.actual.GetUID(), "fields", fields)
	case apierrors.IsNotFound(err):
		err = nil
	case !apierrors.IsConflict(err):
		return false, fmt.Errorf("deleting it, because %s cannot be changed: %w", strings.Join(fields, " and "), err)
	}
	if failed := r.read(ctx, j); failed != nil {
		return false, failed
	}
	return true, err
}

// tryAnew asks the API server whether it would create the object that is to take the place of one that cannot be changed:
// it lets admission see the very object, and answers that there is one already only when nobody else refuses it.
func (r *run) tryAnew(ctx context.Context, j *job) error {
	_, err := r.e.post(ctx, j.resource, j.t.Key, j.t.Trial(j.stamp, j.actual), r.createOptions(dryRun))
	if report.OnlyTaken(err, func(counted string) int64 { return decide.Frees(j.actual, j.resource.GVR.GroupResource(), counted) }) {
		return nil
	}
	return err
}

// leftToDesired are the objects that a revision does not create although they are absent: the desired revision has deleted
// them to create them again, and nobody else may do so in between.
func (e *Engine) leftToDesired(p *plan) map[decide.Key]bool {
	e.cluster.Lock()
	desired := e.plans[e.desired]
	e.cluster.Unlock()
	if desired == nil || desired.rev.Number <= p.rev.Number || !desired.recreates() {
		return nil
	}
	report := e.lookPlan(desired)
	left, reached := map[decide.Key]bool{}, reachedWave(report)
	for i, w := range report.Waves {
		for _, t := range desired.waves[i].targets {
			left[t.Key.Identity()] = t.Recreate && !w.Failed()
		}
		if !w.Complete() && i >= reached {
			break
		}
	}
	return left
}

func (p *plan) recreates() bool {
	for _, t := range p.targets {
		if t.Recreate {
			return true
		}
	}
	return false
}
