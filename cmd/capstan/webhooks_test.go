package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestWebhooks_end_some_time_after_they_say_so(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	d := &drained{}
	later := d.after(ctx, time.Millisecond)
	handler := d.before(http.NotFoundHandler())
	closes := func() bool {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", http.NoBody))
		return answer.Header().Get("Connection") == "close"
	}
	if d.begun.Load() || closes() || later.Err() != nil {
		t.Error("it ends by itself")
	}
	told := errors.New("told to stop")
	stop(told)
	<-later.Done()
	if !d.begun.Load() || !closes() || !errors.Is(context.Cause(later), told) {
		t.Errorf("it has ended without a word: %v", context.Cause(later))
	}
}
