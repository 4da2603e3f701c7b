package act

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// object foresees what becomes of one object of the revision.
func (f *foresight) object(ctx context.Context, t *target) *report.Foreseen {
	o := &report.Foreseen{Key: t.Key, Component: t.Component, How: report.Computed}
	f.p.mu.Lock()
	s, c, stamp := t.observation, t.decision, t.stampLocked()
	f.p.mu.Unlock()
	if o.Resource = s.resource.GVR; s.isLeft() {
		f.left(o, t, s, c)
		return o
	}
	switch s.unobservable {
	case "":
	case decide.Progressed:
		o.Outlook, o.Why = report.WouldLeave, s.why
		return o
	case decide.Pending:
		o.Outlook, o.How, o.Why = report.WouldCreate, report.Later, f.laterBecause(t, s.why)
		o.After = t.Desired(t.Stamp).Payload
		if plural, known := f.p.resourceNamed(t.Key.GVK().GroupKind()); known {
			o.Resource = t.Key.GVK().GroupVersion().WithResource(plural)
		}
		return o
	default:
		return f.unobservable(o, t, s)
	}
	j := &job{t: t, resource: s.resource, seen: c.from, readFirst: c.from == nil, stamp: stamp, verdict: c.Verdict}
	if waits := f.namespaceComes(t); waits != "" {
		o.Outlook, o.How, o.Why = report.WouldCreate, report.Later, waits
		return o
	}
	if c.Verdict.Action == decide.Progressed && s.ahead > 0 {
		told := f.e.unexplained(&report.Object{Key: t.Key, Component: t.Component}, s, f.p.rev.Number)
		o.Outlook, o.Why, o.Err = report.WouldRefuse, told.Why, told.Err
		return o
	}
	if o.Outlook = settledOutlook(c.Verdict); c.from != nil && o.Outlook != "" {
		o.Why = c.Why
		return o
	}
	f.try(ctx, o, j)
	return o
}

// left tells of an object that is left alone: its wave waits unless it is as wanted, or its revision is installed.
func (f *foresight) left(o *report.Foreseen, t *target, s observation, c *decision) {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	told := &report.Object{Key: t.Key, Component: t.Component}
	if s.unobservable != "" {
		leave(told, s, s.why)
	} else {
		told = f.e.lookAtLeftLocked(told, t, c)
		if c.from != nil {
			o.Before = c.from.Tree(t.Key.GVK())
		}
	}
	o.Outlook, o.Why, o.LeftAlone = report.WouldLeave, told.Why, true
	if !told.Applied() {
		o.StuckBy, o.Stuck = report.StuckLeft, told.Why
	}
}

// unobservable tells of an object of which nothing is known, by why that is so.
func (f *foresight) unobservable(o *report.Foreseen, t *target, s observation) *report.Foreseen {
	var noKind *report.NoKindError
	switch {
	case errors.As(s.err, &noKind):
		o.Outlook, o.Err, o.Why = report.WouldDeny, &report.ObjectError{Key: t.Key, Component: t.Component, Verb: "creating", Err: s.err}, noKind.Error()
	case s.err != nil:
		o.Outlook, o.How, o.Why = f.unseenOutlook(t), report.Unseen, s.err.Error()
	default:
		o.Outlook, o.How, o.Why = f.unseenOutlook(t), report.Unseen, s.why
	}
	return o
}

// unseenOutlook is what becomes of an object that may not be read, by the inventories: one that is listed is there.
func (f *foresight) unseenOutlook(t *target) report.Outlook {
	f.e.cluster.Lock()
	defer f.e.cluster.Unlock()
	if f.e.listedLocked()[t.Key.Identity()] {
		return report.WouldChange
	}
	return report.WouldCreate
}

// settledOutlook is that of a decision after which nothing is written; empty for another.
func settledOutlook(v decide.Verdict) report.Outlook {
	switch v.Action {
	case decide.Collision:
		return report.WouldCollide
	case decide.Refused:
		return report.WouldRefuse
	case decide.Terminating:
		return report.WouldWait
	case decide.Progressed, decide.Idle:
		return report.WouldLeave
	}
	if v.Deferrable() {
		return report.WouldLeave
	}
	return ""
}

// try asks the API server what it would say, where it may be asked, and tells what would come of the object.
func (f *foresight) try(ctx context.Context, o *report.Foreseen, j *job) {
	as, verb := dryRun, "patch"
	if j.seen == nil {
		verb = "create"
	}
	j.foreseen.whole = !j.verdict.OnlyNumber
	if !f.mayTry(ctx, verb, j.t.Key, j.resource.GVR) {
		as, o.Why = judged, "you may not "+verb+" "+resourceOf(j.resource)+", not even as a dry run"
	}
	err := f.attempt(ctx, j, as)
	if webhook := withoutDryRun(err); webhook != "" {
		as, o.Why = judged, webhook+" does not support dry runs"
		j.foreseen = foreseen{}
		err = f.attempt(ctx, j, as)
	}
	if as == dryRun && notAnswered(err) {
		o.StuckBy, o.Stuck = report.StuckUnanswered, "it was tried, and not answered: "+err.Error()
		as, j.foreseen = judged, foreseen{}
		err = f.attempt(ctx, j, as)
	}
	if as == dryRun {
		o.How = report.Tried
	}
	defer j.forget()
	if err != nil {
		f.failed(o, j, err)
		return
	}
	if o.Outlook = settledOutlook(j.verdict); o.Outlook != "" {
		o.How, o.Why = report.Computed, j.verdict.Why
		o.Before = j.actual
		return
	}
	if o.Why == "" {
		o.Why = j.verdict.Why
	}
	f.wouldWrite(ctx, o, j)
}

// wouldWrite tells what a write would make of an object.
func (f *foresight) wouldWrite(ctx context.Context, o *report.Foreseen, j *job) {
	want := f.desired(j)
	switch o.Before = j.actual; {
	case j.verdict.Action == decide.Created:
		o.Outlook, o.Why, o.After = report.WouldCreate, "", want.Payload
		return
	case j.verdict.OnlyNumber:
		o.Outlook, o.After = report.WouldMark, j.actual
		return
	case len(j.foreseen.replaced) > 0:
		f.wouldReplace(ctx, o, j, want)
		return
	case j.foreseen.answer != nil:
		o.After = j.foreseen.answer.Tree(j.t.Key.GVK())
		if j.verdict.Migrate {
			decide.Shed(want, j.actual, o.After, f.e.us)
		}
	default:
		o.After = decide.Foretold(want, j.actual, f.e.us)
	}
	if o.Changes = decide.Changes(o.Before, o.After, f.e.us); len(o.Changes) == 0 {
		o.Outlook = report.WouldMark
		return
	}
	o.Outlook = report.WouldChange
	f.judgeBySchema(o, j)
}

// wouldReplace tells of an object that would be deleted and created again.
func (f *foresight) wouldReplace(ctx context.Context, o *report.Foreseen, j *job, want decide.Desired) {
	o.Outlook, o.After, o.Why = report.WouldReplace, want.Payload, strings.Join(j.foreseen.replaced, " and ")+" cannot be changed"
	o.Changes = decide.Changes(o.Before, decide.Foretold(want, j.actual, f.e.us), f.e.us)
	if !decide.DeletesClaims(j.actual) {
		return
	}
	switch claims, err := f.e.claimsOf(ctx, j.actual); {
	case err != nil:
		o.How, o.Why = report.Unseen, "its volume claims may not be listed: "+err.Error()
	case claims.What != "":
		err := &report.ImmutableError{Fields: j.foreseen.replaced, Err: errors.New("fields are immutable"), Holds: claims.What}
		o.Outlook, o.Holds, o.Why = report.WouldRefuse, claims.What, err.Error()
	}
}

// failed tells of an object that was refused, or of which it cannot be told.
func (f *foresight) failed(o *report.Foreseen, j *job, err error) {
	o.Before = j.actual
	failed := &report.ObjectError{Key: j.t.Key, Component: j.t.Component, Verb: "updating", Err: err}
	if j.seen == nil {
		failed.Verb = "creating"
	}
	later := func(format string, args ...any) {
		o.Outlook, o.How, o.Why = report.WouldChange, report.Later, fmt.Sprintf(format, args...)
		if j.seen == nil {
			o.Outlook = report.WouldCreate
		}
	}
	switch judged := f.refusedByComing(err); {
	case isReading(err), notAnswered(err):
		o.Outlook, o.How, o.Why = f.unseenOutlook(j.t), report.Unseen, err.Error()
		return
	case report.IsSchemaRefusal(err) && f.schemaComes(j.t) > 0:
		later("its schema comes in wave %d", f.schemaComes(j.t))
		return
	case j.t.bound != nil && f.comes(j.t.bound.Key):
		later("%s comes in wave %d", j.t.bound.Key, f.p.waves[j.t.bound.wave].number)
		return
	case judged != "":
		later("%s", judged)
		return
	}
	o.Outlook, o.Err, o.Why = report.WouldDeny, failed, failed.Error()
	if fixed := (*report.ImmutableError)(nil); errors.As(err, &fixed) {
		o.Changes = decide.Changes(o.Before, decide.Foretold(f.desired(j), j.actual, f.e.us), f.e.us)
	}
}

// notDryRun is how an API server refuses a dry run that a webhook may have side effects in.
// Source: k8s.io/apiserver/pkg/admission/plugin/webhook/errors, NewDryRunUnsupportedErr.
var notDryRun = regexp.MustCompile(`admission webhook "([^"]{1,253})" does not support dry run`)

// withoutDryRun names the webhook because of which a dry run was refused; empty if that is not why.
func withoutDryRun(err error) string {
	if err == nil || !apierrors.IsBadRequest(err) {
		return ""
	}
	if found := notDryRun.FindStringSubmatch(err.Error()); found != nil {
		return "webhook " + found[1]
	}
	return ""
}

// notAnswered says that nobody has said no: whoever is asked again may say something else.
func notAnswered(err error) bool {
	if err == nil {
		return false
	}
	switch (&report.ObjectError{Err: err}).Reason() {
	case report.ReasonBusy, report.ReasonConflict, report.ReasonOther:
		return true
	}
	return false
}

// isReading says that nothing was refused but to read what there is.
func isReading(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "cannot list resource") || strings.Contains(text, "cannot get resource")
}
