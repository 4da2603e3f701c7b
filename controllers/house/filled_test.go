package house

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// listing is a cache of kinds, each with a channel that is closed once it was listed.
type listing struct {
	cache.Cache
	of map[string]chan struct{}
}

func (l listing) GetInformer(_ context.Context, kind client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	listed, known := l.of[fmt.Sprintf("%T", kind)]
	if !known {
		return nil, errors.New("unknown")
	}
	return oneList{listed: listed}, nil
}

type oneList struct {
	cache.Informer
	listed chan struct{}
}

func (l oneList) HasSyncedChecker() toolscache.DoneChecker { return l }

func (l oneList) Name() string { return "" }

func (l oneList) Done() <-chan struct{} { return l.listed }

func TestFilled_waits_for_the_kinds_that_it_is_given_and_for_no_others(t *testing.T) {
	maps, nodes := make(chan struct{}), make(chan struct{})
	filled := Filled(listing{of: map[string]chan struct{}{"*v1.ConfigMap": maps, "*v1.Node": nodes, "*v1.Secret": make(chan struct{})}})
	ended := make(chan error)
	go func() { ended <- filled(t.Context(), &corev1.ConfigMap{}, &corev1.Node{}) }()
	close(nodes)
	select {
	case err := <-ended:
		t.Fatalf("a kind was not listed, and it returns %v", err)
	default:
	}
	close(maps)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if err := filled(ctx, &corev1.Secret{}); err == nil || !strings.Contains(err.Error(), "waiting until *v1.Secret objects are listed: enough") {
		t.Errorf("the context has ended, and it says %v", err)
	}
	if err := filled(t.Context(), &corev1.Pod{}); err == nil || !strings.Contains(err.Error(), "watching *v1.Pod: unknown") {
		t.Errorf("of a kind that is not cached it says %v", err)
	}
}
