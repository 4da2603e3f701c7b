package decide

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestReconcile_adopts_the_very_object_that_an_administrator_names(t *testing.T) {
	foreign := func(changes ...change) *unstructured.Unstructured {
		return object(append([]change{unwritten, annotation(OwnerAnnotation, ""), annotation(RevisionAnnotation, ""), entryOf("kubectl", "Update", onlyExtra)}, changes...)...)
	}
	for name, row := range map[string]struct {
		adopts    types.UID
		actual    *unstructured.Unstructured
		want      Action
		why       string
		adoptable bool
	}{
		"it":                       {"uid", foreign(), Updated, "adopted from field manager kubectl, as an administrator asks for", false},
		"another one":              {"other", foreign(), Collision, "belongs to field manager kubectl", true},
		"none":                     {"", foreign(), Collision, "belongs to field manager kubectl", true},
		"a controller's":           {"uid", foreign(controlled), Collision, "belongs to its controller", false},
		"another installation's":   {"uid", foreign(annotation(OwnerAnnotation, "other")), Collision, `belongs to the installation "other"`, false},
		"one that is ours already": {"uid", object(), Updated, "", false},
	} {
		stamp := testStamp
		stamp.Adopts = row.adopts
		desired := settings().Manifest.Desired(stamp)
		v := Reconcile(desired, row.actual, testStamp.Number, testUs)
		if v.Action != row.want || !strings.Contains(v.Why, row.why) || v.Adoptable != row.adoptable {
			t.Errorf("%s: %s (%s), adoptable %v", name, v.Action, v.Why, v.Adoptable)
		}
	}
}

func TestDesired_says_that_it_adopts_while_it_may(t *testing.T) {
	stamp := testStamp
	stamp.Adopts = "uid"
	manifest := settings().Manifest
	if d := manifest.Desired(stamp); d.Payload.GetAnnotations()[AdoptAnnotation] != AdoptAlways || d.Adopts != "uid" {
		t.Errorf("with it: %v", d.Payload.GetAnnotations())
	}
	if !strings.Contains(string(manifest.Body(stamp, "")), AdoptAnnotation) || strings.Contains(string(manifest.Body(testStamp, "")), AdoptAnnotation) {
		t.Error("what is sent says it otherwise")
	}
	if d := manifest.Desired(testStamp); d.Payload.GetAnnotations()[AdoptAnnotation] != "" || d.Adopts != "" {
		t.Errorf("without it: %v", d.Payload.GetAnnotations())
	}
}
