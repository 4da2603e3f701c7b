package clusterapi

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

func TestShownHistory_tells_what_there_is_and_that_there_is_nothing(t *testing.T) {
	one := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	for name, row := range map[string]struct {
		shows func(toolscache.ReflectorStore) error
		want  []*corev1.ConfigMap
	}{
		"a list of it":   {func(s toolscache.ReflectorStore) error { return s.Replace([]any{one}, "1") }, []*corev1.ConfigMap{one}},
		"an empty list":  {func(s toolscache.ReflectorStore) error { return s.Replace(nil, "1") }, []*corev1.ConfigMap{nil}},
		"it appears":     {func(s toolscache.ReflectorStore) error { return s.Add(one) }, []*corev1.ConfigMap{one}},
		"it changes":     {func(s toolscache.ReflectorStore) error { return s.Update(one) }, []*corev1.ConfigMap{one}},
		"it is deleted":  {func(s toolscache.ReflectorStore) error { return s.Delete(one) }, []*corev1.ConfigMap{nil}},
		"nothing is new": {func(s toolscache.ReflectorStore) error { return s.Resync() }, nil},
	} {
		var told []*corev1.ConfigMap
		if err := row.shows(shownHistory(func(o *corev1.ConfigMap) { told = append(told, o) })); err != nil || !slices.Equal(told, row.want) {
			t.Errorf("%s: told is %v, %v", name, told, err)
		}
	}
}
