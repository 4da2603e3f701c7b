package house

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/capstan-capi/capstan/machine"
)

func version(of, data string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: of}, Data: map[string]string{"a": data}}
}

func TestChanged_lets_through_what_differs_in_what_is_read(t *testing.T) {
	lets := Changed(func(c *corev1.ConfigMap) any { return c.Data })
	for name, row := range map[string]struct {
		e    event.UpdateEvent
		want bool
	}{
		"another version of the same": {event.UpdateEvent{ObjectOld: version("1", "x"), ObjectNew: version("2", "x")}, false},
		"other data":                  {event.UpdateEvent{ObjectOld: version("1", "x"), ObjectNew: version("2", "y")}, true},
		"of another kind":             {event.UpdateEvent{ObjectOld: version("1", "x"), ObjectNew: &corev1.Secret{}}, true},
	} {
		if got := lets.Update(row.e); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !lets.Create(event.CreateEvent{Object: version("1", "x")}) || !lets.Delete(event.DeleteEvent{Object: version("1", "x")}) {
		t.Error("one that comes or goes is not let through")
	}
}

func TestOthers_lets_through_all_but_own_writes(t *testing.T) {
	lets := Others(func(key machine.Key, version string) bool { return key == "ns/a" && version == "2" })
	for name, row := range map[string]struct {
		before, now string
		want        bool
	}{"an own write": {"1", "2", false}, "somebody else's": {"2", "3", true}, "the same once more": {"2", "2", true}} {
		if got := lets.Update(event.UpdateEvent{ObjectOld: version(row.before, ""), ObjectNew: version(row.now, "")}); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
