package machine

import (
	"errors"
	"testing"
	"time"
)

func TestStep_another_object_under_the_key_begins_anew(t *testing.T) {
	b := newBench(t)
	b.restart()
	b.machine.memory.begun = true
	uid := "a"
	b.machine.UID = func(*world) string { return uid }
	b.world.open = true
	if out := b.step(); out.State != "Open" || b.record.UID != "a" {
		t.Fatalf("got %+v with record %+v", out, b.record)
	}
	uid, b.world.open = "", false
	if out := b.step(); out.State != "Open" || b.record.UID != "a" {
		t.Errorf("a look that has seen no object: %+v with record %+v", out, b.record)
	}
	uid, b.now = "b", b.now.Add(time.Hour)
	if out := b.step(); out.State != "Closed" || out.Work != "Push" || b.record.UID != "b" || !b.record.Since.Equal(b.now) || len(b.record.Transitions) != 0 {
		t.Errorf("another object: %+v with record %+v", out, b.record)
	}
	b.world.open, b.saveErr = true, errors.New("away")
	if _, err := b.try(); err == nil {
		t.Fatal("the record was stored")
	}
	uid, b.saveErr, b.world.open = "c", nil, false
	if out := b.step(); out.State != "Closed" || b.record.UID != "c" || len(b.record.Transitions) != 0 {
		t.Errorf("a third after a record that was not stored: %+v with record %+v", out, b.record)
	}
}

func TestStep_a_record_without_a_UID_is_another_objects_where_the_machine_asks(t *testing.T) {
	b := newBench(t)
	b.world.open = true
	b.step()
	b.machine.UID = func(*world) string { return "a" }
	b.world.open = false
	if out := b.step(); out.State != "Closed" || b.record.UID != "a" {
		t.Errorf("got %+v with record %+v", out, b.record)
	}
}
