package dashboard

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/transport/harmless"
)

func TestPlan_is_made_once_at_a_time_and_ends_with_who_asks(t *testing.T) {
	f := installed(t)
	begun, ended := make(chan struct{}, 10), make(chan error, 10)
	p := open(t, kubeconfigOf(t, "", map[string]string{"one": f.URL, "two": f.URL}), func(ctx context.Context, config *rest.Config) (any, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}, "one", "two")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.host+"/api/contexts/0/plan", strings.NewReader("{}"))
		if err == nil {
			r.Header.Set(TokenHeader, p.token)
			r.Header.Set("Content-Type", "application/json")
			var response *http.Response
			if response, err = http.DefaultClient.Do(r); err == nil {
				err = response.Body.Close()
			}
		}
		gone <- err
	}()
	<-begun
	var why Problem
	p.into(p.ask(t.Context(), http.MethodPost, "/api/contexts/0/plan", "", nil), http.StatusConflict, &why)
	if !strings.Contains(why.Error, "already") {
		t.Errorf("it says %+v", why)
	}
	other, stop := context.WithCancel(t.Context())
	go func() {
		<-begun
		stop()
	}()
	r, err := http.NewRequestWithContext(other, http.MethodPost, "http://"+p.host+"/api/contexts/1/plan", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(TokenHeader, p.token)
	r.Header.Set("Content-Type", "application/json")
	if response, err := http.DefaultClient.Do(r); !errors.Is(err, context.Canceled) {
		_ = response.Body.Close()
		t.Errorf("a plan of another cluster ends with %v", err)
	}
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	}
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ends with %v", err)
	}
}

func TestPlan_is_told_as_it_is_made_or_why_it_is_not(t *testing.T) {
	f := installed(t)
	var made any = map[string]string{"why": "<b>\u202e"}
	var fails error
	p := open(t, kubeconfigOf(t, "", map[string]string{"one": f.URL}), func(context.Context, *rest.Config) (any, error) { return made, fails }, "one")
	var read map[string]string
	if p.into(p.ask(t.Context(), http.MethodPost, "/api/contexts/0/plan", "", nil), http.StatusOK, &read); read["why"] != "<b>\ufffd" {
		t.Errorf("the plan is %q", read)
	}
	fails = &inspect.Error{What: "no image", Next: "push it"}
	var why Problem
	if p.into(p.ask(t.Context(), http.MethodPost, "/api/contexts/0/plan", "", nil), http.StatusBadGateway, &why); why != (Problem{"no image", "push it"}) {
		t.Errorf("it says %+v", why)
	}
	response := p.ask(t.Context(), http.MethodPost, "/api/contexts/0/plan", "a=b", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	if response.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("what another page could send gets %d", response.StatusCode)
	}
	if response := p.ask(t.Context(), http.MethodGet, "/api/contexts/0/plan", "", nil); response.StatusCode != http.StatusNotFound {
		t.Errorf("a link to a plan gets %d", response.StatusCode)
	}
}

func TestConnection_sends_nothing_that_changes_a_cluster(t *testing.T) {
	f := installed(t)
	conn, err := connect(inspect.Access{Kubeconfig: kubeconfigOf(t, "", map[string]string{"one": f.URL}), Context: "one"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(conn.config)
	if err != nil {
		t.Fatal(err)
	}
	of := client.Resource(clusterAPIs)
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "operator.openshift.io/v1alpha1", "kind": "ClusterAPI", "metadata": map[string]any{"name": "cluster"}}}
	for name, change := range map[string]func() error{
		"create": func() error { _, err := of.Create(t.Context(), object, metav1.CreateOptions{}); return err },
		"update": func() error { _, err := of.Update(t.Context(), object, metav1.UpdateOptions{}); return err },
		"status": func() error { _, err := of.UpdateStatus(t.Context(), object, metav1.UpdateOptions{}); return err },
		"patch": func() error {
			_, err := of.Patch(t.Context(), "cluster", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
			return err
		},
		"delete": func() error { return of.Delete(t.Context(), "cluster", metav1.DeleteOptions{}) },
	} {
		var refused *harmless.RefusedError
		if err := change(); !errors.As(err, &refused) {
			t.Errorf("%s gets %v", name, err)
		}
	}
	if asked := f.requests(); len(asked) > 0 {
		t.Errorf("sent is %q", asked)
	}
	if _, err := of.Get(t.Context(), "cluster", metav1.GetOptions{}); err != nil {
		t.Errorf("a get: %v", err)
	}
	events, err := of.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatalf("a watch: %v", err)
	}
	events.Stop()
}

func TestHistory_is_that_of_the_command(t *testing.T) {
	f := installed(t)
	f.set(configMapsPath, "capstan-history", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"history.json": `{"format":1,"began":"2026-01-31T12:00:00Z","revisions":[{"number":7,"name":"r-7","result":"Installed"}]}`},
	})
	p := openOne(t, f)
	var told struct {
		Revisions []struct{ Name string }
	}
	if p.get("/api/contexts/0/history", &told); len(told.Revisions) != 1 || told.Revisions[0].Name != "r-7" {
		t.Errorf("the history is %+v", told)
	}
	f.set(configMapsPath, "capstan-history", nil)
	var why Problem
	if p.into(p.ask(t.Context(), http.MethodGet, "/api/contexts/0/history", "", nil), http.StatusBadGateway, &why); !strings.Contains(why.Error, "does not exist") || why.Next == "" {
		t.Errorf("without one it says %+v", why)
	}
}
