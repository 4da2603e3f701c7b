package see

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

func TestListView_takes_nothing_but_a_list_for_one(t *testing.T) {
	for body, isList := range map[string]bool{
		`{"kind":"ThingList","apiVersion":"g/v1","metadata":{},"items":[]}`:    true,
		`{"kind":"Status","apiVersion":"v1","status":"Success","metadata":{}}`: false,
		`{"kind":"Thing","apiVersion":"g/v1","metadata":{"name":"x"}}`:         false,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		}))
		r, err := NewReader(&rest.Config{Host: server.URL}, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.listView(t.Context(), View{GVR: schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "things"}}, metav1.ListOptions{})
		var noList *NoListError
		if isList && err != nil || !isList && !errors.As(err, &noList) {
			t.Errorf("%s: %v", body, err)
		}
		server.Close()
	}
}

func TestWatchView_ends_at_what_is_no_JSON(t *testing.T) {
	added := `{"type":"ADDED","object":{"kind":"Thing","apiVersion":"g/v1","metadata":{"name":"x"}}}`
	for body, want := range map[string][]watch.EventType{
		added + added:                {watch.Added, watch.Added},
		added + ` and more ` + added: {watch.Added, watch.Error},
		added + `{"type":"ADDED","object":{"kind":Thing}}` + added: {watch.Added, watch.Error},
		added + added[:40]:                 {watch.Added}, // as a connection that broke
		added + `5` + added:                {watch.Added, watch.Error},
		added + `{"type":"ADDED"}` + added: {watch.Added, watch.Error},
		``:                                 nil,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		}))
		r, err := NewReader(&rest.Config{Host: server.URL}, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		events, err := r.watchView(t.Context(), View{GVR: schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "things"}}, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []watch.EventType
		for event := range events.ResultChan() {
			got = append(got, event.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is read as %v, want %v", body, got, want)
		}
		server.Close()
	}
}
