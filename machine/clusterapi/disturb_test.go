package clusterapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/clusterapi/simulated"
)

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

var releases = []string{"one", "two", "three"}

// disturb changes a few things about the world, and lets time go by.
func (w *walk) disturb() {
	for range w.random.IntN(3) {
		disturbance := one(w.random,
			w.disturbInputs, w.disturbInputs, w.disturbImages, w.disturbStatus, w.disturbEngine, w.disturbObject, w.disturbObject, w.disturbObject,
			w.disturbAccess, w.disturbRecord, w.disturbProcess, w.disturbActions)
		w.note("disturbed: %s", disturbance())
	}
	sleep := w.sleep()
	w.Advance(sleep)
	if sleep != 0 {
		w.note("slept %s", sleep)
	}
}

// sleep is often so long as to end right before, at or after a deadline.
func (w *walk) sleep() time.Duration {
	r := w.random
	if deadline := w.saved.Deadline; deadline != nil && r.IntN(4) == 0 {
		return deadline.At.Sub(w.Now()) + one(r, -time.Second, 0, time.Second)
	}
	return one(r, 0, 0, 0, time.Millisecond, time.Second, time.Second, 5*time.Second, 30*time.Second, 2*time.Minute, patience, time.Hour, -time.Minute, -time.Hour)
}

func (w *walk) disturbInputs() string {
	r := w.random
	switch r.IntN(18) {
	case 13, 15, 16, 17: // few of them are followed
		lasts := one(r, 0, 0, time.Minute, time.Hour, 30*24*time.Hour)
		number := max(1, w.Desired()-one[int64](r, -1, 0, 1, 1, 1, 2, 2))
		w.Pin(number, w.Now().Add(one(r, 0, 0, 0, 0, 0, 0, -5*time.Minute, -time.Hour, time.Hour)), lasts)
		return fmt.Sprintf("pin to revision %d for %s", number, lasts)
	case 14:
		if r.IntN(3) == 0 {
			w.Unpin()
			return "unpin"
		}
		return "nothing"
	case 11:
		w.Pause(w.Now().Add(one(r, 0, 0, 0, -time.Hour, time.Hour)), one(r, time.Second, time.Minute, time.Hour, 24*time.Hour))
		return "pause"
	case 12:
		w.Resume()
		return "resume"
	case 9:
		c := r.IntN(4)
		w.FormerInstaller(c == 0, c == 1)
		return "former installer"
	case 10:
		w.ListFor(one(r, "", simulated.Release, "4.22.6"))
		return "list of a release"
	case 0:
		if r.IntN(3) == 0 {
			w.DeleteClusterAPI()
			return "ClusterAPI deleted"
		}
		w.CreateClusterAPI()
		return "ClusterAPI created"
	case 1:
		known := r.IntN(4) > 0
		w.SetPlatform(known)
		return one(r, "platform")
	case 2:
		w.ListByTag()
		return "listed by tag"
	case 3:
		w.TouchSpec()
		return "spec touched"
	case 4:
		if r.IntN(2) == 0 {
			w.Unmanage("widgets.example.com")
		} else {
			w.Unmanage()
		}
		return "unmanaged changed"
	case 5:
		w.Annotate(phases.RetryAnnotation, w.Now().String())
		return "retry"
	case 6:
		w.ConsentToDelete()
		return "consent"
	}
	release := one(r, releases...)
	w.List(release)
	return "listed " + release
}

func (w *walk) disturbImages() string {
	r, release := w.random, one(w.random, releases...)
	switch r.IntN(4) {
	case 0:
		w.Images.Fetching(release)
		return release + " is being fetched"
	case 1:
		w.Images.Failing(release, one(r, "core", "aws"), "connection refused", r.IntN(3) == 0)
		return release + " cannot be fetched"
	}
	w.Images.Arrived(release)
	return release + " arrived"
}

func (w *walk) disturbStatus() string {
	r := w.random
	switch r.IntN(10) {
	case 0, 1:
		w.ClearCurrent()
		return "current cleared"
	case 2, 3:
		release, number := one(r, releases...), max(1, w.Desired()-r.Int64N(3))
		w.Enlist(release, number, r.IntN(3) == 0)
		return "older listed: " + release
	case 4:
		release := one(r, releases...)
		one(r, w.Enlist, w.EnlistUnproven)(release, w.Desired()+1, r.IntN(3) == 0)
		return "newer listed: " + release
	case 5:
		w.MakeCurrent(max(1, w.Desired()-r.Int64N(3)))
		return "another made current"
	case 6:
		if r.IntN(3) == 0 {
			w.UnlistDesired()
			return "desired unlisted"
		}
		w.Unlist(1 + r.IntN(4))
		return "unlisted"
	case 7:
		if r.IntN(4) == 0 {
			w.Wipe()
			return "status wiped"
		}
	case 8:
		enlist := one(r, w.Enlist, w.EnlistUnproven)
		for w.Listed() > 0 && w.Listed() < guards.MaxRevisions {
			enlist(one(r, releases...), w.Desired()+1, false)
		}
		return "filled"
	}
	return "nothing"
}

func (w *walk) disturbEngine() string {
	switch w.random.IntN(8) {
	case 6:
		w.Engine.Define("widgets.example.com", one(w.random, simulated.Definition{Gone: true}, simulated.Definition{Unjudged: true}, simulated.Definition{Missing: "v1: spec.size is missing"}))
		return "a definition of others does not fit"
	case 7:
		w.Engine.Define("widgets.example.com", simulated.Definition{})
		w.Engine.Unserved(w.random.IntN(3) == 0)
		return "a definition of others fits"
	case 0:
		w.Engine.Unseen("nothing is watched yet")
		return "nothing is seen"
	case 1:
		w.Engine.Break("the API server is not reachable")
		return "engine broken"
	case 2:
		w.Engine.Steps(one(w.random, 0, 1, 3))
		return "other steps"
	case 3:
		if w.random.IntN(4) == 0 {
			w.Engine.LoseInventories()
			return "inventories lost"
		}
	}
	w.Engine.Unseen("")
	w.Engine.Break("")
	return "engine works"
}

func (w *walk) disturbObject() string {
	r, e, name := w.random, w.Engine, one(w.random, simulated.Widgets, simulated.Manager, simulated.Aws, "ConfigMap capi/settings")
	if names := e.Names(); len(names) > 0 && r.IntN(2) == 0 {
		name = one(r, names...)
	}
	switch r.IntN(13) {
	case 0:
		e.Drift(name)
		return name + " drifted"
	case 1:
		e.Remove(name)
		return name + " deleted"
	case 2, 3:
		e.Probe(name, "0/1 replicas available")
		return name + " does not work"
	case 4:
		e.Refuse(name, "its instances would lose data")
		return name + " is refused"
	case 5:
		e.Fail(name, "a quota is exceeded", r.IntN(4) == 0)
		return name + " fails"
	case 6:
		e.Contest(name, ".spec", "somebody")
		return name + " is contested"
	case 7, 8:
		e.Fill(name, int64(r.IntN(3)))
		return name + " holds other data"
	case 9:
		e.Bind(name, "example.com/backup")
		return name + " has a finalizer"
	case 10:
		e.Occupy("ConfigMap", "capi", one(r, "only-one", "only-two", "settings"), "field manager kubectl")
		return "somebody else's ConfigMap"
	}
	e.Probe(name, "")
	e.Refuse(name, "")
	e.Fail(name, "", false)
	e.Contest(name, "", "")
	e.Release(name)
	e.Vacate(name)
	return name + " is well"
}

func (w *walk) disturbAccess() string {
	fail := w.random.IntN(2) == 0
	switch w.random.IntN(5) {
	case 0:
		w.FailWrites(fail)
	case 1:
		w.FailSaves(fail)
	case 2:
		w.FailReads(fail && w.random.IntN(2) == 0)
	case 3:
		w.Freeze()
		return "caches lag"
	default:
		w.Thaw()
		return "caches do not lag"
	}
	return "access"
}

// disturbRecord loses the record, brings an old one back, or writes one that never was.
func (w *walk) disturbRecord() string {
	r := w.random
	switch r.IntN(6) {
	case 0:
		w.LoseRecord()
		return "record lost"
	case 1:
		if len(w.old) > 0 {
			w.Forge(one(r, w.old...))
			return "old record"
		}
	case 2:
		text, err := json.Marshal(w.forged())
		if err != nil {
			panic(err)
		}
		w.Forge(text)
		return "forged record " + string(text)
	case 3:
		if r.IntN(3) == 0 {
			w.LoseHistory()
			w.pins.forgot, w.pins.followed = true, ""
			return "history lost"
		}
	}
	return "nothing"
}

func (w *walk) forged() machine.Record {
	r := w.random
	state := func() machine.State { return one(r, table.Table.States...).Name }
	at := func() time.Time { return w.Now().Add(-one(r, 0, time.Minute, time.Hour, -time.Hour)) }
	record := machine.Record{
		State: state(), CameFrom: one(r, state(), state(), "", "Nowhere"), Since: at(), Progress: machine.Progress{Done: r.IntN(12), Since: at()},
		LastEvent: one(r, "", guards.GateLost, guards.FailureEstablished, guards.ProgressStalled, "RevisionApplied"),
		Entry:     machine.Entry{Inputs: one(r, "", "other", w.saved.Entry.Inputs), Done: r.IntN(12), Effect: one[machine.Event](r, "", "RevisionApplied", "OrphansGone")},
	}
	if r.IntN(3) == 0 {
		record.Failure = &machine.Failure{Message: "forged", Terminal: r.IntN(3) == 0, Since: at(), Part: one(r, "", table.RevisionController)}
	}
	if r.IntN(3) == 0 {
		record.Lasting = map[machine.Event]time.Time{guards.GateLost: at()}
	}
	return record
}

func (w *walk) disturbProcess() string {
	if w.random.IntN(2) == 0 {
		return "nothing"
	}
	w.start()
	return "restarted"
}

func (w *walk) disturbActions() string {
	name := one(w.random, "PlanRevision", "ApplyRevision", "PruneOrphans", "KeepApplied", "KeepCurrent", "RecordCurrent", "TrimRevisions")
	w.failing[name] = one(w.random, nil, nil, errors.New("may heal"), machine.Terminal(errors.New("terminal")))
	return name + " fails or not"
}
