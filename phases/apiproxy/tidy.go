package apiproxy

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"
)

// tidyAfter is for how long nobody may have asked anything before the runtime is told to give memory back: what a burst of
// requests, or the opening of many watches, has left behind would stay for minutes, beside a component that has little.
const tidyAfter = 2 * time.Second

// tidy calls free once for each time of work that is over: asked counts requests that have begun or ended.
func tidy(ctx context.Context, ticks <-chan time.Time, asked func() int64, free func()) {
	var seen, freed int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		now := asked()
		if now == seen && now != freed {
			free()
			freed = now
		}
		seen = now
	}
}

// giveBack collects twice: what is kept to be used again is let go of by the second collection only.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
}
