package privatecapi

import (
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

type guard = machine.Guard[Facts]

// seen answers Unknown before the first look, and says why where a look was not whole.
func seen(ask func(Facts) machine.Answer) func(Facts) machine.Answer {
	return func(f Facts) machine.Answer {
		if !f.Seen {
			return machine.SayUnknown("the HostedCluster has not been looked at yet")
		}
		answer := ask(f)
		if answer.Truth == machine.Unknown && f.Unseen != "" {
			return machine.SayUnknown(f.Unseen)
		}
		return answer
	}
}

// Deleting asks whether somebody wants the HostedCluster gone.
var Deleting = guard{
	Name: "Deleting",
	Doc:  "The HostedCluster has been asked to go.",
	Ask: seen(func(f Facts) machine.Answer {
		if f.Cluster.Deleting {
			return machine.SayYes(f.Cluster.String() + " is being deleted")
		}
		return machine.SayNo("")
	}),
}

// ChecksPassed asks whether nothing speaks against the move.
var ChecksPassed = guard{
	Name: "ChecksPassed",
	Doc:  "CRDs, versions, shim, rights and images are there, nothing is terminating, no copy is left, no webhook of Cluster API is served by what is drained, the namespace is no other HostedCluster's, no component is in the network of its host, no newer release has moved one, and what belongs to the objects can be listed.",
	Ask: seen(func(f Facts) machine.Answer {
		switch c := f.Checks; {
		case len(c.Refused) > 0:
			return machine.SayNo(list(c.Refused))
		case !c.Known:
			return machine.SayUnknown(f.Cluster.String() + " has not been checked yet")
		}
		return machine.SayYes("nothing speaks against moving " + f.Cluster.String())
	}),
}

func short(text string) string { return machine.Shorten(text, maxQuoted) }

// maxListed bounds what a reason lists, in bytes.
const maxListed = 512

func list(some []string) string { return machine.Shorten(strings.Join(some, "; "), maxListed) }
