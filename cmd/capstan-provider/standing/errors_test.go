package standing

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

func TestExplain_tells_a_plane_without_the_provider_from_one_that_forbids_it(t *testing.T) {
	unknown := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Code: 404}}
	told, is := errors.AsType[*inspect.Error](Explain(unknown, "https://a", "get", "OpenShiftControlPlane b"))
	if !is || !strings.Contains(told.What, "does not know the kind") || !strings.Contains(told.Next, "providers installed") {
		t.Errorf("it says %v", told)
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "machines"}, "", errors.New("no"))
	if err := Explain(forbidden, "https://a", "list", "machines"); !strings.Contains(err.Error(), "not allowed to list machines") {
		t.Errorf("it says %v", err)
	}
	if Explain(nil, "", "", "") != nil {
		t.Error("nothing is an error")
	}
}
