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
		want            bool // the written one counts
		ask             bool // nobody knows which
	}{
		"the cache lags behind":             {object("a", "10"), object("a", "9"), time.Second, true, false},
		"the cache shows what was sent":     {object("a", "10"), object("a", "10"), time.Second, false, false},
		"somebody has written since":        {object("a", "10"), object("a", "11"), time.Second, false, false},
		"the object was created again":      {object("a", "10"), object("b", "9"), time.Second, false, false},
		"the cache lags for a minute":       {object("a", "10"), object("a", "9"), Trust, false, true},
		"the cache shows it after a minute": {object("a", "10"), object("a", "10"), Trust, false, false},
		"another one after a minute":        {object("a", "10"), object("b", "9"), Trust, false, false},
		"the clock was set back":            {object("a", "10"), object("a", "9"), -time.Second, false, true},
		"versions that cannot be compared":  {object("a", "ten"), object("a", "9"), time.Second, false, false},
	} {
		if got := WrittenFirst(row.written, row.cached, row.age); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
		if got := Unsettled(row.written, row.cached, row.age); got != row.ask {
			t.Errorf("%s: the API server is to be asked: %v", name, got)
		}
	}
}
