package records

import (
	"testing"

	"github.com/capstan-capi/capstan/machine"
)

func TestRecollection_reads_each_text_once_and_tells_records_apart(t *testing.T) {
	var r Recollection
	text := []byte(`{"state":"Ready","since":"2026-01-01T12:00:00Z","uid":"u","progress":{"done":1,"since":"2026-01-01T12:00:00Z"},"entry":{"done":0}}`)
	record, found := r.Decoded("a", text)
	if !found || record.State != "Ready" || record.UID != "u" {
		t.Fatalf("it has read %+v, %t", record, found)
	}
	for range 2 { // the second time by what it remembers
		if different, err := r.replaced("a", &text, record); different || err != nil {
			t.Errorf("the same record in another order of keys is another one: %v", err)
		}
	}
	before := string(text)
	other := record
	other.Reason = "it waits"
	if different, err := r.replaced("a", &text, other); !different || err != nil || string(text) == before {
		t.Errorf("another record is the same (%v), and stored is %s", err, text)
	}
	if again, _ := r.Decoded("a", text); again.Reason != "it waits" {
		t.Errorf("of a text that has changed it says what was before: %+v", again)
	}
	if _, found := r.Decoded("b", []byte("{")); found {
		t.Error("what cannot be read is a record")
	}
	if empty, found := r.Decoded("a", nil); found || empty.State != "" {
		t.Errorf("where nothing is stored there is %+v", empty)
	}
	r.Forget("a")
	if len(r.all) != 1 {
		t.Errorf("it remembers %v", r.all)
	}
}

func TestRecollection_a_text_that_says_more_than_a_record_is_replaced_each_time(t *testing.T) {
	var r Recollection
	record := machine.Record{State: "Ready"}
	for range 2 {
		text := []byte(`{"state":"Ready","forged":true}`)
		_, _ = r.Decoded("a", text)
		if different, err := r.replaced("a", &text, record); !different || err != nil {
			t.Errorf("what nobody writes stays (%v)", err)
		}
	}
}
