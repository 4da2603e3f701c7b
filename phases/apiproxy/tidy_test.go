package apiproxy

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestTidy_gives_memory_back_once_after_each_time_of_work(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	ticks, counts := make(chan time.Time), []int64{0, 0, 3, 7, 7, 7, 7, 8, 8, 8}
	at := -1
	var freed []int
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tidy(ctx, ticks, func() int64 { at++; return counts[at] }, func() { freed = append(freed, at) })
	}()
	for range counts {
		ticks <- time.Time{}
	}
	end()
	<-ended
	if !slices.Equal(freed, []int{4, 8}) {
		t.Errorf("it was done at %v", freed)
	}
}
