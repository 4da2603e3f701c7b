package hosted

import (
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// advice is what a reason of a move that was undone means, and what to look at.
type advice struct{ means, look string }

// adviceOf is that of each reason.
var adviceOf = map[guards.Reason]advice{
	guards.ScaleDownTimeout:         {"The source could not be paused, or a pod of its components did not go.", "pods in the namespace of the control plane, their finalizers and nodes"},
	guards.ResourceConversionFailed: {"A copy could not be made.", "the cause of the last moves: a webhook, a quota, a field that the other version refuses"},
	guards.StatusCopyFailed:         {"A status could not be copied.", "the cause of the last moves, and the operator's right on the status"},
	guards.WorkloadUpdateFailed:     {"Second owners or pod templates could not be written.", "policies on pod templates"},
	guards.ScaleUpTimeout:           {"The components did not become available on the copies.", "their pods: the image with the proxy, its resources, its logs"},
	guards.ProxyVerifyFailed:        {"Both sides were not equal, or a component could not read the target.", "the object and the field that the cause of the last moves names"},
	guards.HealthCheckTimeout:       {"The target did not do as well as the source did.", "the object that the cause of the last moves names"},
	guards.APIUnavailable:           {"The API server did not answer when a limit came.", "the management cluster"},
	guards.AmbiguousState:           {"Nobody knows any more why it was undone, or both sides have objects.", "whether the namespace of the control plane has objects of one side alone"},
	guards.Reverted:                 {"It was moved back because somebody asked for it; nothing is wrong.", "nothing"},
}

// adviceFor is that of a reason, which may be somebody else's.
func adviceFor(reason guards.Reason) advice {
	if known, is := adviceOf[reason]; is {
		return known
	}
	return advice{"It is none of the reasons of Capstan.", "who has set annotation " + guards.FailedAnnotation + ", which its managedFields say"}
}

// blocked is what people do in the states in which something stands in the way.
const blocked = "put right what it names, usually a right, a webhook or a policy; it is tried again by itself"

// neverCopied is where people read on who meet that.
const neverCopied = ". Of what was never copied, docs/private-capi-troubleshooting.md says more"

// nextIn is what people do in each state at rest.
var nextIn = map[machine.State]string{
	guards.Classifying:     "nothing, unless it lasts: then something cannot be read, which it names",
	guards.Eligible:        "nothing: it is moved when its turn comes",
	guards.Private:         "nothing: it has moved",
	guards.Held:            "find out who has set annotation " + guards.MigrationAnnotation + ", which its managedFields say; it is theirs to take it off",
	guards.Ambiguous:       "find out which side's objects count, by docs/private-capi-troubleshooting.md; delete no object with its finalizers on",
	guards.CommitBlocked:   blocked + ". Undo nothing by hand: it may be committed" + neverCopied,
	guards.CleanupBlocked:  blocked + neverCopied,
	guards.UnlockBlocked:   blocked,
	guards.RestoreBlocked:  blocked,
	guards.RollbackBlocked: blocked + ". Do not take the lock away, and delete no object" + neverCopied,
}

// onItsWay is what people do while a move is under way.
const onItsWay = "nothing: it goes on by itself. Begin no upgrade of the hosted cluster, and no change of its NodePools, before it has ended"

// next is what people do about a HostedCluster.
func (s Seen) next(h Hosted) string {
	m := h.Facts.Marks
	state, known := table.State(h.Said.State)
	switch {
	case !h.Told || !known:
		return "look that an operator runs, and has the flag --private-capi-image"
	case state.Name == guards.Failed && m.Failed == guards.Reverted:
		return "nothing; to have it moved to private types again: " + command("retry", h.Key())
	case state.Name == guards.Failed:
		return "look at " + adviceFor(m.Failed).look + "; then " + command("retry", h.Key())
	case h.Facts.Cluster.Deleting && state.Rest:
		return "nothing: what is being deleted is not moved"
	case (state.Name == guards.Eligible || state.Name == guards.Private && m.Revert) && (m.Paused || s.Programme.Paused):
		return "it is paused; to end that: " + s.resumes(h)
	case state.Name == guards.Private && m.Revert:
		return "nothing, unless it says what stands in the way; to take that back: " + command("revert --cancel", h.Key())
	case !state.Rest && nextIn[state.Name] == "":
		return onItsWay
	}
	return nextIn[state.Name]
}
