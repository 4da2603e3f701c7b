package compatibility

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DisarmedAnnotation is what says of a webhook configuration until when it is not armed: capstan disarm writes it. One proof
// of the checker is that of one API server, and another one may not reach it.
const DisarmedAnnotation = "capstan.openshift.io/disarmed-until"

// longestHold is how far away the end may be, a day and some room for clocks that differ: what is further away counts for
// nothing.
const longestHold = 25 * time.Hour

// checker is what arming depends on, as of one look.
type checker struct {
	// ready says that somebody answers the webhooks, disarmed until when arming is held off; zero for not.
	ready    bool
	disarmed time.Time
}

func (k checker) arms() bool { return k.ready && k.disarmed.IsZero() }

// again is after how long to look whether what is not armed can be; zero if an event tells.
func (p *Phases) again(k checker) time.Duration {
	switch {
	case !k.ready:
		return 0
	case !k.disarmed.IsZero():
		return k.disarmed.Sub(p.Now())
	}
	return p.probe.next()
}

// disarmed is until when configurations say that nothing is armed. That of requirements says it for all, also for one
// that was made since.
func (p *Phases) disarmed(ctx context.Context, those ...*configuration) (until time.Time, err error) {
	own := requirementsConfigured()
	if err := p.look(ctx, own); err != nil {
		return until, err
	}
	for _, c := range append(those, own) {
		if end := p.held(c.live); end.After(until) {
			until = end
		}
	}
	return until, nil
}

// held is until when a live configuration has arming held off, zero for not.
func (p *Phases) held(live client.Object) time.Time {
	if live == nil || !Ours(live) {
		return time.Time{}
	}
	return HeldUntil(live.GetAnnotations(), p.Now())
}

// HeldUntil is until when annotations have arming held off, as of now; zero for not.
func HeldUntil(annotations map[string]string, now time.Time) time.Time {
	until, err := time.Parse(time.RFC3339, annotations[DisarmedAnnotation])
	if left := until.Sub(now); err != nil || left <= 0 || left > longestHold {
		return time.Time{}
	}
	return until
}
