package parallel

import (
	"sync"
	"testing"
)

func TestEach_has_so_many_under_way_and_no_more(t *testing.T) {
	const most, all = 8, 100
	var mu sync.Mutex
	var running, highest, done int
	var once sync.Once
	full := make(chan struct{}) // closed when so many are under way, for which the first ones wait
	Each(most, make([]int, all), func(int, int) {
		mu.Lock()
		running++
		highest = max(highest, running)
		if running == most {
			once.Do(func() { close(full) })
		}
		mu.Unlock()
		<-full
		mu.Lock()
		running--
		done++
		mu.Unlock()
	})
	if highest != most || done != all {
		t.Errorf("%d were under way at a time, and %d were done", highest, done)
	}
}
