package privatecapi

import (
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestGuards_on_the_way(t *testing.T) {
	fence := func(fence Fenced) Facts { return with(moving, func(f *Facts) { f.Fence = fence }) }
	stopped := func(w Workloads, p Pods) Facts {
		return with(moving, func(f *Facts) { f.Workloads, f.Pods = w, p })
	}
	live := with(in(Live, moving), func(f *Facts) { f.Fence.Label, f.Private.Restored = StandardIsShut, true })
	back := with(live, func(f *Facts) {
		f.Marks.Companion.Direction, f.Fence.Label = ToStandard, PrivateIsShut
		f.Standard.Restored, f.Private.Restored = true, false
	})
	check(t, map[string]answers{
		"FenceHolds/not seen":              {FenceHolds, Facts{}, machine.Unknown, ""},
		"FenceHolds/not looked for":        {FenceHolds, fence(Fenced{}), machine.Unknown, ""},
		"FenceHolds/one side alone":        {FenceHolds, fence(Fenced{Known: true, Label: StandardIsShut, Probed: true}), machine.No, "both"},
		"FenceHolds/not tried":             {FenceHolds, fence(Fenced{Known: true, Label: BothSidesAreShut}), machine.Unknown, "tried"},
		"FenceHolds/a write comes through": {FenceHolds, fence(Fenced{Known: true, Label: BothSidesAreShut, Open: []string{"machines can be written"}}), machine.No, "machines"},
		"FenceHolds/of another move":       {FenceHolds, fence(Fenced{Known: true, Label: BothSidesAreShut, Probed: true, Other: true}), machine.No, "does not name this move"},
		"FenceHolds/without a namespace":   {FenceHolds, fence(Fenced{Known: true, NoNamespace: true}), machine.Yes, "no namespace"},
		"FenceHolds/yes":                   {FenceHolds, moving, machine.Yes, "denied"},

		"SourcePaused/not listed":          {SourcePaused, with(moving, func(f *Facts) { f.Standard.Known = false }), machine.Unknown, ""},
		"SourcePaused/no":                  {SourcePaused, moving, machine.No, "not paused"},
		"SourcePaused/yes":                 {SourcePaused, with(moving, func(f *Facts) { f.Standard.Paused = true }), machine.Yes, ""},
		"SourcePaused/of a move back":      {SourcePaused, with(back, func(f *Facts) { f.Private.Paused = true }), machine.Yes, ""},
		"TargetPaused/is not the source":   {TargetPaused, with(in(Undoing, moving), func(f *Facts) { f.Standard.Paused = true }), machine.No, "target"},
		"TargetPaused/yes":                 {TargetPaused, with(in(Undone, moving), func(f *Facts) { f.Private.Paused = true }), machine.Yes, ""},
		"TargetPaused/it may still run":    {TargetPaused, with(moving, func(f *Facts) { f.Private.Paused = true }), machine.No, "moving"},
		"TargetPaused/it is not fenced":    {TargetPaused, with(in(Undoing, moving), func(f *Facts) { f.Private.Paused, f.Fence.Label = true, StandardIsShut }), machine.No, "both"},
		"TargetPaused/fenced by another":   {TargetPaused, with(in(Undoing, moving), func(f *Facts) { f.Private.Paused, f.Fence.Other = true, true }), machine.No, "does not name the present stage"},
		"TargetPaused/the fence is behind": {TargetPaused, with(in(Undoing, moving), func(f *Facts) { f.Private.Paused, f.Fence.Behind = true, true }), machine.No, "does not name the present stage"},
		"TargetPaused/without namespace":   {TargetPaused, with(in(Undoing, moving), func(f *Facts) { f.Fence = Fenced{Known: true, NoNamespace: true} }), machine.Yes, "no namespace"},
		"TargetPaused/not listed":          {TargetPaused, with(in(Undoing, moving), func(f *Facts) { f.Private.Known = false }), machine.Unknown, ""},
		"PodsGone/not looked at":           {PodsGone, moving, machine.Unknown, ""},
		"PodsGone/with replicas":           {PodsGone, stopped(Workloads{Known: true, ScaledUp: []string{"capi"}}, Pods{Known: true}), machine.No, "capi"},
		"PodsGone/a pod is left":           {PodsGone, stopped(Workloads{Known: true}, Pods{Known: true, Left: []string{"capi-1"}}), machine.No, "capi-1"},
		"PodsGone/yes":                     {PodsGone, stopped(Workloads{Known: true}, Pods{Known: true}), machine.Yes, ""},
		"CopiesExist/not counted":          {CopiesExist, moving, machine.Unknown, "not known yet"},
		"CopiesExist/could not be":         {CopiesExist, with(moving, func(f *Facts) { f.Copies.Missing = []string{"no answer"} }), machine.Unknown, "no answer"},
		"CopiesExist/some":                 {CopiesExist, with(moving, func(f *Facts) { f.Copies = some }), machine.No, "1 of 3: Machine x"},
		"CopiesExist/some without a name":  {CopiesExist, with(moving, func(f *Facts) { f.Copies = Tally{Known: true, Wanted: 2} }), machine.No, "0 of 2"},
		"CopiesExist/all":                  {CopiesExist, with(moving, func(f *Facts) { f.Copies = done }), machine.Yes, ""},
		"SnapshotTaken/all":                {SnapshotTaken, with(moving, func(f *Facts) { f.Snapshot = done }), machine.Yes, ""},
		"StatusesCopied/all":               {StatusesCopied, with(moving, func(f *Facts) { f.Statuses = done }), machine.Yes, ""},
		"DependentsHeld/some":              {DependentsHeld, with(moving, func(f *Facts) { f.Dependents = some }), machine.No, "Machine x"},
		"WorkloadsEquipped/all":            {WorkloadsEquipped, with(moving, func(f *Facts) { f.Workloads.Equipped = done }), machine.Yes, ""},
		"WorkloadsAvailable/some":          {WorkloadsAvailable, with(moving, func(f *Facts) { f.Workloads.Available = some }), machine.No, ""},
		"SidesEqual/one differs": {SidesEqual, with(moving, func(f *Facts) {
			f.Comparison = Tally{Known: true, Done: 3, Wanted: 3, Missing: []string{"Machine y: spec"}}
		}), machine.No, "Machine y"},
		"WorkloadsAvailable/one speaks to the source": {WorkloadsAvailable, with(moving, func(f *Facts) { f.Workloads.Available, f.Workloads.Equipped = done, some }), machine.No, "1 of 3"},
		"SidesEqual/one speaks to the source":         {SidesEqual, with(moving, func(f *Facts) { f.Comparison, f.Workloads.Equipped = done, some }), machine.No, "1 of 3"},
		"SidesEqual/nobody knows who speaks to it":    {SidesEqual, with(moving, func(f *Facts) { f.Comparison, f.Workloads.Equipped = done, Tally{} }), machine.Unknown, "equipped"},
		"TargetHealthy/one speaks to the source":      {TargetHealthy, with(moving, func(f *Facts) { f.Health, f.Workloads.Equipped = done, some }), machine.No, "1 of 3"},
		"TargetHealthy/all":                           {TargetHealthy, with(moving, func(f *Facts) { f.Health = done }), machine.Yes, ""},

		"TargetUnpaused/not yet live":          {TargetUnpaused, moving, machine.No, "moving"},
		"TargetUnpaused/the fence stands":      {TargetUnpaused, in(Live, moving), machine.No, "fence"},
		"TargetUnpaused/a pause stands":        {TargetUnpaused, with(live, func(f *Facts) { f.Private.Restored = false }), machine.No, "paused"},
		"TargetUnpaused/not looked at":         {TargetUnpaused, with(live, func(f *Facts) { f.Private.Known = false }), machine.Unknown, ""},
		"TargetUnpaused/the fence is behind":   {TargetUnpaused, with(live, func(f *Facts) { f.Fence.Behind = true }), machine.No, "does not name the present stage"},
		"TargetUnpaused/without a namespace":   {TargetUnpaused, in(Live, with(moving, func(f *Facts) { f.Fence = Fenced{Known: true, NoNamespace: true} })), machine.Yes, "no namespace"},
		"TargetUnpaused/yes":                   {TargetUnpaused, live, machine.Yes, ""},
		"TargetUnpaused/yes, of a move back":   {TargetUnpaused, back, machine.Yes, ""},
		"SourceCaughtUp/undoing":               {SourceCaughtUp, in(Undoing, moving), machine.No, "undoing"},
		"SourceCaughtUp/undoing, and what for": {SourceCaughtUp, with(in(Undoing, moving), func(f *Facts) { f.Delta = some }), machine.No, "Machine x"},
		"SourceCaughtUp/undone":                {SourceCaughtUp, in(Undone, moving), machine.Yes, ""},
		"CopiesGone/a copy is left":            {CopiesGone, with(in(Undone, moving), func(f *Facts) { f.Private.Objects, f.Dropped = 2, done }), machine.No, "2 copies"},
		"CopiesGone/an owner is left":          {CopiesGone, with(in(Undone, moving), func(f *Facts) { f.Dropped = some }), machine.No, "Machine x"},
		"CopiesGone/yes":                       {CopiesGone, with(in(Undone, moving), func(f *Facts) { f.Dropped = done }), machine.Yes, ""},
		"CopiesGone/not listed":                {CopiesGone, with(in(Undone, moving), func(f *Facts) { f.Private.Known = false }), machine.Unknown, ""},
	})
}

func TestGuards_Settled_is_of_the_side_that_the_stage_names(t *testing.T) {
	settled := func(stage Stage, standard, private int, w Workloads) Facts {
		return with(in(stage, moving), func(f *Facts) {
			f.Standard.Objects, f.Private.Objects, f.Workloads, f.Undo = standard, private, w, Tally{Known: true}
		})
	}
	plain, equipped := Workloads{Known: true, Standard: true}, Workloads{Known: true, Private: true}
	check(t, map[string]answers{
		"not looked at is unknown":                {Settled, in(Undone, moving), machine.Unknown, ""},
		"undone, as it was":                       {Settled, settled(Undone, 3, 0, plain), machine.Yes, ""},
		"undone, with a copy":                     {Settled, settled(Undone, 3, 1, plain), machine.No, "1 private objects"},
		"undone, with sidecars":                   {Settled, settled(Undone, 3, 0, equipped), machine.No, "standard types need"},
		"only locked":                             {Settled, settled(Moving, 3, 0, plain), machine.Yes, ""},
		"committed":                               {Settled, settled(Committed, 0, 3, equipped), machine.Yes, ""},
		"committed, with an object of the source": {Settled, settled(Committed, 1, 3, equipped), machine.No, "1 standard objects"},
		"committed, without sidecars":             {Settled, settled(Committed, 0, 3, plain), machine.No, "private types need"},
		"a mark of undoing is left":               {Settled, with(settled(Undone, 3, 0, plain), func(f *Facts) { f.Undo = some }), machine.No, "Machine x"},
		"a move back that is committed": {Settled, with(settled(Committed, 3, 0, plain), func(f *Facts) {
			f.Marks.Companion.Direction = ToStandard
		}), machine.Yes, ""},
		"a move back that is undone": {Settled, with(settled(Undone, 0, 3, equipped), func(f *Facts) {
			f.Marks.Companion.Direction = ToStandard
		}), machine.Yes, ""},
	})
}

func TestFits_asks_each_state_for_its_stages(t *testing.T) {
	stages := []Stage{Moving, Live, Committed, Undoing, Undone}
	// Whatever else is asked for is so.
	full := with(moving, func(f *Facts) {
		f.Comparison, f.Dropped, f.Undo = done, done, Tally{Known: true}
		f.Standard.Paused, f.Private.Paused = true, true
		f.Pods.Known, f.Workloads = true, Workloads{Known: true, Standard: true, Private: true, Equipped: done}
	})
	want := map[machine.State]string{
		Checking: "", Locking: "moving", Pausing: "moving", Draining: "moving", Snapshotting: "moving", Copying: "moving",
		CopyingStatus: "moving", Rewiring: "moving", Equipping: "moving", Starting: "moving", Comparing: "moving",
		Unpausing: "moving live", Observing: "live", Committing: "live committed", RemovingSource: "committed",
		Unlocking: "moving live undoing undone", Repausing: "moving live undoing undone", DrainingBack: "undoing undone",
		CopyingBack: "undoing undone", DroppingCopies: "undone", Restoring: "undone",
	}
	for state, allowed := range want {
		got := ""
		for _, stage := range stages {
			if Fits(state, in(stage, full)).Truth == machine.Yes {
				got += " " + string(stage)
			}
		}
		if got = trimmed(got); got != allowed {
			t.Errorf("%s fits stages %q, want %q", state, got, allowed)
		}
	}
	check(t, map[string]answers{
		"a turn is asked for before anything is locked":     {fits(Checking), old, machine.Yes, ""},
		"a turn that has passed":                            {fits(Locking), with(old, func(f *Facts) { f.Turn.Ours = false }), machine.No, "comes first"},
		"a target that is not empty before it is locked":    {fits(Locking), with(old, func(f *Facts) { f.Private.Objects = 1 }), machine.No, "1 private objects"},
		"a finalizer before anything is locked":             {fits(Locking), with(old, func(f *Facts) { f.Cluster.Bound = true }), machine.No, "finalizer"},
		"unlocking what is free":                            {fits(Unlocking), old, machine.Yes, ""},
		"a lock that was taken away":                        {fits(Copying), old, machine.No, "not locked"},
		"a lock of another":                                 {fits(Copying), with(moving, func(f *Facts) { f.Marks.Companion.ID = "there/1" }), machine.No, "another installation"},
		"unpausing before the sides are equal":              {fits(Unpausing), with(full, func(f *Facts) { f.Comparison = some }), machine.No, "Machine x"},
		"unpausing while one speaks to the source":          {fits(Unpausing), with(full, func(f *Facts) { f.Workloads.Equipped = some }), machine.No, "1 of 3"},
		"unpausing while nobody has compared them":          {fits(Unpausing), with(full, func(f *Facts) { f.Comparison = Tally{} }), machine.Unknown, ""},
		"copying back from a target that runs":              {fits(CopyingBack), with(in(Undoing, full), func(f *Facts) { f.Pods.Left = []string{"capi-1"} }), machine.No, "capi-1"},
		"restoring with copies about":                       {fits(Restoring), with(in(Undone, full), func(f *Facts) { f.Private.Objects = 1 }), machine.No, "1 copies"},
		"unlocking what is not settled":                     {fits(Unlocking), with(full, func(f *Facts) { f.Private.Objects = 1 }), machine.No, "private objects"},
		"committed, with the objects of the source removed": {fits(Unlocking), with(in(Committed, full), func(f *Facts) { f.Standard.Objects = 0 }), machine.Yes, ""},
		"a fence that was taken off":                        {fits(Copying), with(full, func(f *Facts) { f.Fence.Label = StandardIsShut }), machine.No, "fence is not up"},
		"a fence of another move":                           {fits(Copying), with(full, func(f *Facts) { f.Fence.Other = true }), machine.No, "does not name this move"},
		"a fence that is behind its stage":                  {fits(Copying), with(full, func(f *Facts) { f.Fence.Behind = true }), machine.Yes, ""},
		"no namespace to fence":                             {fits(Pausing), with(full, func(f *Facts) { f.Fence = Fenced{Known: true, NoNamespace: true} }), machine.Yes, ""},
		"a fence that is not known":                         {fits(Copying), with(full, func(f *Facts) { f.Fence.Known = false }), machine.Unknown, "fence"},
		"a source that could not be looked at":              {fits(Copying), with(full, func(f *Facts) { f.Standard.Known, f.Unseen = false, "no list" }), machine.Unknown, ""},
		"which differs by nothing that is known":            {StageIsKnownToDiffer, with(full, func(f *Facts) { f.Then.State, f.Standard.Known, f.Unseen = Copying, false, "no list" }), machine.No, ""},
		"a source that was not looked at yet":               {StageIsKnownToDiffer, with(full, func(f *Facts) { f.Then.State, f.Standard.Known = Copying, false }), machine.Unknown, ""},
		"a stage that is known to differ":                   {StageIsKnownToDiffer, with(in(Live, full), func(f *Facts) { f.Then.State, f.Standard.Known, f.Unseen = Copying, false, "no list" }), machine.Yes, "live"},
		"no fence, and no look at the source":               {fits(Copying), with(full, func(f *Facts) { f.Fence.Label, f.Standard.Known, f.Unseen = NoFence, false, "no list" }), machine.No, "fence is not up"},
		"a source that was let go":                          {fits(Copying), with(full, func(f *Facts) { f.Standard.Paused = false }), machine.No, "not paused"},
		"a source that is to pause":                         {fits(Pausing), with(full, func(f *Facts) { f.Standard.Paused = false }), machine.Yes, ""},
		"a target that was let go":                          {fits(Observing), with(in(Live, full), func(f *Facts) { f.Fence.Label = StandardIsShut }), machine.Yes, ""},
		"a source without its fence":                        {fits(Committing), with(in(Live, full), func(f *Facts) { f.Fence.Label = PrivateIsShut }), machine.No, "fence is not up"},
		"committed, nothing is asked":                       {fits(Committing), with(in(Committed, full), func(f *Facts) { f.Fence.Label, f.Standard.Paused = NoFence, false }), machine.Yes, ""},
		"what rests asks for no stage":                      {fits(Held), in(Live, moving), machine.Yes, ""},
		"what has not been looked at is unknown":            {fits(Copying), Facts{}, machine.Unknown, ""},
		"the guard asks for the state that a blocked resumes": {StageFits, with(in(Live, full), func(f *Facts) {
			Recall(f, machine.Record{State: CommitBlocked, CameFrom: Committing}, machine.Resumed{})
		}), machine.Yes, ""},
		"the guard asks for the present state": {StageFits, with(in(Live, moving), func(f *Facts) { Recall(f, machine.Record{State: Copying, CameFrom: Snapshotting}, machine.Resumed{}) }), machine.No, "live"},
	})
}

func fits(state machine.State) machine.Guard[Facts] {
	return machine.Guard[Facts]{Ask: func(f Facts) machine.Answer { return Fits(state, f) }}
}

func trimmed(text string) string {
	if text == "" {
		return ""
	}
	return text[1:]
}

func TestProgress_counts_on_the_way_and_begins_anew_at_rest(t *testing.T) {
	at := func(state, from machine.State, f Facts) Facts {
		Recall(&f, machine.Record{State: state, CameFrom: from}, machine.Resumed{})
		return f
	}
	count := func(f Facts) int {
		got, known := Progress(f)
		if !known {
			t.Errorf("nobody knows the progress in %s", f.Then.State)
		}
		return got
	}
	one := with(moving, func(f *Facts) { f.Copies = some })
	two := with(one, func(f *Facts) { f.Copies.Done = 2 })
	if count(at(Copying, Snapshotting, two)) != count(at(Copying, Snapshotting, one))+1 {
		t.Error("a copy more is no progress")
	}
	if count(at(Draining, Pausing, two)) != count(at(Draining, Pausing, one)) {
		t.Error("a copy is progress in Draining")
	}
	outage := with(one, func(f *Facts) { f.Outages = 1 })
	if count(at(Copying, Snapshotting, outage)) != count(at(Copying, Snapshotting, one))+1 {
		t.Error("an outage that ended is no progress")
	}
	if many := with(one, func(f *Facts) { f.Outages = 99 }); count(at(Copying, Snapshotting, many)) != count(at(Copying, Snapshotting, one))+maxOutages {
		t.Error("outages count without a bound")
	}
	full := with(one, func(f *Facts) { f.Copies.Done, f.Statuses = ahead, Tally{Known: true, Wanted: 3} })
	if count(at(CopyingStatus, Copying, full)) <= count(at(Copying, Snapshotting, full)) {
		t.Error("what was done in a state before hides the progress in the next")
	}
	if count(at(RollbackBlocked, DrainingBack, one)) != 0 || count(at(Eligible, Classifying, one)) != 0 {
		t.Error("a state at rest has progress that hides the next one's")
	}
	if _, known := Progress(at(Copying, Snapshotting, moving)); known {
		t.Error("what was not counted is known")
	}
}

func TestGuards_CauseIsGone(t *testing.T) {
	blocked := func(event machine.Event, change func(*Facts)) Facts {
		return with(in(Undone, moving), func(f *Facts) {
			f.Dropped = some
			Recall(f, machine.Record{State: RollbackBlocked, CameFrom: DroppingCopies, LastEvent: event}, machine.Resumed{})
			f.Then.Done, _ = steps(*f)
			change(f)
		})
	}
	check(t, map[string]answers{
		"it still fails":              {CauseIsGone, blocked(FailureEstablished, func(f *Facts) { f.Then.Failing = true }), machine.No, ""},
		"it has succeeded":            {CauseIsGone, blocked(FailureEstablished, func(*Facts) {}), machine.Yes, "succeeded"},
		"it stands still":             {CauseIsGone, blocked(ProgressStalled, func(f *Facts) { f.Then.Resumed.Done = machine.SayNo("a copy is left") }), machine.No, "a copy is left"},
		"it moves":                    {CauseIsGone, blocked(ProgressStalled, func(f *Facts) { f.Dropped.Done = 2 }), machine.Yes, "moves again"},
		"it is done":                  {CauseIsGone, blocked(ProgressStalled, func(f *Facts) { f.Then.Resumed.Done = machine.SayYes("") }), machine.Yes, "there"},
		"it moves, and fails as well": {CauseIsGone, blocked(ProgressStalled, func(f *Facts) { f.Dropped.Done, f.Then.Failing = 2, true }), machine.No, ""},
	})
}

func TestReasonFor(t *testing.T) {
	for name, row := range map[string]struct {
		from        machine.State
		on          machine.Event
		unreachable bool
		want        Reason
	}{
		"the state's own":                     {Draining, ProgressStalled, false, ScaleDownTimeout},
		"the next one's":                      {Rewiring, FailureEstablished, false, WorkloadUpdateFailed},
		"the last one's":                      {Observing, ProgressStalled, false, HealthCheckTimeout},
		"without an answer of the API server": {Copying, ProgressStalled, true, APIUnavailable},
		"nobody knows where it was":           {Classifying, InterruptedEarly, false, AmbiguousState},
		"nothing is told of a deletion":       {Copying, DeletionAsked, true, ""},
	} {
		if got := ReasonFor(row.from, row.on, row.unreachable); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	for state := range reasons {
		if ReasonFor(state, ProgressStalled, false) == "" {
			t.Errorf("%s gives no reason", state)
		}
	}
}

func TestMoveOf_names_moves_and_stages_apart_as_a_label_can(t *testing.T) {
	one := MoveOf(ours.ID, ours.Stage)
	if len(one) != 16 || strings.Trim(one, "0123456789abcdef") != "" {
		t.Errorf("the move is %q", one)
	}
	for by, want := range map[string]struct{ move, stage bool }{
		one: {true, true}, MoveOf(ours.ID, Live): {true, false}, MoveOf("here/2", ours.Stage): {}, "": {}, "x": {},
	} {
		if move, stage := ours.IsNamed(by); move != want.move || stage != want.stage {
			t.Errorf("%q names the move: %v, and its stage: %v", by, move, stage)
		}
	}
}

func TestCompanion_reads_what_it_writes_and_nothing_else(t *testing.T) {
	c := Companion{Present: true, ID: MigrationID("here", "1", ToStandard), Direction: ToStandard, Stage: Undone, Reason: ScaleUpTimeout}
	turned := c
	turned.Direction = ToPrivate
	if got := readCompanion(turned.Text()); got != c {
		t.Errorf("with the direction turned it reads %+v, want %+v", got, c)
	}
	if got := readCompanion(c.Text()); got != c || !got.IsOf("here") || got.IsOf("her") || got.IsOf("") {
		t.Errorf("it reads %+v, want %+v", got, c)
	}
	for _, text := range []string{
		``, `{}`, `[]`, `{"id":"here/1/private","direction":"private","stage":"later"}`, `{"id":"here/1","direction":"up","stage":"moving"}`,
		`{"direction":"private","stage":"moving"}`,
	} {
		if got := readCompanion(text); got.Problem == "" || !got.Present || got.IsOf("here") || got.IsOf("") {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	if m := MarksOf(map[string]string{ScopeAnnotation: ScopeLegacy, PreviousScopeAnnotation: "team-a", FailedAnnotation: ""}); !m.Legacy || m.Scope != "team-a" || m.Failed == "" {
		t.Errorf("the marks are %+v", m)
	}
	if m := MarksOf(map[string]string{ScopeAnnotation: "team-a"}); m.Legacy || m.Scope != "team-a" {
		t.Errorf("the marks are %+v", m)
	}
}

func TestSidesReady_asks_for_a_source_that_lasts_and_a_target_that_is_empty(t *testing.T) {
	known := Facts{Seen: true, Marks: Marks{Companion: ours}, Standard: Side{Known: true, Objects: 3}, Private: Side{Known: true}}
	for name, c := range map[string]struct {
		change func(*Facts)
		want   machine.Truth
	}{
		"both were looked at":                   {func(*Facts) {}, machine.Yes},
		"one of the source is terminating":      {func(f *Facts) { f.Standard.Terminating = 1 }, machine.No},
		"one is at the target":                  {func(f *Facts) { f.Private.Objects = 1 }, machine.No},
		"the target has not been looked at yet": {func(f *Facts) { f.Private.Known = false }, machine.Unknown},
	} {
		f := known
		c.change(&f)
		if got := SidesReady.Answer(f); got.Truth != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}
