package watching

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// watcher is one of an object of a server.
func watcher(t *testing.T, answer http.HandlerFunc) *Watcher {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	w, err := New(&rest.Config{Host: server.URL}, types.NamespacedName{Namespace: "fleet", Name: "a"}, func(Change) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRun_a_server_that_does_not_answer_at_the_beginning_ends_it(t *testing.T) {
	release := make(chan struct{})
	w := watcher(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	w.Patience = 20 * time.Millisecond
	_, err := w.Run(t.Context())
	if told, is := errors.AsType[*inspect.Error](err); !is || !strings.Contains(told.What, "does not answer") {
		t.Errorf("it says %v", err)
	}
}

func TestRun_ends_with_its_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := watcher(t, func(out http.ResponseWriter, request *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		if request.URL.Query().Has("watch") || !strings.HasSuffix(request.URL.Path, "/a") {
			cancel() // the watches have begun
			<-request.Context().Done()
			return
		}
		_, _ = out.Write([]byte(`{"apiVersion":"cluster.openshift.io/v1alpha1","kind":"OpenShiftControlPlane","metadata":{"name":"a","namespace":"fleet"}}`))
	})
	if _, err := w.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}
