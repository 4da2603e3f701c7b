package bootimage

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/bootboard"
)

// calm is how long it takes until targets are told of another reason why the gate is closed. No reason lets a target move, and a gate
// on its way has several of them, one soon after the other: to tell each would cost all targets a pass just before they have work.
const calm = 200 * time.Millisecond

// heard is called with each verdict that is another, and has the targets woken: at once if boot images may be moved, else if the
// verdict has lasted for a while.
func heard(board *bootboard.Board, by clock.Clock, wake func()) func() {
	return func() {
		now := board.Verdict()
		if now.Open {
			wake()
			return
		}
		lasted := by.NewTimer(calm)
		go func() {
			<-lasted.C()
			if then := board.Verdict(); then.Known == now.Known && then.News == now.News {
				wake()
			}
		}()
	}
}
