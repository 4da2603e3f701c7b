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

// left are facts in Failed, come from Clearing when so many of an attempt's objects were gone, and so many are now.
func left(then, now int) Facts {
	clearing := with(booting, func(f *Facts) {
		f.Marks.Clearing, f.Then.State = "r", Clearing
		f.Attempt = Tally{Known: true, Done: then, Wanted: 9, Missing: []string{"x"}}
	})
	done, _ := Progress(clearing)
	return failed(Clearing, clearing, func(f *Facts) { f.Attempt.Done, f.Then.Done = now, done })
}

func TestGuards_of_a_failure(t *testing.T) {
	same := func(*Facts) {}
	retry := func(value string) func(*Facts) { return func(f *Facts) { f.Object.Retry = value } }
	scratched := with(booting, retry("from-scratch-1"))
	check(t, map[string]answers{
		"InputChanged/no":                            {InputChanged, failed(Bootstrapping, booting, same), machine.No, "new value"},
		"InputChanged/another digest":                {InputChanged, failed(Bootstrapping, booting, func(f *Facts) { f.Inputs.Digest = "d2" }), machine.Yes, "have changed"},
		"InputChanged/a retry":                       {InputChanged, failed(Bootstrapping, booting, retry("1")), machine.Yes, "new value"},
		"InputChanged/the retry is taken off":        {InputChanged, failed(Bootstrapping, scratched, retry("")), machine.Yes, ""},
		"InputChanged/inputs that cannot be read":    {InputChanged, failed(Bootstrapping, booting, func(f *Facts) { f.Inputs = Inputs{} }), machine.No, ""},
		"InputChanged/inputs that could not":         {InputChanged, failed(Bootstrapping, with(booting, func(f *Facts) { f.Inputs = Inputs{} }), func(f *Facts) { f.Inputs = booting.Inputs }), machine.No, ""},
		"InputChanged/nobody remembers":              {InputChanged, booting, machine.Unknown, ""},
		"ScratchIsAsked/no":                          {ScratchIsAsked, failed(Bootstrapping, booting, same), machine.No, ""},
		"ScratchIsAsked/another try is not":          {ScratchIsAsked, failed(Bootstrapping, booting, retry("1")), machine.No, ""},
		"ScratchIsAsked/yes":                         {ScratchIsAsked, failed(Bootstrapping, booting, retry("from-scratch")), machine.Yes, ""},
		"ScratchIsAsked/again":                       {ScratchIsAsked, failed(Bootstrapping, scratched, retry("from-scratch-2")), machine.Yes, ""},
		"ScratchIsAsked/it was before":               {ScratchIsAsked, failed(Bootstrapping, scratched, same), machine.No, "before"},
		"ScratchIsAsked/a long one that differs":     {ScratchIsAsked, failed(Bootstrapping, with(booting, retry(FromScratch+strings.Repeat("x", 5000))), retry(FromScratch+strings.Repeat("x", 5001))), machine.Yes, ""},
		"ScratchIsAsked/refused once finished":       {ScratchIsAsked, failed(Bootstrapping, booting, func(f *Facts) { f.Object.Retry, f.Marks.Finished = FromScratch, true }), machine.No, "refused"},
		"ScratchIsAsked/nobody remembers":            {ScratchIsAsked, scratched, machine.Unknown, ""},
		"AwaitedCame/infrastructure":                 {AwaitedCame, failed(AwaitingInfrastructure, waiting, same), machine.Yes, "provisioned"},
		"AwaitedCame/no infrastructure yet":          {AwaitedCame, failed(AwaitingInfrastructure, waiting, func(f *Facts) { f.Cluster.Port = 0 }), machine.No, "port 0"},
		"AwaitedCame/inputs":                         {AwaitedCame, failed(ResolvingInputs, waiting, same), machine.Yes, ""},
		"AwaitedCame/the API":                        {AwaitedCame, failed(AwaitingAPI, with(booting, func(f *Facts) { f.Marks.Initialized = false }), same), machine.Yes, "answers"},
		"AwaitedCame/no API yet":                     {AwaitedCame, failed(AwaitingAPI, waiting, same), machine.Unknown, ""},
		"AwaitedCame/the guest does without":         {AwaitedCame, failed(Bootstrapping, alone, same), machine.Yes, ""},
		"AwaitedCame/the guest does not yet":         {AwaitedCame, failed(Bootstrapping, booting, same), machine.No, ""},
		"AwaitedCame/the marks say more":             {AwaitedCame, failed(Bootstrapping, booting, func(f *Facts) { f.Marks.Finished = true }), machine.Yes, "finished"},
		"AwaitedCame/of a state that waits for none": {AwaitedCame, failed(Pending, waiting, same), machine.Unknown, ""},
		"ScratchIsAsked/and was served, of which the status knows nothing": {ScratchIsAsked, failed(Bootstrapping, booting, func(f *Facts) {
			f.Object.Retry, f.Object.Served = "from-scratch-1", Digest("from-scratch-1")
		}), machine.No, "done before"},
		"ScratchIsAsked/another one was served": {ScratchIsAsked, failed(Bootstrapping, booting, func(f *Facts) {
			f.Object.Retry, f.Object.Served = "from-scratch-2", Digest("from-scratch-1")
		}), machine.Yes, ""},
		"AwaitedCame/more of the attempt is gone":    {AwaitedCame, left(1, 2), machine.Yes, "more"},
		"AwaitedCame/no more of the attempt is gone": {AwaitedCame, left(1, 1), machine.No, ""},
		"AwaitedCame/nobody knows what was gone":     {AwaitedCame, with(left(1, 2), func(f *Facts) { f.Then.Done = 0 }), machine.No, ""},
		"AwaitedCame/the attempt is gone":            {AwaitedCame, failed(Clearing, with(waiting, func(f *Facts) { f.Attempt = three }), same), machine.Yes, ""},
		"AttemptIsGone/nobody looked":                {AttemptIsGone, booting, machine.Unknown, ""},
		"AttemptIsGone/all of it":                    {AttemptIsGone, with(waiting, func(f *Facts) { f.Attempt = three }), machine.Yes, ""},
		"AttemptIsGone/but a mark":                   {AttemptIsGone, with(booting, func(f *Facts) { f.Attempt = three }), machine.No, "marks are not"},
		"AttemptIsGone/but the mark of its clearing": {AttemptIsGone, with(waiting, func(f *Facts) { f.Attempt, f.Marks.Clearing = three, "r" }), machine.No, "marks are not"},
		"AttemptIsGone/but what the status says":     {AttemptIsGone, with(waiting, func(f *Facts) { f.Attempt, f.Noted.Inputs = three, "d" }), machine.No, "marks are not"},
		"AttemptIsGone/some of it is left":           {AttemptIsGone, with(booting, func(f *Facts) { f.Attempt = some }), machine.No, "not x"},
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
