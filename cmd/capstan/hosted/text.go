package hosted

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// whose names a reconciler in a column.
func whose(by guards.Reconciler) string {
	switch by {
	case guards.Legacy:
		return "old operator"
	case guards.New:
		return "new operator"
	case guards.Machine:
		return "migration"
	}
	return "nobody"
}

func lasts(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return view.Lasted(now.Sub(since))
}

// move tells of the move that is under way, empty for none.
func (r Row) move() string {
	if r.Stage == guards.NoStage {
		return ""
	}
	return fmt.Sprintf("to %s, %s", r.Direction, r.Stage)
}

// marks are what people and moves have put there, in short.
func (r Row) marks() []string {
	var marks []string
	for _, mark := range []struct {
		is   bool
		text string
	}{
		{r.Deleting, "being deleted"},
		{r.Locked && r.Stage == guards.NoStage, "locked by another"},
		{r.Paused, "paused"},
		{r.RevertAsked, "revert asked"},
		{r.Failed != "", "failed: " + string(r.Failed)},
	} {
		if mark.is {
			marks = append(marks, mark.text)
		}
	}
	return marks
}

// write prints all of one HostedCluster.
func (r Row) write(b *strings.Builder, now time.Time) {
	lines := view.Columns(func(w io.Writer) {
		fmt.Fprintf(w, "HostedCluster:\t%s\n", r.HostedCluster)
		fmt.Fprintf(w, "Control plane:\tnamespace %s\n", r.ControlPlane)
		fmt.Fprintf(w, "Whose:\t%s\n", whose(r.Owner))
		state := cmp.Or(string(r.State), "not known")
		if !r.Since.IsZero() {
			state += fmt.Sprintf(" since %s (%s)", machine.Moment(r.Since), view.Lasted(now.Sub(r.Since)))
		}
		fmt.Fprintf(w, "State:\t%s\n", state)
		if r.Waits != "" {
			fmt.Fprintf(w, "Says:\t%s\n", r.Waits)
		}
		if move := r.move(); move != "" {
			if !r.Began.IsZero() {
				move += fmt.Sprintf(", since %s (%s)", machine.Moment(r.Began), view.Lasted(now.Sub(r.Began)))
			}
			fmt.Fprintf(w, "Move:\t%s\n", move)
		}
		if d := r.Deadline; d != nil {
			fmt.Fprintf(w, "Deadline:\t%s %s (%s at %s)\n", d.To, view.Until(d.At.Sub(now)), d.On, machine.Moment(d.At))
		}
		if marks := r.marks(); len(marks) > 0 {
			fmt.Fprintf(w, "Marks:\t%s\n", strings.Join(marks, ", "))
		}
	})
	b.WriteString(strings.Join(lines, "\n") + "\n")
}

// write prints what holds for all.
func (p Programme) write(b *strings.Builder, now time.Time) {
	lines := view.Columns(func(w io.Writer) {
		switch {
		case p.Enabled.IsZero():
			fmt.Fprintf(w, "Enabled:\tno, there is no ConfigMap %s\n", p.ConfigMap)
		default:
			fmt.Fprintf(w, "Enabled:\tsince %s (%s), by ConfigMap %s\n", machine.Moment(p.Enabled), view.Lasted(now.Sub(p.Enabled)), p.ConfigMap)
		}
		paused := "no"
		if p.Paused {
			paused = "yes, no move begins; capstan private-capi resume ends that"
		}
		fmt.Fprintf(w, "Paused:\t%s\n", paused)
		fmt.Fprintf(w, "Lock:\t%s\n", p.lock(now))
		old := cmp.Or(string(p.OldOperator), "not told")
		fmt.Fprintf(w, "Old operator:\t%s; kept for %s once nobody needs it\n", old, cmp.Or(p.Retention, "a week"))
		if p.RecordsUntold != "" {
			fmt.Fprintf(w, "Not seen:\t%s\n", p.RecordsUntold)
		}
	})
	b.WriteString(strings.Join(lines, "\n") + "\n")
}

func (p Programme) lock(now time.Time) string {
	switch {
	case p.LockUntold != "":
		return p.LockUntold
	case p.LockedFor == "":
		return "nobody holds it"
	case p.LockedSince.IsZero():
		return "held for HostedCluster " + p.LockedFor
	}
	return fmt.Sprintf("held for HostedCluster %s since %s (%s)", p.LockedFor, machine.Moment(p.LockedSince), view.Lasted(now.Sub(p.LockedSince)))
}
