package engine

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWatched_tells_that_a_kind_is_gone_also_when_the_watch_had_failed_before(t *testing.T) {
	w, told := watching()
	ctx, cancel := context.WithCancel(t.Context())
	w.cancel = cancel
	_ = w.requestDone(ctx, errors.New("connection refused"))
	<-w.e.kicked
	*told = 0
	_ = w.requestDone(ctx, apierrors.NewNotFound(schema.GroupResource{Resource: "gadgets"}, ""))
	if !w.gone || *told == 0 || len(w.e.kicked) == 0 {
		t.Errorf("gone %v, told %d times, kicked %d times: nobody starts another watch", w.gone, *told, len(w.e.kicked))
	}
}
