package house

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestBusy_kinds_are_watched_directly_where_they_are_watched_as_a_whole(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"type":"ADDED","object":{"kind":"MachineSet","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{"name":"a"}}}`))
	}))
	t.Cleanup(server.Close)
	sets := &unstructured.Unstructured{}
	sets.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	sets.SetKind("MachineSet")
	in := func(keys ...client.ObjectKey) []client.ObjectKey { return keys }
	for name, row := range map[string]struct {
		kind Kind
		path string
	}{
		"untyped, in a namespace": {Kind{Version: sets.GroupVersionKind().GroupVersion(), Object: sets, Namespaced: true, Busy: true, Only: in(client.ObjectKey{Namespace: "n"})}, "/apis/cluster.x-k8s.io/v1beta2/namespaces/n/machinesets?resourceVersion=7&watch=true"},
		"typed, without one":      {Kind{Version: rbacv1.SchemeGroupVersion, Object: &rbacv1.ClusterRole{}, Busy: true}, "/apis/rbac.authorization.k8s.io/v1/clusterroles?resourceVersion=7&watch=true"},
		"not busy":                {Kind{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, Namespaced: true}, ""},
		"in two namespaces":       {Kind{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, Namespaced: true, Busy: true, Only: in(client.ObjectKey{Namespace: "n"}, client.ObjectKey{Namespace: "m"})}, ""},
		"one by one":              {Kind{Version: corev1.SchemeGroupVersion, Object: &corev1.ConfigMap{}, Namespaced: true, Busy: true, Only: in(client.ObjectKey{Namespace: "n", Name: "a"})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked = ""
			lists := row.kind.directly(&toolscache.ListWatch{}, &rest.Config{Host: server.URL}, logr.Discard())
			d, is := lists.(*direct)
			if !is {
				if row.path != "" {
					t.Errorf("it is a %T", lists)
				}
				return
			}
			events, err := d.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
			if err != nil {
				t.Fatal(err)
			}
			event := <-events.ResultChan()
			o, is := event.Object.(client.Object)
			if asked != row.path || event.Type != watch.Added || !is || o.GetName() != "a" || !row.kind.is(o) {
				t.Errorf("it asks for %s and gets %+v", asked, event)
			}
			for range events.ResultChan() {
				t.Error("there is more")
			}
		})
	}
}
