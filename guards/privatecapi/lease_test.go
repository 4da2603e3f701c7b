package privatecapi

import (
	"testing"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

func TestLease_is_free_once_its_holder_is_gone_or_has_had_it_for_five_minutes_without_a_lock(t *testing.T) {
	for name, row := range map[string]struct {
		lease Lease
		free  bool
	}{
		"long ago, by another clock":         {Lease{Renewed: noon.Add(-time.Hour), Seen: 14 * time.Second}, false},
		"far ahead, by another clock":        {Lease{Renewed: noon.Add(time.Hour), Seen: 14 * time.Second}, false},
		"a moment ago":                       {Lease{Renewed: noon.Add(-time.Second), Seen: time.Minute}, false},
		"just short of five minutes":         {Lease{Renewed: noon.Add(time.Second - 5*time.Minute), Seen: time.Minute}, false},
		"five minutes ago":                   {Lease{Renewed: noon.Add(-5 * time.Minute), Seen: time.Minute}, true},
		"long ago, by who is locked":         {Lease{Renewed: noon.Add(-time.Hour), HolderLocked: true, Seen: time.Minute}, false},
		"a moment ago, by who is gone":       {Lease{Renewed: noon, HolderGone: true, Seen: time.Minute}, true},
		"at a time that nobody can read":     {Lease{Seen: time.Minute}, true},
		"far ahead of now":                   {Lease{Renewed: noon.Add(time.Hour), Seen: time.Minute}, true},
		"a little ahead, by another clock":   {Lease{Renewed: noon.Add(time.Second), Seen: time.Minute}, false},
		"far ahead of now, by who is locked": {Lease{Renewed: noon.Add(time.Hour), HolderLocked: true, Seen: time.Minute}, false},
	} {
		if row.lease.IsFree(noon) != row.free {
			t.Errorf("renewed %s: free is %v", name, !row.free)
		}
	}
}

func TestThen_gave_up_early_only_where_nothing_had_begun_to_move(t *testing.T) {
	for name, row := range map[string]struct {
		then  Then
		early bool
	}{
		"checks that could not be made":    {Then{Present: Classifying, From: Checking, Event: FailureEstablished}, true},
		"checks that lasted":               {Then{Present: Classifying, From: Checking, Event: ProgressStalled}, true},
		"a lock that was not taken":        {Then{Present: Unlocking, From: Locking, Event: ProgressStalled}, true},
		"a turn that passed":               {Then{Present: Classifying, From: Checking, Event: machine.Event("StageDiffers")}, false},
		"a lock for what is being deleted": {Then{Present: Unlocking, From: Locking, Event: DeletionAsked}, false},
		"a move that was undone":           {Then{Present: Unlocking, From: Restoring, Event: ProgressStalled}, false},
		"nothing":                          {Then{}, false},
	} {
		if GaveUpEarly(row.then) != row.early {
			t.Errorf("%s: early is %v", name, !row.early)
		}
	}
}
