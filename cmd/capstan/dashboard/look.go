package dashboard

import (
	"cmp"
	"fmt"

	"github.com/capstan-capi/capstan/controllers/clusterapi"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
)

// maxLook is how much that needs a look is told at once.
const maxLook = 200

// alarming tells of a machine that somebody should look at.
func alarming(m Machine) []Look {
	switch {
	case m.Attention != AttentionLook && m.Failure == nil:
		return nil
	case m.Failure != nil:
		return []Look{{Object: "machine " + m.Machine, Trouble: TroubleMachine, Why: fmt.Sprintf("%s: its work fails: %s", m.State, m.Failure.Message)}}
	}
	return []Look{{Object: "machine " + m.Machine, Trouble: TroubleMachine, Why: fmt.Sprintf("%s: %s", m.State, cmp.Or(m.Waits, m.Meaning))}}
}

// awaiting tells of a revision that awaits consent, empty for none.
func awaiting(revision string, as shell) []Look {
	if revision == "" {
		return nil
	}
	return []Look{{
		Object: "revision " + revision, Trouble: TroubleConsent, Why: "it would uninstall something, and is not listed without consent",
		Next: "see what would end; if that is meant, consent", Command: as.uninstall(),
	}}
}

// looksAt is what a status has that somebody should look at: what stops the operator, what is not as it should be, and what is left
// over, in this order, which is that of `capstan status`.
func looksAt(s clusterapi.Status, as shell) []Look {
	var all []Look
	for _, c := range s.Collisions {
		all = append(all, as.collision(c))
	}
	for _, r := range s.Refused {
		all = append(all, Look{Object: r.Object, Trouble: TroubleRefused, Why: r.Why})
	}
	for _, c := range s.Contested {
		all = append(all, Look{Object: c.Object, Trouble: TroubleContested, Why: c.String()})
	}
	for _, i := range s.Images {
		if i.State == "Failed" {
			all = append(all, Look{Object: "image " + cmp.Or(i.Component, i.Reference), Trouble: TroubleImage, Why: cmp.Or(i.Message, i.Reference+" is not to be had")})
		}
	}
	for _, text := range s.Differs {
		all = append(all, Look{Trouble: TroubleDiffers, Why: text})
	}
	if more := s.DiffersCount - len(s.Differs); more > 0 {
		all = append(all, Look{Trouble: TroubleDiffers, Why: fmt.Sprintf("%d more that are not named", more)})
	}
	for _, l := range s.LeftAlone {
		if l.Nowhere || l.Differs != "" || l.Probe != "" {
			all = append(all, Look{Object: l.Object, Trouble: TroubleAlone, Why: l.String()})
		}
	}
	for _, text := range s.Findings {
		all = append(all, Look{Trouble: TroubleFinding, Why: text})
	}
	for _, r := range s.Retained {
		all = append(all, as.retained(r))
	}
	return append(all, strays(s)...)
}

func (s shell) collision(c guards.Collision) Look {
	l := Look{Object: c.Object, Trouble: TroubleCollision, Why: "it belongs to " + cmp.Or(c.Holder, "nobody that says so"), Next: c.WayOut}
	if c.Adoptable {
		l.Next, l.Command = "look at what adopting it would change, and say why it is adopted", s.adopt(c)
	}
	return l
}

// retained tells what an object holds, and why a consent to lose that does not count.
func (s shell) retained(r guards.RetainedObject) Look {
	why := cmp.Or(r.Why, "it is kept for the data in it")
	if r.Void != "" {
		why += "; " + r.Void
	}
	return Look{Object: r.Object, Trouble: TroubleRetained, Why: why, Next: "see what would be lost with it", Command: s.about("capstan consent")}
}

func strays(s clusterapi.Status) []Look {
	var all []Look
	more := s.StrayCount - len(s.Strays)
	for _, object := range s.Strays {
		all = append(all, Look{Object: object, Trouble: TroubleStray, Why: "it is marked as this operator's, and known to no revision"})
	}
	for _, counted := range s.StraysElsewhere {
		more -= counted.Count
		all = append(all, Look{Trouble: TroubleStray, Why: counted.String() + ", not named, because they are in namespaces of others"})
	}
	if more > 0 {
		all = append(all, Look{Trouble: TroubleStray, Why: fmt.Sprintf("%d more that are not named", more)})
	}
	return all
}
