package wire

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// sends is an API server whose watches send a text; without one, every request is forbidden.
func sends(t *testing.T, text string) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if text == "" {
			w.WriteHeader(http.StatusForbidden)
			text = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"not you","reason":"Forbidden","code":403}`
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func watched(t *testing.T, cfg *rest.Config, of func() runtime.Object) (watch.Interface, error) {
	t.Helper()
	client, err := Client(cfg, http.DefaultClient, Objects{New: of})
	if err != nil {
		t.Fatal(err)
	}
	return client.Get().AbsPath(Path(configMaps, "n")...).SpecificallyVersionedParams(&metav1.ListOptions{Watch: true}, MetaParameters, MetaVersion).Watch(t.Context())
}

// all are the events of a watch until it ends.
func all(w watch.Interface) (events []watch.Event) {
	for event := range w.ResultChan() {
		events = append(events, event)
	}
	return events
}

const stream = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"l":"v"},"managedFields":[{"manager":"m","operation":"Update","fieldsV1":{"f:data":{}}}]},"data":{"key":"value \u003c\n","object":"{\"type\":\"DELETED\"}"}}}
{"object":{"kind":"ConfigMap","metadata":{"name":"b"},"apiVersion":"v1","Data":{"not":"this"}},"type":"MODIFIED"}
{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}
{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}
`

func TestWatch_says_the_same_as_that_of_an_ordinary_client(t *testing.T) {
	ordinary := map[string]func(*rest.Config) (watch.Interface, error){
		"typed": func(cfg *rest.Config) (watch.Interface, error) {
			return kubernetes.NewForConfigOrDie(cfg).CoreV1().ConfigMaps("n").Watch(t.Context(), metav1.ListOptions{})
		},
		"untyped": func(cfg *rest.Config) (watch.Interface, error) {
			return dynamic.NewForConfigOrDie(cfg).Resource(configMaps).Namespace("n").Watch(t.Context(), metav1.ListOptions{})
		},
	}
	for name, of := range map[string]func() runtime.Object{
		"typed":   func() runtime.Object { return &corev1.ConfigMap{} },
		"untyped": func() runtime.Object { return &unstructured.Unstructured{} },
	} {
		t.Run(name, func(t *testing.T) {
			ours, err := watched(t, sends(t, stream), of)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := ordinary[name](sends(t, stream))
			if err != nil {
				t.Fatal(err)
			}
			got, want := all(ours), all(theirs)
			if len(want) != 4 || !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if len(got) == 4 && !apierrors.IsResourceExpired(apierrors.FromObject(got[3].Object)) {
				t.Errorf("the error is %+v", got[3].Object)
			}
		})
	}
}

func TestWatch_ends_at_what_is_no_event(t *testing.T) {
	for _, text := range []string{"rubbish", `{"type":"ADDED","object":{"metadata":{"name":7}}}`, `{"type":"ADDED"}`, `{"type":"ADDED","object":{"data":`} {
		w, err := watched(t, sends(t, text), func() runtime.Object { return &corev1.ConfigMap{} })
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range all(w) {
			if event.Type != watch.Error {
				t.Errorf("%s is %+v", text, event)
			}
		}
	}
}

func TestWatch_that_is_refused_says_why(t *testing.T) {
	_, err := watched(t, sends(t, ""), func() runtime.Object { return &corev1.ConfigMap{} })
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "not you") {
		t.Errorf("got %v", err)
	}
}
