package openshiftcontrolplane

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/capstan-capi/capstan/machine"
)

// FromScratch is what the value of annotation capstan.openshift.io/retry begins with that asks for all to be cleared away.
const FromScratch = "from-scratch"

// notRead stands for inputs in a fingerprint that were not read.
const notRead = "-"

// Fingerprint is what people can change to heal a failure: the inputs, the value that asks for another try, and what an installed cluster
// is asked for in the present state. It is empty while the object was not seen.
func Fingerprint(f Facts) string {
	if !f.Seen {
		return ""
	}
	digest := notRead
	if f.Inputs.Known && f.Inputs.Digest != "" {
		digest = f.Inputs.Digest
	}
	return strings.Join([]string{digest, Brief(f.Object.Retry), Brief(f.wish(f.Then.State).id())}, " ")
}

// Brief tells texts apart, however long they are.
func Brief(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:8])
}

// split are the parts of a fingerprint.
func split(fingerprint string) (digest, retry, asked string) {
	digest, rest, _ := strings.Cut(fingerprint, " ")
	retry, asked, _ = strings.Cut(rest, " ")
	return digest, retry, asked
}

// AsksForScratch says that people want all to be cleared away, by a value that was not served yet.
func (o Object) AsksForScratch() bool {
	return strings.HasPrefix(o.Retry, FromScratch) && Brief(o.Retry) != o.Served
}

// inputChanged says whether people have changed something since the present state was entered. Inputs that could not be read then or now
// say nothing.
func inputChanged(f Facts) machine.Answer {
	digest, retry, _ := split(f.Then.Inputs)
	now, asked, _ := split(Fingerprint(f))
	switch {
	case f.Then.Inputs == "":
		return machine.SayUnknown("it is not known what the inputs were")
	case asked != retry:
		return machine.SayYes("annotation capstan.openshift.io/retry has a new value")
	case digest != notRead && now != notRead && digest != now:
		return machine.SayYes("the inputs have changed")
	}
	return machine.SayNo("the inputs are what they were; another try is asked for by a new value of annotation capstan.openshift.io/retry")
}

// ScratchIsAsked asks whether people want the attempt cleared away. A finished bootstrap is never cleared away.
var ScratchIsAsked = guard{
	Name: "ScratchIsAsked",
	Doc:  "Annotation capstan.openshift.io/retry has a new value since the state was entered that begins with from-scratch, and the bootstrap is not finished.",
	Ask: seen(func(f Facts) machine.Answer {
		_, retry, _ := split(f.Then.Inputs)
		switch {
		case !strings.HasPrefix(f.Object.Retry, FromScratch):
			return machine.SayNo("")
		case f.Then.Inputs == "":
			return machine.SayUnknown("it is not known whether from-scratch was asked for before")
		case !f.Object.AsksForScratch():
			return machine.SayNo("from-scratch was asked for and done before")
		case Brief(f.Object.Retry) == retry && f.Reached().Clears():
			return machine.SayNo("from-scratch was asked for before, and is under way")
		case Brief(f.Object.Retry) == retry: // machines that came after it are not deleted by it
			return machine.SayNo("from-scratch was asked for before this failure, and is not done for it: give the annotation a new value")
		case f.Reached().Finished:
			return machine.SayNo("from-scratch is refused: the bootstrap is finished")
		}
		return machine.SayYes("from-scratch is asked for")
	}),
}

// awaited is what the states wait for that can fail.
var awaited = map[machine.State]guard{
	Locating:               OwnerIsSet,
	AwaitingInfrastructure: machine.All(InfrastructureIsReady, EndpointIsValid, HooksAreMet),
	ResolvingInputs:        InputsAreResolved,
	GeneratingIgnition:     PayloadStands,
	CreatingMachines:       MachinesAreProvisioned,
	AwaitingAPI:            machine.All(APIAnswers, GuestIsOurs),
	Bootstrapping:          machine.All(BootstrapIsComplete, NodesAreReady, EtcdIsAlone),
	Clearing:               ClearingGoesOn,
}

// ClearingGoesOn asks whether it is of use to go on with clearing an attempt away, where that has failed.
var ClearingGoesOn = guard{
	Name: "ClearingGoesOn",
	Doc:  "Something of the attempt has gone since Clearing was left, or all of it is gone.",
	Ask: seen(func(f Facts) machine.Answer {
		then := f
		then.Then.State = Clearing
		if done, known := Progress(then); known && f.Then.Done > 0 && done > f.Then.Done {
			return machine.SayYes("more of the attempt is gone")
		}
		return AttemptIsGone.Answer(f)
	}),
}

// CauseIsGone asks whether what has led to a failure is gone.
var CauseIsGone = guard{
	Name: "CauseIsGone",
	Doc:  "What the state waited for that has failed is there now, or the marks say that more was reached, or the inputs are others, or annotation capstan.openshift.io/retry has a new value. After errors, what was waited for has to be seen, and where it was there all along and the way on has met the errors, it says nothing.",
	Ask: seen(func(f Facts) machine.Answer {
		changed := inputChanged(f)
		if changed.Truth == machine.Yes {
			return changed
		}
		came := awaitedCame(f)
		if f.Then.Event == FailureEstablished && came.Truth == machine.Unknown {
			came.Truth = machine.No
		}
		if came.Truth == machine.No {
			came.Reason = joined(came.Reason, changed.Reason)
			came.Truth = changed.Truth // No, or Unknown where nobody remembers
		}
		return came
	}),
}

func joined(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}

func awaitedCame(f Facts) machine.Answer {
	if bounds, bound := allowed[f.Then.From]; bound && f.Reached().Stage() > bounds[1] {
		return machine.SayYes(f.Reached().Stage().String())
	}
	if f.Then.Effect != "" {
		return machine.SayNo("what it waited for is there, and " + string(f.Then.Effect) + " met errors")
	}
	if awaited, waits := awaited[f.Then.From]; waits {
		return awaited.Answer(f)
	}
	return machine.SayUnknown("it is not known what was waited for")
}

// ErrorsLedHere asks whether errors have led to a failure, which may be over without anybody noticing.
var ErrorsLedHere = guard{
	Name: "ErrorsLedHere",
	Doc:  "Errors have led to the state, and not that something did not come in time.",
	Ask: seen(func(f Facts) machine.Answer {
		switch f.Then.Event {
		case "":
			return machine.SayUnknown("it is not known what has led to the failure")
		case FailureEstablished:
			return machine.SayYes("errors have led here, which may be over")
		}
		return machine.SayNo("")
	}),
}

// AttemptIsGone asks whether nothing is left of what an attempt has made.
var AttemptIsGone = guard{
	Name: "AttemptIsGone",
	Doc:  "The machines, the payload, the certificates and the marks of the attempt are gone, and the status says nothing of them any more.",
	Ask: seen(func(f Facts) machine.Answer {
		answer := of(f.Attempt, "of the attempt's objects are gone")
		if marks := f.Reached(); answer.Truth == machine.Yes && (marks.Stage() != NoStage || marks.Clears()) {
			return machine.SayNo("the objects of the attempt are gone, and its marks are not")
		}
		return answer
	}),
}
