package events

import (
	"fmt"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// gatherFor is how long moves are gathered, so that one Event tells a passage
// through several states: an installation without trouble is one Event, whatever
// its length. A state that the machine rests in is told at once.
const gatherFor = 10 * time.Second

const (
	// maxPath is how much of an Event's text the moves may take from a long line, in bytes.
	maxPath = 400
	// maxMoves bounds the moves that are gathered; the oldest go first.
	maxMoves = 32
)

// Moves are those that an instance has made and that no Event tells yet. If they
// are lost, as with the process, the states stay told by what comes after them.
type Moves struct{ made []machine.Transition }

// Add takes in a move.
func (m *Moves) Add(made machine.Transition) {
	m.made = append(m.made, made)
	if extra := len(m.made) - maxMoves; extra > 0 {
		m.made = m.made[extra:]
	}
}

// Take returns the moves to be told now. While there are none, it returns after
// how long to ask again, zero for not before the next move.
func (m *Moves) Take(rests bool, now time.Time) (made []machine.Transition, again time.Duration) {
	if len(m.made) == 0 {
		return nil, 0
	}
	if wait := min(m.made[0].At.Add(gatherFor).Sub(now), gatherFor); wait > 0 && !rests {
		return nil, wait
	}
	made, m.made = m.made, nil
	return made, 0
}

// Moved is the Event of moves, at least one, with the line that says why the
// machine is not done.
func Moved(line string, made []machine.Transition) Event {
	last := made[len(made)-1]
	return Event{Key: pathOf(made, true), Reason: string(last.To), Action: string(last.Event), Text: passage(line, made)}
}

// passage is the line and every move that led there. When there is no room for
// the moves' causes they go before a move does.
func passage(line string, made []machine.Transition) string {
	room := max(maxPath, machine.MaxMessage-len(line)-len(" []"))
	path := pathOf(made, true)
	if len(path) > room {
		path = machine.Shorten(pathOf(made, false), room)
	}
	return machine.Shorten(line, machine.MaxMessage-len(path)-len(" []")) + " [" + path + "]"
}

// pathOf is every move, with its cause or without; times are left out, so that the same way taken again is the same Event.
func pathOf(made []machine.Transition, causes bool) string {
	var b strings.Builder
	for i, t := range made {
		if i == 0 {
			b.WriteString(string(t.From))
		}
		fmt.Fprintf(&b, " --%s--> %s", t.Event, t.To)
		if causes && t.Cause != "" {
			fmt.Fprintf(&b, " (%s)", t.Cause)
		}
	}
	return b.String()
}
