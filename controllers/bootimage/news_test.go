package bootimage

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/bootboard"
)

func TestHeard_targets_wake_at_once_for_an_open_gate_and_later_for_a_closed_one(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var woken atomic.Int32
		board := bootboard.New()
		board.OnNews(heard(board, clock.RealClock{}, func() { woken.Add(1) }))
		after := func(what string, wait time.Duration, want int32) {
			t.Helper()
			<-time.After(wait)
			synctest.Wait()
			if got := woken.Load(); got != want {
				t.Errorf("%s: woken %d times, not %d", what, got, want)
			}
		}
		board.Post(bootboard.Verdict{Known: true, Why: "on its way", News: "a"})
		after("a gate that is closed", calm/2, 0)
		after("a gate that has been closed for a while", calm, 1)
		board.Post(bootboard.Verdict{Known: true, Why: "not vouched for", News: "b"})
		board.Post(bootboard.Verdict{Known: true, Open: true, News: "c"})
		after("a gate that opens after another reason", 0, 2)
		after("the reason before is not told any more", 2*calm, 2)
		board.Post(bootboard.Verdict{Known: true, Why: "on its way", News: "d"})
		board.Post(bootboard.Verdict{Why: "cannot be looked at", News: "d"})
		after("two reasons are told once, the newest", 2*calm, 3)
	})
}
