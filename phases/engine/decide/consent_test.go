package decide

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var consentedAt = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// holding is one of objects that were made a while before the consent, unless they are said to be new.
func holding(uids ...types.UID) *Holding {
	h := &Holding{}
	for _, uid := range uids {
		at := consentedAt.Add(-time.Hour)
		if strings.HasPrefix(string(uid), "new") {
			at = consentedAt.Add(time.Second)
		}
		h.Add(Held{UID: uid, Created: at})
	}
	return h
}

func TestDigest_is_that_of_the_sorted_UIDs_a_line_each(t *testing.T) {
	sum := sha256.Sum256([]byte("a\nb\nc\n"))
	if got, want := holding("c", "a", "b").Digest(), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if holding("a", "bc").Digest() == holding("ab", "c").Digest() || holding().Digest() == holding("").Digest() {
		t.Error("different holdings have one digest")
	}
	if open := (&Holding{Open: []string{"a group does not answer"}}); open.Digest() != "" || (*Holding)(nil).Digest() != "" {
		t.Error("what nobody can tell has a digest")
	}
}

func TestHolding_is_open_where_it_is_too_large_or_objects_have_no_UID(t *testing.T) {
	h := &Holding{}
	for i := range heldAtMost {
		h.Add(Held{UID: types.UID(strconv.Itoa(i))})
	}
	if h.Digest() == "" {
		t.Error("the largest holding has no digest")
	}
	h.Add(Held{UID: "more"})
	h.Add(Held{UID: "and more"})
	if h.Digest() != "" || len(h.Objects) != heldAtMost || len(h.Open) != 1 || !strings.Contains(h.Open[0], "more than 50000 objects") {
		t.Errorf("%d objects, %q", len(h.Objects), h.Open)
	}
	if without := holding(""); without.Digest() != "" || !strings.Contains(strings.Join(without.Open, ""), "no UID") {
		t.Errorf("without a UID: %q", without.Open)
	}
}

func TestVoid(t *testing.T) {
	given := Consent{UID: "crd", Count: 2, Digest: holding("a", "b").Digest(), By: "anna", At: consentedAt}
	for name, row := range map[string]struct {
		uid   types.UID
		holds *Holding
		want  string
	}{
		"exactly that":              {"crd", holding("b", "a"), ""},
		"an instance more":          {"crd", holding("a", "b", "new"), "it was for 2, and there are 3 now, 1 of them made since"},
		"one that was made before":  {"crd", holding("a", "b", "c"), "it was for 2, and there are 3 now, not the same"},
		"an instance less":          {"crd", holding("a"), "it was for 2, and there are 1 now"},
		"as many, one of them new":  {"crd", holding("a", "new"), "it was for 2, and there are 2 now, 1 of them made since"},
		"as many others":            {"crd", holding("a", "c"), "it was for 2, and there are 2 now, not the same"},
		"another object":            {"other", holding("a", "b"), "it is for another object of that name, whose UID is crd"},
		"what nobody can tell":      {"crd", nil, "nobody can tell all that would be lost"},
		"what may be more":          {"crd", &Holding{Open: []string{"API groups do not answer: x"}}, "nobody can tell all that would be lost (API groups do not answer: x)"},
		"another one, left unseen":  {"other", nil, "it is for another object of that name"},
		"nothing of it any more":    {"crd", holding(), "it was for 2, and there are 0 now"},
		"many more, all of them so": {"crd", holding("new1", "new2", "new3"), "it was for 2, and there are 3 now, 3 of them made since"},
	} {
		got := given.Void(row.uid, row.holds)
		if (got == "") != (row.want == "") || !strings.HasSuffix(got, row.want) && !strings.Contains(got, row.want) || got != "" && !strings.HasPrefix(got, "the consent by anna does not count: ") {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

func TestIsNewSince_counts_the_second_in_which_it_was_asked(t *testing.T) {
	for made, want := range map[time.Duration]bool{-time.Second: false, 0: true, time.Second: true} {
		if got := (Held{Created: consentedAt.Add(made)}).IsNewSince(consentedAt.Add(time.Millisecond)); got != want {
			t.Errorf("made %s after it: %v", made, got)
		}
	}
}

func TestCensus_has_each_object_in_its_holding_once_and_none_that_does_not_count(t *testing.T) {
	census := NewCensus(func(schema.GroupVersionKind) bool { return true })
	for _, name := range []string{"b", "a", "default"} {
		object := metav1.ObjectMeta{Namespace: "old", Name: name, UID: types.UID("uid-" + name)}
		census.Add(schema.GroupKind{Kind: "ServiceAccount"}, &object, true)
		census.Add(schema.GroupKind{Group: "other.test", Kind: "Copy"}, &object, false)
	}
	h := census.Holding()
	if len(h.Objects) != 2 || h.Objects[0].Name != "a" || h.Objects[1].UID != "uid-b" || h.Objects[0].Kind.Kind != "ServiceAccount" {
		t.Errorf("it holds %+v", h.Objects)
	}
}
