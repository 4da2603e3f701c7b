package see

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

func TestEnvelopes_take_nothing_but_JSON(t *testing.T) {
	for text, is := range map[string]bool{
		`{"type":"ADDED","object":{"kind":"Thing"}}`: true,
		`{"type":"ADDED","object":{"kind":"Thing"`:   false,
		`{"type":"ADDED","object":{"kind":Thing}}`:   false,
		`{"object":{"kind":"Thing"}} and more`:       false,
		``:                                           false,
	} {
		event := &metav1.WatchEvent{}
		_, _, err := envelopes{}.Decode([]byte(text), nil, event)
		if is != (err == nil) || is && (event.Type != "ADDED" || string(event.Object.Raw) != `{"kind":"Thing"}`) {
			t.Errorf("%q is read as %s %s: %v", text, event.Type, event.Object.Raw, err)
		}
	}
}
