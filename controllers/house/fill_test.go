package house

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusing is a cache whose API server does not answer so many times; errors without end where that is negative.
type refusing struct {
	cache.Cache
	times int
	err   error
	asked int
}

func (r *refusing) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	r.asked++
	if r.times < 0 || r.asked <= r.times {
		return nil, r.err
	}
	return oneList{}, nil
}

var secrets = Kinds{{Version: corev1.SchemeGroupVersion, Object: &corev1.Secret{}, List: &corev1.SecretList{}, Namespaced: true}}

func TestFill_asks_again_where_the_API_server_does_not_say_what_it_serves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &refusing{times: 5, err: errors.New("the server is busy")}
		if err := secrets.Fill(t.Context(), in); err != nil || in.asked != 6 {
			t.Errorf("it was asked %d times: %v", in.asked, err)
		}
	})
}

func TestFill_gives_up_in_time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, in := time.Now(), &refusing{times: -1, err: errors.New("the server is busy")}
		err := secrets.Fill(t.Context(), in)
		if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), "watching Secret: the server is busy") || took != fillMost {
			t.Errorf("after %s it says %v", took, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := secrets.Fill(ctx, in); err == nil {
			t.Error("it goes on though its context has ended")
		}
	})
}

func TestFill_tells_a_kind_that_is_not_served_at_once(t *testing.T) {
	in := &refusing{times: -1, err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Secret"}}}
	if err := secrets.Fill(t.Context(), in); !meta.IsNoMatchError(err) || in.asked != 1 {
		t.Errorf("it was asked %d times: %v", in.asked, err)
	}
}
