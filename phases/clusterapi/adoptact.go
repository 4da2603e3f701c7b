package clusterapi

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
)

// void says why an act that is well formed does not count, empty if it does, and whether it has ended.
func (p *Pass) void(act acts.Act, now time.Time) (why string, ended bool) {
	newest := int64(0)
	if desired := p.world.desiredEntry(); desired != nil {
		newest = desired.Revision
	}
	if act.Name == acts.ConsentToUninstall {
		return p.spent(act, newest, now)
	}
	if why = act.Void(now); why != "" {
		return why, act.Ended(now)
	}
	switch act.Name {
	case acts.Adopt, acts.ConsentToDelete:
	default:
		return "", false
	}
	if of := act.Revision(); of != newest {
		return fmt.Sprintf("it is for revision %d, and the newest is %d", of, newest), true
	}
	if act.Name == acts.ConsentToDelete {
		return "", false
	}
	for _, o := range act.Objects() {
		if why := p.wayOut(o); why != "" {
			return o.String() + " is not adopted: " + why, false
		}
	}
	return "", false
}

// wayOut says what to do about an object that may not be adopted because of what and where it is; empty for one that may.
func (p *Phases) wayOut(o acts.Object) string {
	switch {
	case keyOf(o).IsCRD():
		return "a definition of somebody else is left to its owner: list it in spec.unmanagedCustomResourceDefinitions of ClusterAPI " + Singleton
	case p.Contents != nil && !p.Contents.MayAdopt(o.Group+"/"+o.Kind, o.Namespace, o.Name):
		return "only what is in the providers' namespaces, and these Namespaces, may be adopted: have its owner rename or remove it"
	}
	return ""
}

// adopts are the objects that the newest revision may adopt because an administrator says so, with their UIDs.
func (p *Pass) adopts() (uids map[engine.Key]types.UID, revision int64) {
	act := p.standing(acts.Adopt)
	if act == nil {
		return nil, 0
	}
	uids = map[engine.Key]types.UID{}
	for _, o := range act.Objects() {
		uids[keyOf(o)] = types.UID(o.Rest[0])
	}
	return uids, act.Revision()
}

// judgeAdoption says of collisions whether an administrator could let them be adopted, or else what to do.
func (p *Pass) judgeAdoption(collisions []guards.Collision) {
	for i := range collisions {
		c := &collisions[i]
		switch object, err := acts.Named(c.Named()); {
		case err != nil:
			c.Adoptable = false
		case p.wayOut(object) != "":
			c.Adoptable, c.WayOut = false, p.wayOut(object)
		case !c.Adoptable && c.UID != "":
			c.WayOut = "it belongs to " + c.Holder + ": have that let go of it, or remove it"
		}
	}
}
