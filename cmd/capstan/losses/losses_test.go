package losses

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// gadgets is a definition that holds three instances, one of them made after noon.
func gadgets(t *testing.T, named int, since time.Time) Loss {
	t.Helper()
	object, err := acts.Named("CustomResourceDefinition.apiextensions.k8s.io/gadgets.test")
	if err != nil {
		t.Fatal(err)
	}
	kind, holding := schema.GroupKind{Group: "test", Kind: "Gadget"}, &engine.Holding{}
	for _, o := range []engine.InHolding{
		{Namespace: "a", Name: "old", UID: "2", Created: noon.Add(-3 * time.Hour), Finalizers: []string{"test/hold"}, Going: true},
		{Namespace: "a", Name: "older", UID: "3", Created: noon.Add(-50 * time.Hour)},
		{Namespace: "b", Name: "young\x1b[31m", UID: "1", Created: noon.Add(time.Minute)},
	} {
		o.Kind = kind
		holding.Add(o)
	}
	return lossOf(object, &engine.Loss{
		Object:   engine.InHolding{UID: "12-34", Finalizers: []string{"customresourcecleanup.apiextensions.k8s.io"}},
		Contents: engine.Contents{Count: 3, What: "3 instances in 2 namespaces", Holding: holding},
	}, named, since)
}

func TestText_names_what_would_be_lost_what_is_new_first(t *testing.T) {
	text := gadgets(t, Named, noon).Text(noon.Add(time.Hour))
	for _, want := range []string{
		"CustomResourceDefinition.apiextensions.k8s.io gadgets.test\n  UID:     12-34\n", "for finalizers customresourcecleanup.apiextensions.k8s.io, once it is deleted",
		"Holds:   3 instances in 2 namespaces\n", "Digest:  " + gadgets(t, Named, noon).Digest,
		"KIND         NAMESPACE  NAME", "Gadget.test  a          old", "4h", "test/hold", "being deleted", "new since the consent",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if young, old := strings.Index(text, "young"), strings.Index(text, "older"); young < 0 || young > old {
		t.Errorf("what is new is not first in\n%s", text)
	}
	if text := gadgets(t, 2, time.Time{}).Text(noon); !strings.Contains(text, "and 1 more: --all names them") || strings.Contains(text, "new since") {
		t.Errorf("got\n%s", text)
	}
}

func TestLossOf_what_nobody_can_tell_has_no_digest(t *testing.T) {
	unseen := lossOf(acts.Object{Kind: "Namespace", Name: "a"}, &engine.Loss{Contents: engine.Contents{What: "what nobody can tell, because you may not list secrets"}}, Named, noon)
	if unseen.Digest != "" || !strings.Contains(unseen.Text(noon), "Digest:  none, since nobody can tell all that would be lost\n") {
		t.Errorf("got\n%s", unseen.Text(noon))
	}
	half := lossOf(acts.Object{Kind: "Namespace", Name: "a"}, &engine.Loss{Contents: engine.Contents{
		Count: 1, What: "1 object", Holding: &engine.Holding{Objects: []engine.InHolding{{UID: "1"}}, Open: []string{"you may not list secrets"}},
	}}, Named, noon)
	if half.Digest != "" || !strings.Contains(half.Text(noon), "can tell all that would be lost: you may not list secrets\n") {
		t.Errorf("got\n%s", half.Text(noon))
	}
}

func TestDigestOf_is_that_of_one_object_or_of_the_sorted_lines_of_several(t *testing.T) {
	one, two := gadgets(t, Named, noon), gadgets(t, Named, noon)
	two.Object, two.UID = "Namespace a", "12-35"
	if DigestOf([]Loss{one}, nil) != one.Digest {
		t.Error("the digest of one is not its own")
	}
	lines := "object: " + one.Object + " 12-34 3 " + one.Digest + "\nobject: Namespace a 12-35 3 " + two.Digest + "\n"
	sum := sha256.Sum256([]byte(lines))
	if got := DigestOf([]Loss{two, one}, nil); got != hex.EncodeToString(sum[:]) || got != DigestOf([]Loss{one, two}, nil) || got != DigestOf([]Loss{one}, []string{two.Line()}) {
		t.Errorf("the digest of two is %s", got)
	}
	act := acts.Act{Name: acts.ConsentToDelete, By: "anna", At: noon, Reason: "r", Items: []acts.Said{{Key: "revision", Value: "2"}, {Key: "object", Value: one.Line()}, {Key: "object", Value: two.Line()}}}
	if _, err := act.Text(); err != nil {
		t.Error(err)
	}
}
