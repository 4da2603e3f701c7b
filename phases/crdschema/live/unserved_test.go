package live_test

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/crdschema/live"
)

func TestIsUnserved_tells_a_kind_from_an_object(t *testing.T) {
	unserved := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{Group: "g", Resource: "things"}, "", "404 page not found", 0, true)
	kind := schema.GroupResource{Group: "g", Resource: "things"}
	for name, row := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                {nil, false},
		"an object that is gone":  {apierrors.NewNotFound(kind, "one"), false},
		"the kind":                {unserved, true},
		"the kind, with a name":   {apierrors.NewGenericServerResponse(404, "get", kind, "one", "404 page not found", 0, true), true},
		"whoever names no object": {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound}}, true},
		"another error":           {apierrors.NewForbidden(kind, "one", nil), false},
		"a kind without a mapper": {&meta.NoKindMatchError{}, true},
	} {
		if got := live.IsUnserved(row.err); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
