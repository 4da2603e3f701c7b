package privatecapi_test

import (
	"testing"
	"time"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// typeOf is the instance type of the template on a side, empty for none.
func (p *play) typeOf(key machine.Key, side phases.Side) string {
	value := any(p.Look(key, side, "awsmachinetemplates", "a"))
	for _, field := range []string{"spec", "template", "spec", "instanceType"} {
		fields, _ := value.(map[string]any)
		value = fields[field]
	}
	text, _ := value.(string)
	return text
}

func TestMigration_gives_every_API_server_the_time_to_learn_of_the_fence_on_the_way_back(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
	p.Fail("a-0")
	var fenced time.Time
	p.until("drained", 20*time.Minute, func() bool {
		if fenced.IsZero() && p.State(key) == guards.Repausing && p.Fence(key) == guards.BothSidesAreShut {
			fenced = p.Now()
		}
		return p.State(key) == guards.DrainingBack
	})
	if took := p.Now().Sub(fenced); took < 5*time.Second {
		t.Errorf("the fence has stood for %s", took)
	}
}

func TestMigration_does_not_go_back_while_the_fence_denies_nothing(t *testing.T) {
	p, key := waits(t)
	p.begin(key)
	p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
	p.Fail("a-0")
	p.until("repausing", 20*time.Minute, p.reaches(key, guards.Repausing))
	p.Unpolice(true)
	for range 60 {
		p.round()
	}
	if p.State(key) != guards.Repausing {
		t.Errorf("it has gone on to %s", p.State(key))
	}
	p.Unpolice(false)
	p.until("undone", 20*time.Minute, p.rests(key, guards.Failed))
}

func TestMigration_goes_back_where_the_webhooks_of_the_target_have_failed_with_it(t *testing.T) {
	for _, at := range []machine.State{guards.Starting, guards.Observing} {
		p, key := waits(t)
		p.begin(key)
		p.until(string(at), 5*time.Minute, p.reaches(key, at))
		p.BreakWebhooks()
		p.LoseRecord(key)
		p.restart()
		p.until("undone", 10*time.Minute, p.rests(key, guards.Failed))
	}
}

func TestMigration_keeps_what_is_written_to_the_target_late(t *testing.T) {
	for name, of := range map[string]func(phases.Write) bool{
		"before the source is said to have all": func(w phases.Write) bool { return w.Kind.Resource == phases.HostedClusters.Resource },
		"before a copy goes": func(w phases.Write) bool {
			return w.Verb == phases.Delete && w.Name == "a" && w.Kind.Resource == "awsmachinetemplates"
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, key := waits(t)
			p.begin(key)
			p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
			p.Fail("a-0")
			p.until("copying back", 20*time.Minute, p.reaches(key, guards.DrainingBack))
			p.Before(of, func() { p.WriteLate(key, "m5.late") })
			p.until("undone", 30*time.Minute, p.rests(key, guards.Failed))
			if is := p.typeOf(key, phases.Standard); is != "m5.late" {
				t.Errorf("the source has %q", is)
			}
		})
	}
}

func TestMigration_brings_back_what_the_target_did_where_live_was_edited_to_undone(t *testing.T) {
	for _, ran := range []bool{true, false} {
		p, key := waits(t)
		p.begin(key)
		p.until("observing", 5*time.Minute, p.reaches(key, guards.Observing))
		p.WriteLate(key, "m5.changed")
		p.Scale(key, 0)
		for range 3 {
			p.round()
		}
		edited := p.Companion(key)
		edited.Stage, edited.Ran = guards.Undone, ran
		p.Annotate(key, guards.CompanionAnnotation, edited.Text())
		p.until("undone", 30*time.Minute, p.rests(key, guards.Failed))
		if is := p.typeOf(key, phases.Standard); is != "m5.changed" {
			t.Errorf("the template has %q", is)
		}
		if o := p.Look(key, phases.Standard, "machines", "a-0"); o != nil {
			t.Errorf("a Machine is back that the target has deleted:\n%v", o)
		}
	}
}
