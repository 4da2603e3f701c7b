package openshiftcontrolplane

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/machine"
)

var marks = rapid.Custom(func(t *rapid.T) Marks {
	return Marks{
		Inputs:      rapid.SampledFrom([]string{"", "d1", "d2"}).Draw(t, "inputs"),
		Bootstrap:   rapid.SampledFrom([]string{"", Intended, "u1", "u2"}).Draw(t, "bootstrap"),
		Initialized: rapid.Bool().Draw(t, "initialized"), Finished: rapid.Bool().Draw(t, "finished"),
		Clearing: rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "clearing"),
	}
})

func TestMarks_only_advance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := marks.Draw(t, "marks"), marks.Draw(t, "others")
		both := one.Advance(other)
		if both.Stage() != max(one.Stage(), other.Stage()) {
			t.Errorf("%+v and %+v are %s together", one, other, both.Stage())
		}
		if one.Inputs != "" && both.Inputs != one.Inputs || one.Bootstrap != "" && one.Bootstrap != Intended && both.Bootstrap != one.Bootstrap {
			t.Errorf("a digest or a UID of %+v was replaced: %+v", one, both)
		}
		if both.Advance(one) != both || both.Advance(other) != both {
			t.Errorf("%+v is advanced by what it has", both)
		}
		if both.MayCreateBootstrap() && (!one.MayCreateBootstrap() && one.Inputs != "" || !other.MayCreateBootstrap() && other.Inputs != "") {
			t.Errorf("%+v and %+v allow a bootstrap Machine together that one of them forbids", one, other)
		}
		if both.MayDeleteBootstrap() != (one.Finished || other.Finished) {
			t.Errorf("%+v and %+v: may its bootstrap Machine be deleted?", one, other)
		}
	})
}

func TestMarks_allow_one_bootstrap_Machine(t *testing.T) {
	for name, row := range map[string]struct {
		marks          Marks
		create, delete bool
		stage          Stage
	}{
		"none":                  {Marks{}, false, false, NoStage},
		"frozen":                {Marks{Inputs: "d"}, true, false, Frozen},
		"intended":              {Marks{Inputs: "d", Bootstrap: Intended}, true, false, Frozen},
		"it was made":           {Marks{Inputs: "d", Bootstrap: "u"}, false, false, Frozen},
		"the API has answered":  {Marks{Inputs: "d", Initialized: true}, false, false, Initialized},
		"finished":              {Marks{Inputs: "d", Bootstrap: "u", Initialized: true, Finished: true}, false, true, Finished},
		"only the last is left": {Marks{Finished: true}, false, true, Finished},
		"only the UID is left":  {Marks{Bootstrap: "u"}, false, false, Frozen},
		"it is cleared away":    {Marks{Inputs: "d", Clearing: "r"}, false, false, Frozen},
	} {
		if row.marks.MayCreateBootstrap() != row.create || row.marks.MayDeleteBootstrap() != row.delete || row.marks.Stage() != row.stage {
			t.Errorf("%s: create %v, delete %v, stage %s", name, row.marks.MayCreateBootstrap(), row.marks.MayDeleteBootstrap(), row.marks.Stage())
		}
	}
}

func TestGuards_of_stages(t *testing.T) {
	in := func(state machine.State, facts Facts) Facts {
		return with(facts, func(f *Facts) { f.Then.State = state })
	}
	finished := with(alone, func(f *Facts) { f.Marks.Finished = true })
	clearing := with(booting, func(f *Facts) { f.Marks.Clearing = "r" })
	rows := map[string]answers{
		"StageFits/the state is not known":             {StageFits, waiting, machine.Unknown, ""},
		"StageFits/no owner":                           {StageFits, in(Settling, with(finished, func(f *Facts) { f.Cluster = Cluster{Known: true} })), machine.No, "no Cluster"},
		"StageFits/the owner was not seen":             {StageFits, in(Settling, with(finished, func(f *Facts) { f.Cluster.Known = false })), machine.Unknown, ""},
		"StageFits/the status says it alone":           {StageFits, in(Bootstrapping, with(booting, func(f *Facts) { f.Noted, f.Marks = f.Marks, Marks{} })), machine.Yes, ""},
		"StageFits/of an attempt that is cleared away": {StageFits, in(Bootstrapping, clearing), machine.No, "cleared away"},
		"StageFits/Clearing, which nobody asks for":    {StageFits, in(Clearing, booting), machine.No, "nobody asks"},
		"StageFits/Clearing, which was served": {StageFits, in(Clearing, with(booting, func(f *Facts) {
			f.Object.Retry, f.Object.Served = FromScratch, Brief(FromScratch)
		})), machine.No, "nobody asks"},
		"StageFits/Clearing, which is asked for":                {StageFits, in(Clearing, with(booting, func(f *Facts) { f.Object.Retry = FromScratch })), machine.Yes, ""},
		"StageFits/Clearing":                                    {StageFits, in(Clearing, clearing), machine.Yes, ""},
		"StageFits/Clearing that has taken all marks off":       {StageFits, in(Clearing, with(waiting, func(f *Facts) { f.Noted.Inputs = "d" })), machine.Yes, ""},
		"StageFits/Clearing has failed":                         {StageFits, in(Failed, clearing), machine.Yes, ""},
		"StageFits/nothing is cleared away once it is finished": {StageFits, in(Settling, with(finished, func(f *Facts) { f.Marks.Clearing = "r" })), machine.Yes, ""},
		"RemovalIsOver/nothing goes":                            {RemovalIsOver, booting, machine.Yes, ""},
		"RemovalIsOver/the attempt goes":                        {RemovalIsOver, clearing, machine.No, "cleared away"},
		"RemovalIsOver/the bootstrap goes":                      {RemovalIsOver, with(finished, func(f *Facts) { f.Bootstrap.Removal = some }), machine.No, "not x"},
		"RemovalIsOver/the bootstrap is gone":                   {RemovalIsOver, with(finished, func(f *Facts) { f.Bootstrap.Removal = three }), machine.Yes, ""},
		"InputsAreFrozen/no":                                    {InputsAreFrozen, waiting, machine.No, "nothing"},
		"InputsAreFrozen/yes":                                   {InputsAreFrozen, with(waiting, func(f *Facts) { f.Marks.Inputs = "d" }), machine.Yes, "frozen"},
		"InputsAreFrozen/and more":                              {InputsAreFrozen, booting, machine.Yes, ""},
		"IsInitialized/no":                                      {IsInitialized, waiting, machine.No, ""},
		"IsInitialized/yes":                                     {IsInitialized, booting, machine.Yes, "answered"},
		"IsFinished/no":                                         {IsFinished, booting, machine.No, ""},
		"IsFinished/yes":                                        {IsFinished, finished, machine.Yes, "finished"},
	}
	for stage, facts := range map[Stage]Facts{NoStage: waiting, Frozen: with(waiting, func(f *Facts) { f.Marks.Inputs = "d" }), Initialized: booting, Finished: finished} {
		for state, bounds := range allowed {
			want := machine.No
			if stage >= bounds[0] && stage <= bounds[1] && (state != Clearing || stage == NoStage) {
				want = machine.Yes
			}
			rows["StageFits/"+string(state)+" when "+stage.String()] = answers{StageFits, in(state, facts), want, ""}
		}
	}
	check(t, rows)
}

func TestAttemptID_is_of_the_inputs_and_of_what_was_cleared_away(t *testing.T) {
	first := booting.AttemptID()
	for name, row := range map[string]struct {
		change func(*Facts)
		same   bool
	}{
		"the marks are gone, and not the status": {func(f *Facts) { f.Noted, f.Marks = f.Marks, Marks{} }, true},
		"another UID":                            {func(f *Facts) { f.Bootstrap.UID, f.Object.UID = "u9", "p9" }, true},
		"other inputs":                           {func(f *Facts) { f.Marks.Inputs = "d2" }, false},
		"it was cleared away":                    {func(f *Facts) { f.Object.Served = "r" }, false},
	} {
		if same := with(booting, row.change).AttemptID() == first; same != row.same {
			t.Errorf("%s: it is the same: %t", name, same)
		}
	}
	if got := waiting.AttemptID(); first == "" || got != "" {
		t.Errorf("of what is not frozen it is %q, else %q", got, first)
	}
}
