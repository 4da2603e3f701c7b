package act

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// loss is an object that was asked to go with its data, by a consent.
type loss struct {
	uid   types.UID // empty for none
	going bool      // it was seen to go, or gone
}

// wentByConsent says of what is going or gone that it was asked to go by a consent, and not by somebody else. What is there, and
// does not go, was not.
func (r *prunePass) wentByConsent(o report.Orphan) bool {
	_, lost := r.keep.pruneMemory.of(o.Key)
	if lost.uid == "" || o.Action == decide.Failed { // nobody knows whether it goes
		return lost.going
	}
	goes := o.Action == decide.Deleted || o.Action == decide.Terminating || o.Action == decide.Absent
	if lost.going = goes && (o.UID == lost.uid || o.UID == ""); !lost.going {
		lost.uid = ""
	}
	r.keep.pruneMemory.lose(o.Key, lost)
	return lost.going
}

// remember takes up what another process may have asked to go by a consent.
func (r *prunePass) remember(lost map[decide.Key]types.UID) {
	for key, uid := range lost {
		if _, known := r.keep.pruneMemory.of(key); known.uid == "" {
			r.keep.pruneMemory.lose(key, loss{uid: uid})
		}
	}
}

// byConsent says that an object which is deleted goes with what it holds, to the loss of which somebody consented.
func byConsent(c *inventory.Candidate) bool { return c.Contents != nil && c.Contents.What != "" }

// consentTo is the consent to lose an object with its data, if they have not been taken back in this pass.
func (r *prunePass) consentTo(key decide.Key) (consent decide.Consent, is bool) {
	if !r.takenBack.Load() {
		consent, is = r.consents[key.Identity()]
	}
	return consent, is
}

// mayLose says of an object that is to be deleted that no consent is needed for that, or that it stands still.
func (r *prunePass) mayLose(c *inventory.Candidate) (bool, error) {
	if r.stands == nil || !byConsent(c) {
		return true, nil
	}
	stands, err := r.stands()
	if err == nil && !stands {
		r.takenBack.Store(true)
	}
	return stands, err
}

// isRefusal says that the API server did not do what it was asked; after other errors it may have.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code >= http.StatusBadRequest && status.Status().Code < http.StatusInternalServerError &&
		!apierrors.IsTimeout(err)
}

// withData removes from the entries the CRDs that are deleted with their instances by consent, or are going already: what has begun
// by a consent goes on when that is taken back. They go before everything else: the API server deletes the instances, and the
// controllers that their finalizers wait for have to run until the last one is gone. One that cannot be read is among them only if a
// consent is for it, or it was asked to go by an earlier one: it waits, and without that it would not go with data, so that nothing has
// to wait for it before its turn.
func (r *prunePass) withData(ctx context.Context, entries []inventory.Candidate) (first, rest []inventory.Candidate) {
	for _, c := range entries {
		if c.Key.IsCRD() && r.hasData(ctx, c) {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return first, rest
}

func (r *prunePass) hasData(ctx context.Context, c inventory.Candidate) bool {
	_, consented := r.consentTo(c.Key)
	_, lost := r.keep.pruneMemory.of(c.Key)
	if consented = consented || lost.uid != ""; !consented && len(r.consents) == 0 && !r.isSeenGoing(c.Key) {
		return false
	}
	client, served, err := r.client(ctx, c.Key)
	if err != nil || !served {
		return err != nil && consented
	}
	if c.Actual, err = client.Get(ctx, c.Key.Name, metav1.GetOptions{}); err != nil {
		return consented && !apierrors.IsNotFound(err)
	}
	c.Served = true
	decided, err := r.decide(ctx, &c)
	if err != nil {
		return consented
	}
	return decided.Action == decide.Terminating || byConsent(&c)
}

// isSeenGoing says that the watches show an object that is being deleted.
func (r *prunePass) isSeenGoing(key decide.Key) bool {
	actual, _ := r.e.seen(key)
	return actual != nil && actual.GetDeletionTimestamp() != nil
}
