package openshiftcontrolplane

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

// failed are facts in Failed, come from a state, with the inputs of then.
func failed(from machine.State, facts Facts, change func(*Facts)) Facts {
	facts.Then = Then{State: Failed, From: from, Inputs: Fingerprint(facts)}
	return with(facts, change)
}

// halfGone are facts in Failed, come from Clearing when so many of an attempt's objects were gone, and so many are now.
func halfGone(then, now int) Facts {
	clearing := with(booting, func(f *Facts) {
		f.Marks.Clearing, f.Then.State = "r", Clearing
		f.Attempt = Tally{Known: true, Done: then, Wanted: 9, Missing: []string{"x"}}
	})
	done, _ := Progress(clearing)
	return failed(Clearing, clearing, func(f *Facts) { f.Attempt.Done, f.Then.Done = now, done })
}

// byErrors are facts of a failure that errors have led to: those of the effect of a move, or of the work where it is empty.
func byErrors(f Facts, effect machine.Event) Facts {
	f.Then.Event, f.Then.Effect = FailureEstablished, effect
	return f
}

func TestGuards_of_a_failure(t *testing.T) {
	changed, came := guard{Ask: seen(inputChanged)}, guard{Ask: seen(awaitedCame)}
	same := func(*Facts) {}
	retry := func(value string) func(*Facts) { return func(f *Facts) { f.Object.Retry = value } }
	scratched := with(booting, retry("from-scratch-1"))
	check(t, map[string]answers{
		"inputs changed/no":                               {changed, failed(Bootstrapping, booting, same), machine.No, "new value"},
		"inputs changed/another digest":                   {changed, failed(Bootstrapping, booting, func(f *Facts) { f.Inputs.Digest = "d2" }), machine.Yes, "have changed"},
		"inputs changed/a retry":                          {changed, failed(Bootstrapping, booting, retry("1")), machine.Yes, "new value"},
		"inputs changed/the retry is taken off":           {changed, failed(Bootstrapping, scratched, retry("")), machine.Yes, ""},
		"inputs changed/inputs that cannot be read":       {changed, failed(Bootstrapping, booting, func(f *Facts) { f.Inputs = Inputs{} }), machine.No, ""},
		"inputs changed/inputs that could not":            {changed, failed(Bootstrapping, with(booting, func(f *Facts) { f.Inputs = Inputs{} }), func(f *Facts) { f.Inputs = booting.Inputs }), machine.No, ""},
		"inputs changed/nobody remembers":                 {changed, booting, machine.Unknown, ""},
		"ScratchIsAsked/no":                               {ScratchIsAsked, failed(Bootstrapping, booting, same), machine.No, ""},
		"ScratchIsAsked/another try is not":               {ScratchIsAsked, failed(Bootstrapping, booting, retry("1")), machine.No, ""},
		"ScratchIsAsked/yes":                              {ScratchIsAsked, failed(Bootstrapping, booting, retry("from-scratch")), machine.Yes, ""},
		"ScratchIsAsked/again":                            {ScratchIsAsked, failed(Bootstrapping, scratched, retry("from-scratch-2")), machine.Yes, ""},
		"ScratchIsAsked/it was before":                    {ScratchIsAsked, failed(Bootstrapping, scratched, same), machine.No, "before this failure, and is not done for it"},
		"ScratchIsAsked/it is under way":                  {ScratchIsAsked, failed(Clearing, scratched, func(f *Facts) { f.Marks.Clearing = "x" }), machine.No, "is under way"},
		"ScratchIsAsked/a long one that differs":          {ScratchIsAsked, failed(Bootstrapping, with(booting, retry(FromScratch+strings.Repeat("x", 5000))), retry(FromScratch+strings.Repeat("x", 5001))), machine.Yes, ""},
		"ScratchIsAsked/refused once finished":            {ScratchIsAsked, failed(Bootstrapping, booting, func(f *Facts) { f.Object.Retry, f.Marks.Finished = FromScratch, true }), machine.No, "refused"},
		"ScratchIsAsked/nobody remembers":                 {ScratchIsAsked, scratched, machine.Unknown, ""},
		"what was awaited/infrastructure":                 {came, failed(AwaitingInfrastructure, waiting, same), machine.Yes, "provisioned"},
		"what was awaited/no infrastructure yet":          {came, failed(AwaitingInfrastructure, waiting, func(f *Facts) { f.Cluster.Port = 0 }), machine.No, "port 0"},
		"what was awaited/inputs":                         {came, failed(ResolvingInputs, waiting, same), machine.Yes, ""},
		"what was awaited/the API":                        {came, failed(AwaitingAPI, with(booting, func(f *Facts) { f.Marks.Initialized = false }), same), machine.Yes, "answers"},
		"what was awaited/no API yet":                     {came, failed(AwaitingAPI, waiting, same), machine.Unknown, ""},
		"what was awaited/the guest does without":         {came, failed(Bootstrapping, alone, same), machine.Yes, ""},
		"what was awaited/the guest does not yet":         {came, failed(Bootstrapping, booting, same), machine.No, ""},
		"what was awaited/the marks say more":             {came, failed(Bootstrapping, booting, func(f *Facts) { f.Marks.Finished = true }), machine.Yes, "finished"},
		"what was awaited/of a state that waits for none": {came, failed(Pending, waiting, same), machine.Unknown, ""},
		"what was awaited/the attempt is gone":            {came, failed(Clearing, with(waiting, func(f *Facts) { f.Attempt = three }), same), machine.Yes, ""},
		"CauseIsGone/an input":                            {CauseIsGone, failed(AwaitingAPI, waiting, retry("1")), machine.Yes, "new value"},
		"CauseIsGone/what was awaited":                    {CauseIsGone, failed(ResolvingInputs, waiting, same), machine.Yes, "valid"},
		"CauseIsGone/nobody knows":                        {CauseIsGone, failed(AwaitingAPI, waiting, same), machine.Unknown, ""},
		"CauseIsGone/nobody knows, after errors":          {CauseIsGone, byErrors(failed(AwaitingAPI, waiting, same), ""), machine.No, "retry"},
		"CauseIsGone/an effect met errors":                {CauseIsGone, byErrors(failed(ResolvingInputs, waiting, same), "InputsResolved"), machine.No, "InputsResolved met errors"},
		"CauseIsGone/an effect, and an input":             {CauseIsGone, byErrors(failed(ResolvingInputs, waiting, retry("1")), "InputsResolved"), machine.Yes, "new value"},
		"CauseIsGone/neither":                             {CauseIsGone, failed(AwaitingInfrastructure, waiting, func(f *Facts) { f.Cluster.Port = 0 }), machine.No, "port 0; the inputs"},
		"CauseIsGone/nobody remembers the inputs":         {CauseIsGone, with(waiting, func(f *Facts) { f.Then, f.Cluster.Port = Then{State: Failed, From: AwaitingInfrastructure}, 0 }), machine.Unknown, ""},
		"ErrorsLedHere/yes":                               {ErrorsLedHere, byErrors(failed(AwaitingAPI, waiting, same), ""), machine.Yes, ""},
		"ErrorsLedHere/something did not come":            {ErrorsLedHere, with(waiting, func(f *Facts) { f.Then.Event = ProgressStalled }), machine.No, ""},
		"ErrorsLedHere/nobody remembers":                  {ErrorsLedHere, waiting, machine.Unknown, ""},
		"AttemptIsGone/nobody looked":                     {AttemptIsGone, booting, machine.Unknown, ""},
		"AttemptIsGone/all of it":                         {AttemptIsGone, with(waiting, func(f *Facts) { f.Attempt = three }), machine.Yes, ""},
		"AttemptIsGone/but a mark":                        {AttemptIsGone, with(booting, func(f *Facts) { f.Attempt = three }), machine.No, "marks are not"},
		"AttemptIsGone/but what the status says":          {AttemptIsGone, with(waiting, func(f *Facts) { f.Attempt, f.Noted.Inputs = three, "d" }), machine.No, "marks are not"},
		"AttemptIsGone/some of it is left":                {AttemptIsGone, with(booting, func(f *Facts) { f.Attempt = some }), machine.No, "not x"},
		"ScratchIsAsked/and was served, of which the status knows nothing": {ScratchIsAsked, failed(Bootstrapping, booting, func(f *Facts) {
			f.Object.Retry, f.Object.Served = "from-scratch-1", Brief("from-scratch-1")
		}), machine.No, "done before"},
		"ScratchIsAsked/another one was served": {ScratchIsAsked, failed(Bootstrapping, booting, func(f *Facts) {
			f.Object.Retry, f.Object.Served = "from-scratch-2", Brief("from-scratch-1")
		}), machine.Yes, ""},
		"what was awaited/more of the attempt is gone":          {came, halfGone(1, 2), machine.Yes, "more"},
		"what was awaited/no more of the attempt is gone":       {came, halfGone(1, 1), machine.No, ""},
		"what was awaited/nobody knows what was gone":           {came, with(halfGone(1, 2), func(f *Facts) { f.Then.Done = 0 }), machine.No, ""},
		"CauseIsGone/more of the attempt is gone, after errors": {CauseIsGone, byErrors(halfGone(1, 2), ""), machine.Yes, "more"},
		"CauseIsGone/no more of it is gone, after errors":       {CauseIsGone, byErrors(halfGone(1, 1), ""), machine.No, "retry"},
		"AttemptIsGone/but the mark of its clearing":            {AttemptIsGone, with(waiting, func(f *Facts) { f.Attempt, f.Marks.Clearing = three, "r" }), machine.No, "marks are not"},
	})
}

func TestFingerprint_is_short_and_tells_retries_apart(t *testing.T) {
	long := Fingerprint(with(waiting, func(f *Facts) { f.Object.Retry = strings.Repeat("r", 1<<18) }))
	if len(long) > 200 || long == Fingerprint(waiting) {
		t.Errorf("a long retry gives %q", long)
	}
	if got := Fingerprint(Facts{}); got != "" {
		t.Errorf("an object that was not seen gives %q", got)
	}
}

// degraded are facts in Degraded, come from a state in which something was done that an installed cluster was asked for.
func degraded(from machine.State, facts Facts, change func(*Facts)) Facts {
	facts.Then = Then{State: from}
	facts.Then = Then{State: Degraded, From: from, Event: ProgressStalled, Inputs: Fingerprint(facts)}
	return with(facts, change)
}

func TestGuards_of_what_was_given_up(t *testing.T) {
	same := func(*Facts) {}
	upgrading := with(alone, func(f *Facts) { f.Upgrade = Wish{Known: true, Asked: "release 4.20.1"} })
	tagged := with(upgrading, func(f *Facts) { f.Upgrade.Given = "r:4.20" })
	check(t, map[string]answers{
		"IsGivenUp/an upgrade":                  {IsGivenUp, degraded(Upgrading, upgrading, same), machine.Yes, "release 4.20.1 was given up"},
		"IsGivenUp/another one is asked":        {IsGivenUp, degraded(Upgrading, upgrading, func(f *Facts) { f.Upgrade.Asked = "release 4.20.2" }), machine.No, ""},
		"IsGivenUp/the tag stands for another":  {IsGivenUp, degraded(Upgrading, tagged, func(f *Facts) { f.Upgrade.Asked = "release 4.20.2" }), machine.Yes, "release 4.20.2 was given up"},
		"IsGivenUp/nobody knows the release":    {IsGivenUp, degraded(Upgrading, tagged, func(f *Facts) { f.Upgrade.Asked, f.Upgrade.Unasked = "release r:4.20", "down" }), machine.Yes, "release r:4.20"},
		"IsGivenUp/another tag":                 {IsGivenUp, degraded(Upgrading, tagged, func(f *Facts) { f.Upgrade.Given = "r:4.21" }), machine.No, ""},
		"IsGivenUp/a record that names it":      {IsGivenUp, degraded(Upgrading, upgrading, func(f *Facts) { f.Upgrade.Given = "r:4.20" }), machine.Yes, "release 4.20.1 was given up"},
		"IsGivenUp/the guest could not be read": {IsGivenUp, degraded(Upgrading, with(alone, func(f *Facts) { f.Upgrade = Wish{Given: "r:4.20"} }), func(f *Facts) { f.Upgrade = tagged.Upgrade }), machine.Yes, "release 4.20.1 was given up"},
		"IsGivenUp/none is asked":               {IsGivenUp, degraded(Upgrading, upgrading, func(f *Facts) { f.Upgrade.Asked = "" }), machine.No, ""},
		"IsGivenUp/another try":                 {IsGivenUp, degraded(Upgrading, upgrading, func(f *Facts) { f.Object.Retry = "1" }), machine.No, ""},
		"IsGivenUp/nobody knows":                {IsGivenUp, degraded(Upgrading, upgrading, func(f *Facts) { f.Upgrade = Wish{} }), machine.Unknown, ""},
		"IsGivenUp/the inputs do not matter":    {IsGivenUp, degraded(Upgrading, upgrading, func(f *Facts) { f.Inputs.Digest = "d2" }), machine.Yes, ""},
		"IsGivenUp/nothing was begun":           {IsGivenUp, degraded(Settling, upgrading, same), machine.No, ""},
		"IsGivenUp/a change of machines":        {IsGivenUp, degraded(Scaling, with(alone, func(f *Facts) { f.Scaling = Wish{Known: true, Asked: "five"} }), same), machine.Yes, "five"},
		"IsGivenUp/nobody remembers":            {IsGivenUp, alone, machine.Unknown, ""},
	})
}
