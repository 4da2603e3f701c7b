package privatecapi_test

import (
	"maps"
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

type ledger = machinetest.Ledger[phases.Works]

// noted is the table, whose works are noted while they run in a world.
func (p *play) noted() machine.Table[guards.Facts, phases.Works] {
	return machinetest.WithActions(table.Table, func(a machine.Action[phases.Works]) machine.Action[phases.Works] {
		return p.wrote.Note(a, func() map[string]int {
			written := maps.Clone(p.Written())
			written[machinetest.Deletion("objects of the")] = p.Deleted()
			return written
		})
	})
}

// meddled is a play of one hosted cluster. In each state that it comes to, somebody takes the first annotation of the lock away, which a
// pass sees before an operator does; and then somebody meddles as it is said.
func meddled(t *testing.T, wrote *ledger, meddle map[machine.State]func(*play, machine.Key)) (*play, machine.Key) {
	p := playNoted(t, wrote)
	key := p.AddHosted("a", 1)
	p.each = func(key machine.Key, o machine.Outcome) {
		if o.Moved == nil {
			return
		}
		if guards.MarksOf(p.Annotations(key)).Locked() {
			p.Annotate(key, guards.MigrationAnnotation, "")
			if next, _ := p.machine.Step(t.Context(), key); next.Moved != nil {
				p.visited[key] = append(p.visited[key], next.Moved.To)
				p.each(key, next)
			}
		}
		if one := meddle[o.State]; one != nil {
			one(p, key)
		}
	}
	return p, key
}

func TestWorks_write_all_that_they_name_and_nothing_else(t *testing.T) {
	wrote := &ledger{}
	unfence := func(p *play, key machine.Key) { p.Unfence(key) }
	unequip := func(p *play, key machine.Key) { p.Unequip(key, "capi-provider") }
	late := func(p *play, key machine.Key) { p.WriteLate(key, "m5.late") }
	later := func(p *play, key machine.Key) {
		unfence(p, key)
		p.WriteLate(key, "m5.later")
		p.WriteStatusLate(key)
	}

	p, key := meddled(t, wrote, map[machine.State]func(*play, machine.Key){
		guards.Pausing:    func(p *play, key machine.Key) { p.ScaleComponent(key, "capi-provider", 3) },
		guards.Committing: unequip,
		guards.RemovingSource: func(p *play, key machine.Key) {
			unfence(p, key)
			unequip(p, key)
		},
	})
	p.until("moved", 10*time.Minute, p.rests(key, guards.Private))

	for _, machines := range []int{0, 2} {
		p, key := meddled(t, wrote, map[machine.State]func(*play, machine.Key){
			guards.DrainingBack: unfence, guards.CopyingBack: late, guards.DroppingCopies: later, guards.Restoring: unfence,
		})
		p.until("observing", 10*time.Minute, p.reaches(key, guards.Observing))
		p.Scale(key, machines)
		p.Pass(time.Second)
		p.LoseRecord(key)
		p.restart()
		p.until("undone", 20*time.Minute, p.rests(key, guards.Failed))
	}

	p = playNoted(t, wrote)
	key = p.AddHosted("a", 1)
	p.until("snapshotting", 10*time.Minute, p.reaches(key, guards.Snapshotting))
	p.Annotate(key, guards.PausedAnnotation, "true")
	p.Annotate(key, guards.MigrationAnnotation, "")
	p.Annotate(key, guards.CompanionAnnotation, "")
	p.until("let go", 10*time.Minute, p.staysAtRest(key))

	p = playNoted(t, wrote)
	key = p.AddHosted("a", 1)
	p.until("starting", 10*time.Minute, p.reaches(key, guards.Starting))
	p.WriteLate(key, "m5.late") // which keeps the sides from being equal
	p.until("comparing", 10*time.Minute, p.reaches(key, guards.Comparing))
	p.Annotate(key, guards.MigrationAnnotation, "")
	p.until("undone", 20*time.Minute, p.rests(key, guards.Failed))
	wrote.Check(t, true, machinetest.Actions(table.Table)...)
}
