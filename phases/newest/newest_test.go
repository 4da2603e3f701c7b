package newest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestWrittenFirst(t *testing.T) {
	object := func(uid, version string) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version}
	}
	for name, row := range map[string]struct {
		written, cached *metav1.ObjectMeta
		age             time.Duration
		want            bool
	}{
		"the cache lags behind":            {object("a", "10"), object("a", "9"), time.Second, true},
		"the cache shows what was sent":    {object("a", "10"), object("a", "10"), time.Second, false},
		"somebody has written since":       {object("a", "10"), object("a", "11"), time.Second, false},
		"the object was created again":     {object("a", "10"), object("b", "9"), time.Second, false},
		"a minute was time enough":         {object("a", "10"), object("a", "9"), Trust, false},
		"the clock was set back":           {object("a", "10"), object("a", "9"), -time.Second, false},
		"versions that cannot be compared": {object("a", "ten"), object("a", "9"), time.Second, false},
	} {
		if got := WrittenFirst(row.written, row.cached, row.age); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
