package privatecapi

import (
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// The facts that cases begin from.
var (
	noon    = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cluster = Cluster{Namespace: "clusters", Name: "a", UID: "u", Created: noon, ControlPlane: "clusters-a"}
	ours    = Companion{Present: true, ID: "here/1", Direction: ToPrivate, Stage: Moving}
	// old is a HostedCluster of the old operator, whose turn it is.
	old = Facts{
		Seen: true, Cluster: cluster, Marks: Marks{Legacy: true},
		Programme: Programme{Known: true, Installation: "here", Enabled: noon, OldOperatorNeeded: true}, Turn: Turn{Known: true, Ours: true},
		Fence: Fenced{Known: true}, Standard: Side{Known: true, Objects: 3}, Private: Side{Known: true},
	}
	// moving is one that is locked by us, and moved one of the new operator.
	moving = with(old, func(f *Facts) {
		f.Marks.Migrating, f.Marks.Companion = true, ours
		f.Fence = Fenced{Known: true, Label: BothSidesAreShut, Probed: true}
		f.Workloads.Equipped = done
	})
	moved = with(old, func(f *Facts) {
		f.Marks = Marks{Private: true}
		f.Standard.Objects, f.Private.Objects = 0, 3
	})
	done = Tally{Known: true, Done: 3, Wanted: 3}
	some = Tally{Known: true, Done: 1, Wanted: 3, Missing: []string{"Machine x"}}
)

func with(f Facts, change func(*Facts)) Facts {
	change(&f)
	return f
}

func in(stage Stage, f Facts) Facts {
	f.Marks.Companion.Stage = stage
	return f
}

type answers struct {
	guard machine.Guard[Facts]
	facts Facts
	want  machine.Truth
	says  string
}

func check(t *testing.T, rows map[string]answers) {
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if got := row.guard.Answer(row.facts); got.Truth != row.want || !strings.Contains(got.Reason, row.says) {
				t.Errorf("answers %s (%q), want %s (%q)", got.Truth, got.Reason, row.want, row.says)
			}
		})
	}
}

func TestGuards_of_marks_and_locks(t *testing.T) {
	alone := func(m Marks) Facts { return with(old, func(f *Facts) { f.Marks = m }) }
	other := with(moving, func(f *Facts) { f.Marks.Companion.ID = "there/1" })
	check(t, map[string]answers{
		"Deleting/not seen is unknown": {Deleting, Facts{}, machine.Unknown, "not been looked at"},
		"Deleting/no":                  {Deleting, old, machine.No, ""},
		"Deleting/yes":                 {Deleting, with(old, func(f *Facts) { f.Cluster.Deleting = true }), machine.Yes, "is being deleted"},

		"Locked/not seen is unknown":            {Locked, Facts{}, machine.Unknown, ""},
		"Locked/free":                           {Locked, old, machine.No, ""},
		"Locked/by the operators' annotation":   {Locked, alone(Marks{Migrating: true}), machine.Yes, MigrationAnnotation},
		"Locked/by what stands beside it alone": {Locked, alone(Marks{Companion: ours}), machine.Yes, CompanionAnnotation},

		"LockIsOurs/free": {LockIsOurs, old, machine.No, "not locked"},
		"LockIsOurs/ours": {LockIsOurs, moving, machine.Yes, "here/1"},
		"LockIsOurs/the first annotation taken away":  {LockIsOurs, alone(Marks{Companion: ours}), machine.Yes, "here/1"},
		"LockIsOurs/the second annotation taken away": {LockIsOurs, alone(Marks{Migrating: true}), machine.No, "another than Capstan"},
		"LockIsOurs/of another installation":          {LockIsOurs, other, machine.No, "there/1"},
		"LockIsOurs/cannot be read":                   {LockIsOurs, alone(Marks{Companion: Companion{Present: true, Problem: "no JSON"}}), machine.No, "no JSON"},
		"LockIsOurs/nobody knows who we are":          {LockIsOurs, with(moving, func(f *Facts) { f.Programme.Installation = "" }), machine.Unknown, ""},

		"LockIsWhole/both":            {LockIsWhole, moving, machine.Yes, ""},
		"LockIsWhole/without a first": {LockIsWhole, alone(Marks{Companion: ours}), machine.No, MigrationAnnotation},
		"LockIsWhole/without the one": {LockIsWhole, alone(Marks{Migrating: true}), machine.No, CompanionAnnotation},

		"Committed/no":           {IsCommitted, moving, machine.No, "moving"},
		"Committed/free":         {IsCommitted, old, machine.No, "none"},
		"Committed/yes":          {IsCommitted, in(Committed, moving), machine.Yes, ""},
		"MarkedFailed/no":        {MarkedFailed, old, machine.No, ""},
		"MarkedFailed/yes":       {MarkedFailed, alone(Marks{Failed: ScaleUpTimeout}), machine.Yes, "scale-up-timeout"},
		"OwnedByLegacy/yes":      {OwnedByLegacy, old, machine.Yes, "the old operator"},
		"OwnedByLegacy/locked":   {OwnedByLegacy, moving, machine.No, "not reconciled by the old operator"},
		"OwnedByNew/yes":         {OwnedByNew, moved, machine.Yes, "the new operator"},
		"OwnedByNew/both":        {OwnedByNew, alone(Marks{Legacy: true, Private: true}), machine.No, "not reconciled by the new"},
		"OwnedByNew/not seen":    {OwnedByNew, Facts{}, machine.Unknown, ""},
		"OwnedByNew/without any": {OwnedByNew, alone(Marks{}), machine.No, "not reconciled by the new"},
		"RetryIsAsked/not yet":   {RetryIsAsked, alone(Marks{Failed: ScaleUpTimeout}), machine.No, "scale-up-timeout: take it off"},
		"RetryIsAsked/yes":       {RetryIsAsked, old, machine.Yes, "is gone"},
	})
}

func TestGuards_Consistent(t *testing.T) {
	unmarked := func(created time.Time, change func(*Facts)) Facts {
		return with(old, func(f *Facts) {
			f.Marks, f.Cluster.Created = Marks{}, created
			change(f)
		})
	}
	private := func(f *Facts) { f.Standard.Objects, f.Private.Objects = 0, 3 }
	later := noon.Add(time.Second)
	check(t, map[string]answers{
		"not seen is unknown":                    {Consistent, Facts{}, machine.Unknown, ""},
		"of the old operator":                    {Consistent, old, machine.Yes, ""},
		"of the new one":                         {Consistent, moved, machine.Yes, ""},
		"of both":                                {Consistent, with(old, func(f *Facts) { f.Marks.Private = true }), machine.No, "has both"},
		"a fence that stands":                    {Consistent, with(old, func(f *Facts) { f.Fence.Label = StandardIsShut }), machine.No, "without a migration"},
		"the finalizer of a move":                {Consistent, with(old, func(f *Facts) { f.Cluster.Bound = true }), machine.No, "finalizer " + Finalizer + " without a migration"},
		"a fence that nobody looked for":         {Consistent, with(old, func(f *Facts) { f.Fence.Known = false }), machine.Unknown, "fence"},
		"of the old one, with private objects":   {Consistent, with(old, func(f *Facts) { f.Private.Objects = 1 }), machine.No, "1 private objects"},
		"of the old one, and nobody looked":      {Consistent, with(old, func(f *Facts) { f.Private.Known = false }), machine.Unknown, "private objects"},
		"of the new one, with standard objects":  {Consistent, with(moved, func(f *Facts) { f.Standard.Objects = 1 }), machine.No, "1 standard objects"},
		"failed and unmarked is of the old one":  {Consistent, unmarked(later, func(f *Facts) { f.Marks.Failed = AmbiguousState }), machine.Yes, ""},
		"unmarked and old":                       {Consistent, unmarked(noon, func(*Facts) {}), machine.Yes, ""},
		"unmarked, old, with private objects":    {Consistent, unmarked(noon, private), machine.No, "3 private objects"},
		"unmarked and new":                       {Consistent, unmarked(later, private), machine.Yes, ""},
		"unmarked, new, with standard objects":   {Consistent, unmarked(later, func(*Facts) {}), machine.No, "3 standard objects"},
		"unmarked, and no programme is known":    {Consistent, unmarked(later, func(f *Facts) { f.Programme.Known = false }), machine.Unknown, "enabled"},
		"unmarked, and the programme is not on":  {Consistent, unmarked(later, func(f *Facts) { f.Programme.Enabled = time.Time{} }), machine.Yes, ""},
		"marked, which needs no programme":       {Consistent, with(old, func(f *Facts) { f.Programme = Programme{} }), machine.Yes, ""},
		"more than the side has makes no matter": {Consistent, with(old, func(f *Facts) { f.Standard.Objects = 0 }), machine.Yes, ""},
	})
	for name, row := range map[string]struct {
		facts Facts
		due   Direction
		known bool
	}{
		"old":                       {unmarked(noon, func(*Facts) {}), ToStandard, true},
		"new":                       {unmarked(later, private), ToPrivate, true},
		"new, from a backup":        {unmarked(later, func(f *Facts) { f.Marks.Restored = true }), ToStandard, true},
		"marked":                    {old, "", false},
		"locked":                    {moving, "", false},
		"in contradiction":          {unmarked(noon, private), "", false},
		"before anything was known": {Facts{}, "", false},
	} {
		if due, known := MarkFor(row.facts); due != row.due || known != row.known {
			t.Errorf("%s: its mark is %q (%v), want %q", name, due, known, row.due)
		}
	}
}

func TestGuards_SideFor(t *testing.T) {
	empty := func(change func(*Facts)) Facts {
		return with(old, func(f *Facts) {
			f.Marks, f.Standard.Objects, f.Private.Objects = Marks{}, 0, 0
			change(f)
		})
	}
	off := func(f *Facts) { f.Programme.Enabled = time.Time{} }
	for name, row := range map[string]struct {
		facts Facts
		side  Direction
		known bool
	}{
		"only standard objects":                     {old, ToStandard, true},
		"only standard objects, and the new one's":  {with(old, func(f *Facts) { f.Marks.Private = true }), ToStandard, true},
		"only private objects":                      {moved, ToPrivate, true},
		"only private objects, and nobody's":        {with(moved, func(f *Facts) { f.Marks = Marks{} }), ToPrivate, true},
		"both":                                      {with(old, func(f *Facts) { f.Private.Objects = 1 }), "", false},
		"one side that nobody has looked at":        {with(old, func(f *Facts) { f.Private.Known = false }), "", false},
		"locked":                                    {moving, "", false},
		"none":                                      {empty(func(*Facts) {}), ToPrivate, true},
		"none, of the old one":                      {empty(func(f *Facts) { f.Marks.Legacy = true }), ToPrivate, true},
		"none, of both, without a programme":        {empty(func(f *Facts) { f.Marks.Legacy, f.Marks.Private = true, true; off(f) }), ToPrivate, true},
		"none, without a programme":                 {empty(off), ToStandard, true},
		"none, and no programme is known":           {empty(func(f *Facts) { f.Programme.Known = false }), "", false},
		"none, and the programme of others is gone": {empty(func(f *Facts) { off(f); f.Programme.InUse = 1 }), "", false},
	} {
		if side, known := SideFor(row.facts); side != row.side || known != row.known {
			t.Errorf("%s: its side is %q (%v), want %q", name, side, known, row.side)
		}
	}
}

func TestGuards_TracesLeft(t *testing.T) {
	check(t, map[string]answers{
		"not seen is unknown":              {TracesLeft, Facts{}, machine.Unknown, ""},
		"nothing":                          {TracesLeft, old, machine.No, ""},
		"the finalizer":                    {TracesLeft, with(old, func(f *Facts) { f.Cluster.Bound = true }), machine.Yes, Finalizer},
		"the finalizer, whatever is known": {TracesLeft, with(old, func(f *Facts) { f.Cluster.Bound, f.Fence.Known = true, false }), machine.Yes, Finalizer},
		"a fence":                          {TracesLeft, with(old, func(f *Facts) { f.Fence.Label = PrivateIsShut }), machine.Yes, FenceLabel + " private without a migration"},
		"a fence that nobody knows of":     {TracesLeft, with(old, func(f *Facts) { f.Fence.Known = false }), machine.Unknown, "fence"},
	})
}

func TestGuards_of_the_turn(t *testing.T) {
	back := with(moved, func(f *Facts) { f.Marks.Revert = true })
	check(t, map[string]answers{
		"TurnIsOurs/not seen is unknown":   {TurnIsOurs, Facts{}, machine.Unknown, ""},
		"TurnIsOurs/yes":                   {TurnIsOurs, old, machine.Yes, "is next"},
		"TurnIsOurs/failed":                {TurnIsOurs, with(old, func(f *Facts) { f.Marks.Failed = StatusCopyFailed }), machine.No, "another try"},
		"TurnIsOurs/of nobody":             {TurnIsOurs, with(old, func(f *Facts) { f.Marks = Marks{} }), machine.No, "nobody"},
		"TurnIsOurs/has moved":             {TurnIsOurs, moved, machine.No, "nobody asks"},
		"TurnIsOurs/is to move back":       {TurnIsOurs, back, machine.Yes, "is next"},
		"TurnIsOurs/nowhere to move back":  {TurnIsOurs, with(back, func(f *Facts) { f.Programme.OldOperatorNeeded = false }), machine.No, "not kept any more"},
		"TurnIsOurs/back, and not known":   {TurnIsOurs, with(back, func(f *Facts) { f.Programme.Known = false }), machine.Unknown, "old operator"},
		"TurnIsOurs/deleting":              {TurnIsOurs, with(old, func(f *Facts) { f.Cluster.Deleting = true }), machine.No, "being deleted"},
		"TurnIsOurs/locked":                {TurnIsOurs, with(old, func(f *Facts) { f.Marks.Companion = ours }), machine.No, "is locked"},
		"TurnIsOurs/paused":                {TurnIsOurs, with(old, func(f *Facts) { f.Marks.Paused = true }), machine.No, PausedAnnotation},
		"TurnIsOurs/all are paused":        {TurnIsOurs, with(old, func(f *Facts) { f.Programme.Paused = true }), machine.No, "paused by ConfigMap"},
		"TurnIsOurs/nothing is enabled":    {TurnIsOurs, with(old, func(f *Facts) { f.Programme.Enabled = time.Time{} }), machine.No, "there is no ConfigMap"},
		"TurnIsOurs/another is locked":     {TurnIsOurs, with(old, func(f *Facts) { f.Programme.LockedElsewhere = "clusters/b" }), machine.No, "clusters/b is locked"},
		"TurnIsOurs/nobody knows of all":   {TurnIsOurs, with(old, func(f *Facts) { f.Programme.Known = false }), machine.Unknown, ""},
		"TurnIsOurs/another comes first":   {TurnIsOurs, with(old, func(f *Facts) { f.Turn = Turn{Known: true, Of: "clusters/b"} }), machine.No, "clusters/b comes first"},
		"TurnIsOurs/the order is unknown":  {TurnIsOurs, with(old, func(f *Facts) { f.Turn = Turn{} }), machine.Unknown, ""},
		"ChecksPassed/not asked":           {ChecksPassed, old, machine.Unknown, "not been checked"},
		"ChecksPassed/one refuses already": {ChecksPassed, with(old, func(f *Facts) { f.Checks.Refused = []string{"the shim is not ready"} }), machine.No, "the shim"},
		"ChecksPassed/all pass":            {ChecksPassed, with(old, func(f *Facts) { f.Checks.Known = true }), machine.Yes, ""},
	})
	for name, row := range map[string]struct {
		facts Facts
		want  bool
	}{
		"of the old operator": {old, true}, "to be moved back": {back, true}, "moved": {moved, false}, "locked": {moving, false}, "not seen": {Facts{}, false},
		"whosever turn it is": {with(old, func(f *Facts) { f.Turn = Turn{} }), true},
	} {
		if got := Wants(row.facts); got != row.want {
			t.Errorf("%s: it wants to move: %v", name, got)
		}
	}
}

func TestNext(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	for name, row := range map[string]struct {
		waiting []Waiting
		want    machine.Key
	}{
		"nobody waits":                      {nil, ""},
		"the oldest first":                  {[]Waiting{{"b", time.Time{}, at(2)}, {"a", time.Time{}, at(1)}}, "a"},
		"who was refused comes after":       {[]Waiting{{"a", at(5), at(1)}, {"b", time.Time{}, at(2)}}, "b"},
		"who was refused longest ago first": {[]Waiting{{"a", at(9), at(1)}, {"b", at(7), at(2)}}, "b"},
		"of one age, by name":               {[]Waiting{{"b", time.Time{}, at(1)}, {"a", time.Time{}, at(1)}}, "a"},
	} {
		if got := Next(row.waiting); got != row.want {
			t.Errorf("%s: %q is next, want %q", name, got, row.want)
		}
	}
}
