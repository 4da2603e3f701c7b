package standing

import (
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestTold_says_where_the_machine_stands(t *testing.T) {
	r := machine.Record{State: "AwaitingAPI", Since: noon, Reason: "the guest's API has not been asked yet"}
	want := v1alpha1.StateStatus{State: "AwaitingAPI", Since: &metav1.Time{Time: noon}, Waits: "the guest's API has not been asked yet"}
	if got := Told(r); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	r.Deadline = &machine.Deadline{At: noon.Add(time.Minute), On: "ProgressStalled", To: "Failed"}
	r.Failure = &machine.Failure{Message: strings.Repeat("x", 5000), Since: noon, Terminal: true}
	got := Told(r)
	if got.Deadline == nil || got.Deadline.To != "Failed" || !got.Deadline.At.Equal(&metav1.Time{Time: noon.Add(time.Minute)}) {
		t.Errorf("the deadline is %+v", got.Deadline)
	}
	if f := got.LastFailure; f == nil || len(f.Message) > machine.MaxMessage || f.Terminal == nil || !*f.Terminal {
		t.Errorf("the failure is %+v", f)
	}
}

func TestWritten_has_the_words_of_the_API(t *testing.T) {
	got := Written([]Condition{
		{Type: "A", Is: machine.Yes, Reason: "A"}, {Type: "B", Is: machine.No, Reason: "NotB", Message: "no"}, {Type: "C", Reason: "CUnknown"},
	})
	want := []metav1.Condition{
		{Type: "A", Status: metav1.ConditionTrue, Reason: "A"},
		{Type: "B", Status: metav1.ConditionFalse, Reason: "NotB", Message: "no"},
		{Type: "C", Status: metav1.ConditionUnknown, Reason: "CUnknown"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestWritten_has_the_lines_of_a_tail_after_the_message(t *testing.T) {
	got := Written([]Condition{{Type: "A", Is: machine.No, Reason: "NotA", Message: strings.Repeat("x", 5000), Tail: "; its log:\na\n" + strings.Repeat("b", 4000)}})
	message := got[0].Message
	if !strings.HasSuffix(message, "; its log:\na\n"+strings.Repeat("b", 4000)) || len(message) > machine.MaxMessage+maxTail {
		t.Errorf("it has %d bytes: %s", len(message), message[len(message)-100:])
	}
	if got = Written([]Condition{{Tail: strings.Repeat("b", 2*maxTail)}}); len(got[0].Message) > maxTail {
		t.Errorf("a long one has %d bytes", len(got[0].Message))
	}
}
