package act

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestCheckNotFound_takes_a_404_for_an_answer_only_from_who_serves_the_kind_or_where_nobody_does(t *testing.T) {
	thing := schema.GroupVersionKind{Group: "crd.test", Version: "v1", Kind: "Thing"}
	ofTheObject := apierrors.NewNotFound(schema.GroupResource{Group: "crd.test", Resource: "things"}, "a")
	ofTheKind := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{Group: "crd.test", Resource: "things"}, "a", "404 page not found", 0, true)
	for name, row := range map[string]struct {
		server   *groupsServer
		kind     schema.GroupVersionKind
		notFound error
		want     string
	}{
		"of the object":                            {&groupsServer{}, thing, ofTheObject, ""},
		"of a kind that is announced":              {&groupsServer{}, thing, ofTheKind, "announces Thing in API group crd.test and does not serve it"},
		"of a kind that nobody serves":             {&groupsServer{}, schema.GroupVersionKind{Group: "none.test", Version: "v1", Kind: "Thing"}, ofTheKind, ""},
		"of a server that cannot tell what it has": {&groupsServer{lists: map[string]answer{"customresourcedefinitions": {status: http.StatusNotFound}}}, schema.GroupVersionKind{Group: "none.test", Version: "v1", Kind: "Thing"}, ofTheKind, "customresourcedefinitions"},
	} {
		err := row.server.engine(t).CheckNotFound(t.Context(), row.kind, row.notFound)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
