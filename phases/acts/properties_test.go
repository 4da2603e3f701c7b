package acts_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/acts"
)

// anAct draws an act that is well formed.
func anAct(t *rapid.T) acts.Act {
	form := rapid.SampledFrom(acts.Forms).Draw(t, "form")
	word := rapid.StringMatching(`[!-~]([ -~]{0,60}[!-~])?`)
	act := acts.Act{
		Name: form.Name, By: word.Draw(t, "by"), Reason: word.Draw(t, "reason"),
		At: noon.Add(time.Duration(rapid.IntRange(-1e9, 1e9).Draw(t, "at")) * time.Second),
	}
	for _, item := range form.Items {
		count := 1
		switch {
		case item.Instead:
			count = rapid.IntRange(0, 1).Draw(t, "whether "+item.Key)
		case !item.Once:
			count = rapid.IntRange(1, 4).Draw(t, "count of "+item.Key)
		}
		values := rapid.SliceOfNDistinct(rapid.StringMatching(strings.ReplaceAll(item.Pattern, "[^ ", "[^\\pZ\\pC\\pM")), count, count, rapid.ID[string]).Draw(t, item.Key)
		for _, value := range values {
			act.Items = append(act.Items, acts.Said{Key: item.Key, Value: value})
		}
		if item.Instead && count == 1 {
			return act
		}
	}
	if form.Longest > 0 {
		act.Until = act.At.Add(time.Duration(rapid.IntRange(1, int(form.Longest/time.Second)).Draw(t, "lasts")) * time.Second)
	}
	return act
}

func TestText_says_all_of_an_act_that_is_within_its_limits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		act := anAct(rt)
		text, err := act.Text()
		if err != nil {
			long := strings.Contains(err.Error(), "bytes")
			if !long {
				rt.Fatalf("%+v: %v", act, err)
			}
			return
		}
		read, err := acts.Read(act.Name, text)
		if err != nil || !reflect.DeepEqual(read, act) {
			rt.Fatalf("%+v is read as %+v (%v)", act, read, err)
		}
	})
}

func TestRead_is_never_of_half_an_act(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		act := anAct(rt)
		text, err := act.Text()
		if err != nil {
			return
		}
		lines := strings.Split(text, "\n")
		without := rapid.IntRange(0, len(lines)-1).Draw(rt, "without line")
		var rest []string
		for i, line := range lines {
			if i != without {
				rest = append(rest, line)
			}
		}
		// One of several items may be left out, and so may one that stands in place of an end.
		several := without > 0 && len(rest) >= without && strings.HasPrefix(lines[without], "object: ") && strings.Count(text, "\nobject: ") > 1
		if read, err := acts.Read(act.Name, strings.Join(rest, "\n")); err == nil && !several {
			rt.Fatalf("without %q it is read as %+v", lines[without], read)
		}
	})
}

func TestTurns_is_when_Void_changes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		act := anAct(rt)
		now := act.At.Add(time.Duration(rapid.Int64Range(int64(-200*time.Hour), int64(2000*time.Hour)).Draw(rt, "now")))
		turns := act.Turns(now)
		if turns.IsZero() {
			turns = now.Add(10_000 * time.Hour)
		} else if (act.Void(turns) == "") == (act.Void(now) == "") || !turns.After(now) {
			rt.Fatalf("nothing turns at %s: %q and %q", turns, act.Void(now), act.Void(turns))
		}
		between := now.Add(time.Duration(rapid.Int64Range(0, int64(turns.Sub(now))-1).Draw(rt, "later")))
		if (act.Void(between) == "") != (act.Void(now) == "") {
			rt.Fatalf("it turns at %s, before %s", between, turns)
		}
	})
}

func FuzzActs(f *testing.F) {
	f.Add(0, head)
	f.Add(1, head+"\nobject: Deployment.apps a/b\nobject: Namespace a")
	f.Add(2, endless+"\nrevision: 4\nlist: abc")
	f.Add(3, endless+"\nrevision: 4\nobject: ConfigMap a/b 12-34")
	f.Add(4, endless+"\nrevision: 4\nobject: Namespace a 12-34 0 "+aDigest)
	f.Add(5, endless+"\nrevision: 4.22.0-873bdf9a-4")
	f.Fuzz(func(t *testing.T, form int, text string) {
		name := acts.Forms[uint(form)%uint(len(acts.Forms))].Name
		act, err := acts.Read(name, text)
		if err != nil {
			if !reflect.DeepEqual(act, acts.Act{}) || len(err.Error()) > 2*acts.MaxLine {
				t.Fatalf("half of %q counts: %+v (%v)", text, act, err)
			}
			return
		}
		again, err := act.Text()
		if err != nil || again != text {
			t.Fatalf("%q is written as %q (%v)", text, again, err)
		}
		if len(text) > acts.MaxBytes || len(act.Items) > acts.MaxItems || act.By == "" || act.Reason == "" || strings.ContainsAny(act.By+act.Reason, "\n\r\x1b") {
			t.Fatalf("%q is over a limit", text)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if len(line) > acts.MaxLine {
				t.Fatalf("%q has a line of %d bytes", text, len(line))
			}
		}
	})
}
