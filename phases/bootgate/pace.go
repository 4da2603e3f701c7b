package bootgate

import "time"

// every bounds how often something of the MachineConfiguration is written.
const every = 2 * time.Second

// pace says when something may be written next. Lost, it may be written once more.
type pace struct{ next time.Time }

// wait is how long that is off, zero for not at all; it is longer than it may be only if the clock was set back.
func (p *pace) wait(now time.Time) time.Duration {
	if wait := p.next.Sub(now); wait > 0 && wait <= every {
		return wait
	}
	return 0
}

func (p *pace) wrote(now time.Time) { p.next = now.Add(every) }

// sooner is the shorter of two waits, of which zero is none.
func sooner(one, other time.Duration) time.Duration {
	if one == 0 || other > 0 && other < one {
		return other
	}
	return one
}
