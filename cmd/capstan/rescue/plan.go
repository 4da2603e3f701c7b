// Package rescue helps a cluster out of a state that waits for a person: it makes
// room in a full list of revisions. It changes nothing that it cannot prove to be
// safe, and decides nothing for the machine.
package rescue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// Plan is what `capstan recover` would do or has done; its JSON is what -o json prints.
type Plan struct {
	Listed int `json:"listed"`
	Limit  int `json:"limit"`
	// Remove are the revisions to take off the list, Keep those that stay and why.
	Remove []Removal `json:"remove"`
	Keep   []Kept    `json:"keep"`
	// Pruned are the objects that only removed revisions list. They are deleted when a newer revision
	// that does not have them is installed.
	Pruned []Object `json:"pruned"`
	// Done says that they were taken off the list, Confirmed that the operator says so.
	Done      bool `json:"done"`
	Confirmed bool `json:"confirmed"`
	// Paused says who has paused the operator until when, empty if nobody has.
	Paused string `json:"paused,omitempty"`
}

// Removal is a revision that can be taken off the list.
type Removal struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
	Why    string `json:"why"`
	// Objects counts what its inventory lists, Shared how much of that a revision that stays lists too.
	Objects int    `json:"objects"`
	Shared  int    `json:"shared"`
	Proof   string `json:"proof"`
}

// The two ways to prove that no object is lost with a revision.
const (
	inventoryStays = "ConfigMap capstan-inventory-<number> lists what was applied and stays, and pruning works from that"
	neverApplied   = "nothing was ever applied: no inventory is stored, and no object carries the number"
)

// Kept is a revision that stays.
type Kept struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
	Why    string `json:"why"`
	// Unproven says that it could go but for the proof that is missing.
	Unproven bool `json:"unproven,omitempty"`
}

// Object is one that will be pruned, and the revisions that list it.
type Object struct {
	Object    string  `json:"object"`
	Revisions []int64 `json:"revisions"`
}

// Evidence is what was found of one revision number in the cluster.
type Evidence struct {
	// Inventory is nil if there is none, or, with Err, if it cannot be read.
	Inventory *engine.Listed
	Err       error
	// Carrying names objects that carry the number. It is only asked for without an inventory.
	Carrying []string
}

// plan decides which revisions can be taken off the list without an object
// being lost from sight. Pruning works from the stored inventories up to the
// revision that is installed, so what an inventory lists stays in sight as long
// as the inventory stays and a higher number stays listed.
func plan(status operatorv1alpha1.ClusterAPIStatus, evidence map[int64]Evidence) Plan {
	p := Plan{Listed: len(status.Revisions), Limit: guards.MaxRevisions, Remove: []Removal{}, Keep: []Kept{}, Pruned: []Object{}}
	listed := slices.Clone(status.Revisions)
	slices.SortFunc(listed, func(a, b operatorv1alpha1.ClusterAPIInstallerRevision) int {
		return cmp.Compare(a.Revision, b.Revision)
	})
	var current int64
	for _, r := range listed {
		if r.Name == status.CurrentRevision {
			current = r.Revision
		}
	}
	var going []operatorv1alpha1.ClusterAPIInstallerRevision
	for _, r := range listed {
		kept := Kept{Number: r.Revision, Name: string(r.Name)}
		switch found := evidence[r.Revision]; {
		case r.Revision == current:
			kept.Why = "it is installed"
		case r.Name == status.DesiredRevision:
			kept.Why = "it is the desired revision, which the API does not allow to be removed"
		default:
			kept.Why, kept.Unproven = doubt(r, found), true
			if kept.Why == "" {
				going = append(going, r)
				continue
			}
		}
		p.Keep = append(p.Keep, kept)
	}
	p.remove(going, current, evidence)
	return p
}

// doubt is why it cannot be proven that nothing is lost with a revision, empty if it can.
func doubt(r operatorv1alpha1.ClusterAPIInstallerRevision, found Evidence) string {
	switch {
	case found.Err != nil:
		return found.Err.Error() + "; restore it, or delete it: the revision is still listed, so the objects that carry its number are listed anew before anything is pruned"
	case found.Inventory == nil && len(found.Carrying) > 0:
		return fmt.Sprintf("it has no inventory, and %s: %s; with the operator running, wait until it has stored one",
			plural(len(found.Carrying), "object carries its number", "objects carry its number"), strings.Join(found.Carrying[:min(3, len(found.Carrying))], ", "))
	case found.Inventory != nil && found.Inventory.ContentID != r.ContentID:
		return fmt.Sprintf("its inventory is of content %s, and it is listed with %s", found.Inventory.ContentID, r.ContentID)
	}
	return ""
}

func (p *Plan) remove(going []operatorv1alpha1.ClusterAPIInstallerRevision, current int64, evidence map[int64]Evidence) {
	staying := map[string]bool{}
	for _, kept := range p.Keep {
		if inventory := evidence[kept.Number].Inventory; inventory != nil {
			for _, key := range inventory.Objects {
				staying[key.String()] = true
			}
		}
	}
	only := map[string][]int64{}
	for _, r := range going {
		removal := Removal{Number: r.Revision, Name: string(r.Name), Why: "it never completed"}
		if r.Revision < current {
			removal.Why = fmt.Sprintf("revision %d has taken its place", current)
		}
		removal.Proof = neverApplied
		if inventory := evidence[r.Revision].Inventory; inventory != nil {
			removal.Proof = inventoryStays
			for _, key := range slices.Concat(inventory.Objects, inventory.Retained) {
				removal.Objects++
				if staying[key.String()] {
					removal.Shared++
				} else {
					only[key.String()] = append(only[key.String()], r.Revision)
				}
			}
		}
		p.Remove = append(p.Remove, removal)
	}
	for object, numbers := range only {
		p.Pruned = append(p.Pruned, Object{Object: object, Revisions: numbers})
	}
	slices.SortFunc(p.Pruned, func(a, b Object) int { return cmp.Compare(a.Object, b.Object) })
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
