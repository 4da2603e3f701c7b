package support

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
)

func TestBlind_asks_for_no_Secret_and_for_no_instance(t *testing.T) {
	sent := 0
	to := blind{roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}
	for _, c := range []struct {
		path   string
		hidden bool
	}{
		{"/api/v1/namespaces/a/secrets", true},
		{"/api/v1/namespaces/a/secrets/b", true},
		{"/api/v1/secrets", true},
		{"/below/api/v1/secrets", true},
		{"/apis/cluster.x-k8s.io/v1beta2/namespaces/a/machines", true},
		{"/apis/metal3.io/v1alpha1/baremetalhosts", true},
		{"/apis/machine.openshift.io/v1beta1/namespaces/a/machines/b", true},
		{"/api/v1/namespaces", false},
		{"/api/v1/namespaces/secrets", false},
		{"/api/v1/namespaces/a/configmaps/secrets", false},
		{"/apis/apps/v1/namespaces/a/deployments/b", false},
		{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", false},
		{"/apis/config.openshift.io/v1/infrastructures/cluster", false},
		{"/apis/cluster.x-k8s.io/v1beta2", false},
		{"/apis/cluster.x-k8s.io", false},
		{"/apis", false},
		{"/version", false},
	} {
		before := sent
		answer, err := to.RoundTrip(httptest.NewRequest(http.MethodGet, c.path, nil))
		if err != nil {
			t.Fatal(err)
		}
		if hidden := answer.StatusCode == http.StatusForbidden; hidden != c.hidden || (sent == before) != c.hidden {
			t.Errorf("%s: %d", c.path, answer.StatusCode)
		}
		_ = answer.Body.Close()
	}
}

func TestPlan_is_missing_with_a_reason_that_quotes_nobody(t *testing.T) {
	for want, plan := range map[string]func(context.Context, *rest.Config) (any, error){
		"missing, read infrastructures.config.openshift.io cluster, not allowed to": func(context.Context, *rest.Config) (any, error) {
			return nil, apierrors.NewForbidden(schema.GroupResource{Group: "config.openshift.io", Resource: "infrastructures"}, "cluster", errors.New(canary))
		},
		"missing, , its inputs could not be read": func(context.Context, *rest.Config) (any, error) { return nil, errors.New(canary) },
		"missing, , it was not asked for":         nil,
		"whole, , ":                               func(context.Context, *rest.Config) (any, error) { return map[string]int{"format": 1}, nil },
	} {
		s := &server{answers: answers()}
		read, err := archive.Open(planned(t, s, plan))
		if err != nil {
			t.Fatal(err)
		}
		if e, _, _ := read.Of(planPart); !strings.HasPrefix(string(e.State)+", "+e.Right+", "+e.Why, want) {
			t.Errorf("want %s, got %+v", want, e)
		}
	}
}
