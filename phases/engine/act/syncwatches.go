package act

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/report"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// syncWatches starts the watches that are needed and stops the others. It says whether kinds are missing that can be found
// only by asking the API server again; for a kind whose CRD is in a watched revision it watches the CRD instead. It asks
// the API server once for the kinds that are missing, and once more when again says so. Until there is an answer, the one
// before it counts.
func (e *Engine) syncWatches(ctx context.Context, again bool) bool {
	missing := e.startWatches(ctx)
	e.cluster.Lock()
	if !missing {
		e.kinds = see.Kinds{} // a kind that is needed next may have come since
	}
	// What has just vanished may be announced for a while yet.
	known := e.kinds.Asked || len(e.kinds.Vanished) > 0
	e.cluster.Unlock()
	if !missing || known && !again {
		return missing
	}
	announced, err := e.cluster.Reader.Discover(ctx)
	if ctx.Err() != nil {
		return false
	}
	e.cluster.Lock()
	e.kinds.Asked, e.kinds.Err = true, err
	if err == nil {
		e.kinds = see.Kinds{Discovered: announced, Asked: true}
	}
	e.cluster.Unlock()
	missing = e.startWatches(ctx)
	e.cfg.Notify()
	return missing
}

func (e *Engine) startWatches(ctx context.Context) (missing bool) {
	e.cluster.Lock()
	defer e.cluster.Unlock()
	for at, w := range e.watches {
		if w.Gone {
			if e.kinds.Vanished == nil {
				e.kinds.Vanished = map[schema.GroupVersionKind]bool{}
			}
			e.kinds.Vanished[at.kind] = true
		}
		if w.Gone || w.Lacks || e.lacksContentLocked(at, w) {
			w.Cancel()
			delete(e.watches, at)
		}
	}
	e.listChecked = e.listNowLocked()
	needed := map[place]see.Resource{}
	for gvk, namespaces := range e.neededLocked() {
		r, served, wait := e.resolveLocked(gvk)
		if !served {
			missing = missing || !wait
			continue
		}
		for namespace := range namespaces {
			needed[placeOf(gvk, r, namespace)] = r
		}
	}
	for at, w := range e.watches {
		if _, still := needed[at]; !still {
			w.Cancel()
			delete(e.watches, at)
		}
	}
	for at, r := range needed {
		if e.watches[at] == nil {
			e.watches[at] = e.watchOf(at.kind, r)
			e.watches[at].Start(ctx, see.View{GVR: r.GVR, Namespace: at.namespace, Labels: e.us.Selector()})
		}
	}
	e.tendForeignWatchesLocked(ctx)
	e.tendRetainedWatchesLocked(ctx)
	e.tendEndpointWatchesLocked(ctx)
	e.tendUnmanagedWatchesLocked(ctx)
	e.tendCRDWatchLocked(ctx, missing)
	return missing
}

// watchOf is the watch of the managed objects of a kind, before it is started.
func (e *Engine) watchOf(gvk schema.GroupVersionKind, r see.Resource) *see.Watch {
	key := decide.Key{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}
	return &see.Watch{Cluster: e.cluster, GVK: gvk, Resource: r, Wants: e.wants(gvk), Changed: func(name types.NamespacedName) {
		key.Namespace, key.Name = name.Namespace, name.Name
		e.markDirtyLocked(key)
		if key.IsCRD() {
			e.crdChangedAt[key.Name] = e.cfg.Clock.Now()
			e.kick() // it says how a kind is served
		}
	}}
}

// neededLocked are the kinds of all watched revisions and of inventories, each in the namespaces where they have
// objects, though of inventories no more than listedPlacesAtMost; before the first revision is known, the kinds that nearly every one has, where revisions belong, so that
// looking at it need not wait.
func (e *Engine) neededLocked() decide.Places {
	needed := decide.Places{}
	if !e.hadPlans {
		for gvk := range see.CommonKinds {
			for _, namespace := range e.homesOf(gvk) {
				needed.Add(gvk, namespace)
			}
		}
	}
	for _, p := range e.plans {
		needed.AddAll(p.places)
	}
	e.addListedLocked(needed)
	return needed
}

// listedPlacesAtMost bounds the watches that inventories ask for and no watched revision. What older revisions had elsewhere
// is not watched: it is read when it is pruned.
const listedPlacesAtMost = 256

// addListedLocked adds where inventories have objects, the newest first.
func (e *Engine) addListedLocked(needed decide.Places) {
	room, more := listedPlacesAtMost, 0
	leftOut := map[inventory.Spot]bool{}
	for _, s := range slices.Backward(e.storedLocked()) {
		for _, spot := range s.Spots {
			switch {
			case needed[spot.Kind][spot.Namespace]:
			case room == 0:
				leftOut[spot] = true
			default:
				needed.Add(spot.Kind, spot.Namespace)
				room--
			}
		}
		more += s.MoreSpots
	}
	e.tellLeftOutLocked(listedPlacesAtMost-room, more+len(leftOut))
}

// tellLeftOutLocked tells once that inventories list objects in more places than are watched.
func (e *Engine) tellLeftOutLocked(watched, more int) {
	if more > 0 && !e.leftOut {
		e.cfg.Log.Info("Inventories list objects of more kinds and namespaces than are watched; the others are read when they are pruned",
			"namespace", e.cfg.Namespace, "labels", e.shelf.Place.Selector(), "watched", watched, "more", more)
	}
	e.leftOut = more > 0
}

// resolveLocked finds out how a kind is served. If it is not, wait says that a CRD of a watched revision defines it, so
// that watching the CRD is enough to know when it is.
func (e *Engine) resolveLocked(gvk schema.GroupVersionKind) (r see.Resource, served, wait bool) {
	if r, served = e.watchedAsLocked(gvk); served {
		return r, true, false
	}
	if e.kinds.Vanished[gvk] {
		return see.Resource{}, false, false
	}
	if crd := e.crdOfLocked(gvk.GroupKind()); crd != nil {
		seen := e.objectLocked(crd.Key)
		if seen == nil {
			return see.Resource{}, false, true
		}
		r, served = see.DefinedBy(seen.Tree(crd.Key.GVK()), gvk.Version)
		return r, served, !served
	}
	if r, served = see.Builtin[gvk]; !served {
		r, served = e.kinds.Discovered.Kinds[gvk]
	}
	return r, served, false
}

// crdOfLocked is the target of the CRD that defines a kind in any watched revision, nil if none does.
func (e *Engine) crdOfLocked(gk schema.GroupKind) *target {
	for _, p := range e.plans {
		if crd := p.crds[gk]; crd != nil && !e.leavesLocked(crd.Key.Name) {
			return crd
		}
	}
	return nil
}

// objectLocked is the seen copy of an object, nil if there is none. The cluster's lock is held.
func (e *Engine) objectLocked(key decide.Key) *see.Object {
	if w := e.watchLocked(key); w != nil {
		if o := w.Objects[key.NamespacedName()]; o != nil && !o.Bare {
			return o
		}
	}
	return nil
}

// observation is what is known of an object's place in the cluster, without asking.
type observation struct {
	object       *see.Object // nil: not there
	resource     see.Resource
	readFirst    bool          // the object is in the way, and it is time to read whether it still is
	unwatched    bool          // the object is in the way, and no watch shows whether it still is
	older        bool          // seen from a revision that is not the desired one
	reachable    decide.Probe  // of a webhook configuration: whether anybody serves for the Services that it names
	definition   definition    // of a requirement: the CRD that it is about
	current      bool          // its revision is the one that is installed
	left         string        // who asks to leave it as it is, and until when; empty if nobody does
	adopts       types.UID     // of the object that an administrator lets it adopt, empty for none
	ahead        int64         // the number on the object, if nobody knows a revision of it and it is above all known ones
	unobservable decide.Action // Unknown, Pending, Progressed or Failed: why nothing can be said of the object, empty if something can
	why          string
	err          error
}

// observeLocked looks for an object in what the watches have shown. The cluster's lock is held.
func (e *Engine) observeLocked(key decide.Key) observation {
	if w := e.watchLocked(key); w != nil && !w.Gone {
		switch {
		case w.Seen():
			s := observation{object: w.Objects[key.NamespacedName()], resource: w.Resource}
			if s.object != nil && s.object.Bare { // nobody wanted it when it was seen: the watch begins anew
				return observation{unobservable: decide.Unknown, why: "not seen yet"}
			}
			if o := e.foreignWatches[key.Identity()]; o != nil && s.object == nil {
				s.object, s.readFirst, s.unwatched = o.Objects[key.NamespacedName()], o.due(e.cfg.Clock.Now()), !o.Seen()
			}
			return s
		case w.Err != nil:
			return observation{unobservable: decide.Unknown, why: "its kind cannot be watched", err: fmt.Errorf("watching %s: %w", w.Resource.GVR.Resource, w.Err)}
		}
		return observation{unobservable: decide.Unknown, why: "not seen yet"}
	}
	if crd := e.crdOfLocked(key.GVK().GroupKind()); crd != nil {
		if w := e.watchLocked(crd.Key); w == nil || !w.Seen() {
			return observation{unobservable: decide.Unknown, why: "its CRD is not seen yet"}
		}
		why := "its CRD " + crd.Key.Name + " is not established"
		if seen := e.objectLocked(crd.Key); seen != nil && decide.Condition(seen.Probed(crd.Manifest), "Established").Answer == decide.AnswerTrue {
			why = "its CRD " + crd.Key.Name + " does not serve version " + key.Version
		}
		return observation{unobservable: decide.Pending, why: why}
	}
	_, announced := e.kinds.Discovered.Kinds[key.GVK()]
	if _, always := see.Builtin[key.GVK()]; always {
		announced = true
	}
	switch {
	case e.kinds.Err != nil:
		return observation{unobservable: decide.Unknown, why: "its kind is not known", err: e.kinds.Err}
	case !e.kinds.Vanished[key.GVK()] && (announced || !e.kinds.Asked):
		return observation{unobservable: decide.Unknown, why: "not seen yet"}
	}
	err := &report.NoKindError{GroupVersion: key.GVK().GroupVersion().String(), Kind: key.Kind, Why: "no CRD in the cluster or in this revision defines it; install one, and it goes on by itself"}
	return observation{unobservable: decide.Failed, why: err.Error(), err: err}
}
