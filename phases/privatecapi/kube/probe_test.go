package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

const (
	account  = "system:serviceaccount:clusters-a:cluster-api"
	machines = "/apis/cluster.hypershift.openshift.io/v1beta1/namespaces/clusters-a/machines"
)

var standardMachines = phases.Kind{Group: "cluster.x-k8s.io", Resource: "machines", Kind: "Machine", Versions: []string{"v1beta1"}, Namespaced: true}

// machineNamed is a Machine as it is stored; labels and free text are nobody's to translate.
func machineNamed(name string) string {
	return fmt.Sprintf(`{"apiVersion":"cluster.hypershift.openshift.io/v1beta1","kind":"Machine","metadata":{"namespace":"clusters-a","name":%q,
		"annotations":{"note":"cluster.hypershift.openshift.io"}},"spec":{"infrastructureRef":{"apiVersion":"infrastructure.cluster.hypershift.openshift.io/v1beta1"}}}`, name)
}

// against is a client of a server.
func against(t *testing.T, server http.HandlerFunc) *Client {
	t.Helper()
	behind := httptest.NewServer(server)
	t.Cleanup(behind.Close)
	c, err := New(&rest.Config{Host: behind.URL, BearerToken: "the-operators"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestProbe_reads_through_a_proxy_as_the_component_and_in_pages(t *testing.T) {
	c := against(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != machines || r.Header.Get("Impersonate-User") != account || r.Header.Get("Authorization") != "Bearer the-operators" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		name, next := "m1", "more"
		if r.URL.Query().Get("continue") == next {
			name, next = "m2", ""
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion":"cluster.hypershift.openshift.io/v1beta1","kind":"MachineList","metadata":{"continue":%q},"items":[%s]}`, next, machineNamed(name))
	})
	all, err := c.Probe(t.Context(), account, standardMachines, "clusters-a")
	if err != nil || len(all) != 2 {
		t.Fatalf("%d objects: %v", len(all), err)
	}
	for i, o := range all {
		text := fmt.Sprint(o.Object)
		if o.GetName() != fmt.Sprintf("m%d", i+1) || o.GetAPIVersion() != "cluster.x-k8s.io/v1beta1" ||
			!strings.Contains(text, "apiVersion:infrastructure.cluster.x-k8s.io/v1beta1") || o.GetAnnotations()["note"] != "cluster.hypershift.openshift.io" {
			t.Errorf("it sees %s", text)
		}
	}
}

func TestProbe_is_told_of_a_refusal_as_the_component_is(t *testing.T) {
	c := against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","code":403,"reason":"Forbidden","message":"machines.cluster.hypershift.openshift.io is forbidden",
			"details":{"group":"cluster.hypershift.openshift.io","kind":"machines"}}`)
	})
	_, err := c.Probe(t.Context(), account, standardMachines, "clusters-a")
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "machines.cluster.x-k8s.io is forbidden") {
		t.Errorf("it is told %v", err)
	}
}
