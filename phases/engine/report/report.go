package report

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// Object is where one object of a revision stands.
type Object struct {
	Key       decide.Key
	Component string
	Wave      int // counts from 1
	Action    decide.Action
	Why       string // empty for Idle objects
	Owner     string // of a Collision: who has the object
	Probe     decide.Probe
	Err       error            // of the last attempt to write it
	Conflict  *decide.Conflict // nil: not contested

	Left  *Left  // nil: it is not left alone
	Taken *Taken // of a Collision: what is there; nil for another action

	Older   bool // seen from a revision that is not the desired one
	Claimed bool // this revision has written it

	// Ahead is the number that this installation wrote on the object, if it is higher than the newest revision's and no
	// inventory tells of it; else 0.
	Ahead int64
}

// Taken is the object that somebody else has in the place of one of the revision.
type Taken struct {
	UID       types.UID
	Adoptable bool            // it has no controller and is of no other installation
	Changes   []decide.Change // what adopting it would change
}

// Left tells of an object that people ask to leave as it is.
type Left struct {
	Asked     string // who asks, and until when
	Differs   string // how it is not as desired, the number apart; empty if it is
	Installed bool   // its revision is the one that is installed
}

// Applied says that the object is there as desired, or in the hands of a newer revision, or left alone in the revision that is
// installed.
func (o *Object) Applied() bool {
	switch o.Action {
	case decide.Created, decide.Updated, decide.Recovered, decide.Idle, decide.Progressed, decide.Contested:
		return true
	case decide.LeftAlone:
		return o.Left.Installed || o.Left.Differs == ""
	}
	return false
}

// Complete says that the object is applied and its probe passes. In an older revision an object that a newer one has
// taken over is complete: it is not the older one's business any more. One that is left alone in the revision that is installed is no
// lost gate, whatever its probe says.
func (o *Object) Complete() bool {
	return o.Applied() && (o.Probe.Answer == decide.AnswerTrue || o.Older && o.Action == decide.Progressed || o.Left != nil && o.Left.Installed)
}

// Wave is where one wave of a revision stands.
type Wave struct {
	Number    int // counts from 1
	Name      string
	Component string
	Objects   []*Object
}

// Complete says that every object of the wave is.
func (w *Wave) Complete() bool {
	return !slices.ContainsFunc(w.Objects, func(o *Object) bool { return !o.Complete() })
}

// Report is where a revision stands: its waves in order, the objects of each in the order of the manifest.
type Report struct {
	Revision string
	Number   int64
	Waves    []*Wave
	Fault    error  // of the revision as a whole
	Wait     string // why nothing is known of the revision as a whole yet

	best Best
	sum  sum
}

// Best is how far a revision ever was in this process.
type Best struct{ applied, complete int }

// sum counts objects, so that asking a report costs nothing however many there are.
type sum struct {
	counted                                 bool
	total, applied, complete, unseen, ahead int
}

func (s *sum) count(o *Object, by int) {
	if o == nil {
		return
	}
	s.total += by
	if o.Applied() {
		s.applied += by
	}
	if o.Complete() {
		s.complete += by
	}
	if o.Action == decide.Unknown {
		s.unseen += by
	}
	if o.Ahead > 0 {
		s.ahead += by
	}
}

// sums counts the objects of a report that was not counted while it was made: by another implementation, or in a test.
func (r *Report) sums() sum {
	if r.sum.counted {
		return r.sum
	}
	var s sum
	for o := range r.Objects {
		s.count(o, +1)
	}
	return s
}

// Objects yields all objects in order of waves.
func (r *Report) Objects(yield func(*Object) bool) {
	for _, w := range r.Waves {
		for _, o := range w.Objects {
			if !yield(o) {
				return
			}
		}
	}
}

// Complete says that every object is applied and every probe passes. A revision without objects is complete.
func (r *Report) Complete() bool { return r.Fault == nil && r.Wait == "" && r.Done() == r.Total() }

// Applied says that every object is applied, whatever the probes say.
func (r *Report) Applied() bool {
	return r.Fault == nil && r.Wait == "" && r.sums().applied == r.Total()
}

// Unknown says that something was not seen yet, so that the rest of the report may change by mere looking.
func (r *Report) Unknown() bool {
	return r.Wait != "" || r.sums().unseen > 0
}

// Done counts the complete objects.
func (r *Report) Done() int { return r.sums().complete }

// Total counts all objects.
func (r *Report) Total() int { return r.sums().total }

// Wave is the number of the first wave that is not complete; the last one when all are, 0 when there are none.
func (r *Report) Wave() int {
	for _, w := range r.Waves {
		if !w.Complete() {
			return w.Number
		}
	}
	return len(r.Waves)
}

// Progress is a token that changes only when more objects are applied or pass their probes than ever before in this
// process: drift that comes and goes, or a crash loop, is not progress.
func (r *Report) Progress() string {
	return fmt.Sprintf("%d applied, %d ready of %d", r.best.applied, r.best.complete, r.Total())
}

// Ahead is the highest number that an object has and nobody knows a revision of; 0 if there is none, or as long as the
// inventories are not seen.
func (r *Report) Ahead() int64 {
	var highest int64
	if r.Wait != "" || r.sums().ahead == 0 {
		return 0
	}
	for o := range r.Objects {
		highest = max(highest, o.Ahead)
	}
	return highest
}

// Collisions are the objects that exist and belong to somebody else.
func (r *Report) Collisions() []*Object { return r.those(decide.Collision) }

// Refused are the CRDs that are not updated, because instances would lose data; Why names them. They are looked at again
// when the CRD changes, and otherwise no sooner than after 30 seconds.
func (r *Report) Refused() []*Object { return r.those(decide.Refused) }

// LeftAlone are the objects that people ask to leave as they are.
func (r *Report) LeftAlone() []*Object { return r.those(decide.LeftAlone) }

// Contested are the objects that somebody else keeps writing, also those that are right at the moment. When their time
// has come, Config.Notify is called.
func (r *Report) Contested() []*Object {
	var out []*Object
	for o := range r.Objects {
		if o.Conflict != nil {
			out = append(out, o)
		}
	}
	return out
}

// WithFindings are the objects that are complete and of which their API server, or a controller of it, has something to say all
// the same; the message of the probe says what.
func (r *Report) WithFindings() []*Object {
	var out []*Object
	for o := range r.Objects {
		if o.Probe.Answer == decide.AnswerTrue && o.Probe.Message != "" {
			out = append(out, o)
		}
	}
	return out
}

func (r *Report) those(action decide.Action) []*Object {
	var out []*Object
	for o := range r.Objects {
		if o.Action == action {
			out = append(out, o)
		}
	}
	return out
}

// Err joins what went wrong, for the revision and for each object; collisions and waiting are not errors.
func (r *Report) Err() error {
	var errs []error
	if r.Fault != nil {
		errs = append(errs, r.Fault)
	}
	for o := range r.Objects {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	return joined(errs)
}

// Failed says that something in the wave was refused, which may keep the whole of it from being written.
func (w *Wave) Failed() bool {
	for _, o := range w.Objects {
		if o.Err != nil {
			return true
		}
	}
	return false
}

// Edit is a report in the making: the last one with some of its objects replaced. The last one stays as it is.
type Edit struct {
	report *Report
	copied []bool // waves that are not shared with the last report
}

// NewEdit begins a report from the last one, nil for none; blank has the same waves without objects.
func NewEdit(blank, last *Report) *Edit {
	blank.sum.counted = true
	if last != nil {
		blank.Waves, blank.sum = slices.Clone(last.Waves), last.sum
	}
	return &Edit{report: blank, copied: make([]bool, len(blank.Waves))}
}

// Replace puts an object into its place in a wave.
func (e *Edit) Replace(wave, place int, o *Object) {
	if !e.copied[wave] {
		w := *e.report.Waves[wave]
		w.Objects = slices.Clone(w.Objects)
		e.report.Waves[wave], e.copied[wave] = &w, true
	}
	objects := e.report.Waves[wave].Objects
	e.report.sum.count(objects[place], -1)
	e.report.sum.count(o, +1)
	objects[place] = o
}

// Done ends the edit, and notes what is best.
func (e *Edit) Done(best *Best) *Report {
	best.applied = max(best.applied, e.report.sum.applied)
	best.complete = max(best.complete, e.report.sum.complete)
	e.report.best = *best
	return e.report
}
