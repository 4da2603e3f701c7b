package hosted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// expectation is what the condition of a HostedCluster is to say once the operator has seen an act. What is empty is not asked for.
type expectation struct {
	key machine.Key
	// says has to be in its message, unsaid must not be any more, and left is a state that it has to have left.
	says, unsaid string
	left         machine.State
	// refused is what it says where the operator will not do what it is asked for.
	refused string
}

// telling are the states in which the operator tells why a HostedCluster has not its turn.
var telling = []machine.State{guards.Eligible, guards.Private}

// expect is what the operator will say of a HostedCluster once it sees other facts; none if that is what it says already, or what it
// says is not about its turn.
func expect(h Hosted, then guards.Facts) []expectation {
	if !h.Told || !slices.Contains(telling, h.Said.State) || h.Facts.Marks.Locked() {
		return nil
	}
	before, after := guards.TurnIsOurs.Answer(h.Facts), guards.TurnIsOurs.Answer(then)
	switch {
	case before.Reason == after.Reason:
		return nil
	case after.Truth == machine.No:
		return []expectation{{key: h.Key(), says: after.Reason}}
	case before.Truth == machine.No && strings.Contains(h.Said.Reason, before.Reason):
		return []expectation{{key: h.Key(), unsaid: before.Reason}}
	}
	return nil
}

// expecting is the plan with what the operator will say of one HostedCluster.
func (p Plan) expecting(h Hosted, then guards.Facts) Plan {
	p.expects = expect(h, then)
	return p.unheard(h)
}

// unheard says why the operator has nothing to say, where it has not.
func (p Plan) unheard(h Hosted) Plan {
	switch {
	case len(p.expects) > 0:
	case !h.Told:
		p.Unheard = untold
	case h.Facts.Marks.Locked():
		p.Unheard = "a move of it is under way, and this counts once that has ended"
	default:
		p.Unheard = fmt.Sprintf("it is %s, in which the operator has nothing to say of this", h.Said.State)
	}
	return p
}

// heard says whether the operator has seen the act; an error is why it will not do what it is asked for.
func (p Plan) heard(all []Hosted) (bool, error) {
	for _, e := range p.expects {
		i := slices.IndexFunc(all, func(h Hosted) bool { return h.Key() == e.key })
		if i < 0 {
			continue // it is gone, and nothing more will be said of it
		}
		said := all[i].Said
		if e.refused != "" && strings.Contains(said.Reason, e.refused) {
			return false, &inspect.Error{What: "the operator will not do it: " + said.Reason, Next: "take it back with " + p.Undo}
		}
		switch {
		case e.says != "" && !strings.Contains(said.Reason, e.says) && !all[i].Facts.Marks.Locked(),
			e.unsaid != "" && strings.Contains(said.Reason, e.unsaid),
			e.left != "" && said.State == e.left:
			return false, nil
		}
	}
	return true, nil
}
